# The libraries, and what all our targets share. Folders under src/ add their sources to these.
add_library(trilobite_flags INTERFACE)
target_compile_features(trilobite_flags INTERFACE cxx_std_23)
# Contraction (a*b+c -> fma) changes results between instruction sets; kernels ask for fma by name.
target_compile_options(trilobite_flags INTERFACE -ffp-contract=off)
if(TRILOBITE_DEV)
  target_compile_options(trilobite_flags INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Werror
    # Designated initialisers leave the rest at its default on purpose.
    -Wno-missing-field-initializers
    # GCC 12 warns falsely inside its own std::string operator+ (its bug 105651).
    $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
    # clang does not take libstdc++'s std::stable_sort for a system matter: it calls a function C++17 deprecated.
    $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations>)
endif()

function(trilobite_add_library name)
  add_library(${name} STATIC)
  add_library(trilobite::${ARGV1} ALIAS ${name})
  set_target_properties(${name} PROPERTIES EXPORT_NAME ${ARGV1})
  target_compile_features(${name} PUBLIC cxx_std_23)
  target_link_libraries(${name} PRIVATE $<BUILD_INTERFACE:trilobite_flags>)
  target_include_directories(${name}
    PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
    PRIVATE ${PROJECT_SOURCE_DIR}/src)
endfunction()

trilobite_add_library(trilobite_base base)       # src/base
trilobite_add_library(trilobite trilobite)       # the engine
trilobite_add_library(trilobite_lab lab)         # the lab
target_link_libraries(trilobite PUBLIC trilobite_base)
target_link_libraries(trilobite_lab PUBLIC trilobite_base)
target_link_libraries(trilobite_base PUBLIC Threads::Threads
  PRIVATE ${CMAKE_DL_LIBS} fmt::fmt spdlog::spdlog nlohmann_json::nlohmann_json)
target_link_libraries(trilobite PRIVATE fmt::fmt hwy::hwy)
target_link_libraries(trilobite_lab PRIVATE fmt::fmt nlohmann_json::nlohmann_json hwy::hwy Boost::headers
  SQLite::SQLite3)
# Of the libraries that are loaded when they are needed (base/lazy_library.hpp) only the headers are used here.
target_include_directories(trilobite_lab SYSTEM PRIVATE ${PostgreSQL_INCLUDE_DIRS} ${CURL_INCLUDE_DIRS})
