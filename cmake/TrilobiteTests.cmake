# trilobite_add_tests(<module> <library>... SOURCES <x_test.cpp>...): one test executable per module.
find_package(GTest REQUIRED)
include(GoogleTest)

function(trilobite_add_tests module)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBRARIES" ${ARGN})
  set(target ${module}_tests)
  add_executable(${target} ${ARG_SOURCES})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(${target} PRIVATE trilobite_flags ${ARG_LIBRARIES} fmt::fmt nlohmann_json::nlohmann_json
    GTest::gtest GTest::gmock GTest::gtest_main)
  # Where tests look for real data unless the environment variable TRILOBITE_TEST_DATA names a folder.
  target_compile_definitions(${target} PRIVATE TRILOBITE_TEST_DATA_FOLDER="${PROJECT_SOURCE_DIR}/../shared/data")
  # Idle OpenMP threads (oneDNN's) spin by default; with more threads than cores, against the others.
  gtest_discover_tests(${target} TEST_PREFIX "${module}." DISCOVERY_TIMEOUT 60
    PROPERTIES TIMEOUT 300 ENVIRONMENT OMP_WAIT_POLICY=passive)
endfunction()
