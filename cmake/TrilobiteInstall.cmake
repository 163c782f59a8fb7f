# Installs the program, the headers, the libraries and a CMake package that `find_package(trilobite)` finds.
include(CMakePackageConfigHelpers)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/trilobite)
target_sources(trilobite_base PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}/include
  FILES ${PROJECT_SOURCE_DIR}/include/trilobite/error.hpp ${PROJECT_SOURCE_DIR}/include/trilobite/version.hpp)
target_sources(trilobite PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}/include
  FILES ${PROJECT_SOURCE_DIR}/include/trilobite/engine.hpp ${PROJECT_SOURCE_DIR}/include/trilobite/tokenizer.hpp)
target_sources(trilobite_lab PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}/include
  FILES ${PROJECT_SOURCE_DIR}/include/trilobite/bench.hpp)
set_target_properties(trilobite_base trilobite trilobite_lab PROPERTIES VERIFY_INTERFACE_HEADER_SETS ON)

install(TARGETS trilobite_base trilobite trilobite_lab trilobite_bench_main EXPORT trilobite
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} FILE_SET HEADERS)
install(TARGETS trilobite_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(EXPORT trilobite NAMESPACE trilobite:: FILE trilobite-targets.cmake DESTINATION ${package_folder})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/trilobite-config.cmake.in
  ${PROJECT_BINARY_DIR}/trilobite-config.cmake INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/trilobite-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/trilobite-config.cmake ${PROJECT_BINARY_DIR}/trilobite-config-version.cmake
  DESTINATION ${package_folder})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/README.md
  DESTINATION ${CMAKE_INSTALL_DOCDIR})
