# Run at every build (cmake -P): writes OUTPUT with the commit of SOURCE, touching it only on a change.
execute_process(COMMAND git rev-parse HEAD WORKING_DIRECTORY ${SOURCE}
  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
execute_process(COMMAND git status --porcelain --untracked-files=no WORKING_DIRECTORY ${SOURCE}
  OUTPUT_VARIABLE changes OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(changes)
  set(dirty true)
else()
  set(dirty false)
endif()
set(text "#pragma once\n#define TRILOBITE_GIT_COMMIT \"${commit}\"\n#define TRILOBITE_GIT_DIRTY ${dirty}\n")
set(old "")
if(EXISTS ${OUTPUT})
  file(READ ${OUTPUT} old)
endif()
if(NOT old STREQUAL text)
  file(WRITE ${OUTPUT} "${text}")
endif()
