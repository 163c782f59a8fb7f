# Installs the headers, the libraries and a CMake package that `find_package(trilobite)` finds.
