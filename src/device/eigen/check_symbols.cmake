# Fails if the object defines a symbol that the linker may share with other objects (weak or unique)
# and that does not carry the renamed namespace: compiled with AVX, such a function could be the one
# that the rest of the program calls, on machines without AVX too.
execute_process(COMMAND ${NM} ${OBJECT} OUTPUT_VARIABLE symbols RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${NM} ${OBJECT} failed")
endif()
string(REGEX MATCHALL "[^\n]+ [WVu] [^\n]+" shared "${symbols}")
list(FILTER shared EXCLUDE REGEX "${NAMESPACE}")
# A pointer to the exception handler of the C++ library, no code.
list(FILTER shared EXCLUDE REGEX "DW\\.ref\\.__gxx_personality_v0")
string(REGEX MATCH "${NAMESPACE}" any "${symbols}")
if(NOT any)
  message(FATAL_ERROR "${OBJECT} defines nothing in ${NAMESPACE}: is it still renamed?")
endif()
if(shared)
  list(JOIN shared "\n" lines)
  message(FATAL_ERROR "${OBJECT} shares with the rest of the program:\n${lines}")
endif()
