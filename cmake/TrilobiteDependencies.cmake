# Every dependency comes from the system's package manager; nothing is downloaded here.
# Required ones stop the configuration; the optional devices are left out with a message and
# `trilobite devices` tells the user what is missing.
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(Boost REQUIRED)
find_package(hwy REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(CURL REQUIRED)
find_package(PostgreSQL REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(librsvg REQUIRED librsvg-2.0)

# Device `onednn`. Debian's dnnl-config.cmake insists on OpenCL headers that we do not need.
find_library(TRILOBITE_DNNL_LIBRARY dnnl)
find_path(TRILOBITE_DNNL_INCLUDE_DIR dnnl.hpp)
mark_as_advanced(TRILOBITE_DNNL_LIBRARY TRILOBITE_DNNL_INCLUDE_DIR)
find_package(Eigen3 QUIET)   # device `eigen`
# Device `openblas` loads its library at run time, so that it can choose the core type first.
