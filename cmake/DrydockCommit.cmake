# Writes the commit that is built to build/*/commit, where `--version` reads it. A file of its own, so that a commit links no
# executable again. Outside a git repository there is none.
set(commit_file ${CMAKE_BINARY_DIR}/commit)
find_package(Git QUIET)
set(head_log "")
if(GIT_FOUND)
  execute_process(COMMAND ${GIT_EXECUTABLE} -C ${CMAKE_SOURCE_DIR} rev-parse --path-format=absolute --git-path logs/HEAD
    OUTPUT_VARIABLE head_log OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(head_log AND EXISTS ${head_log})
  add_custom_command(OUTPUT ${commit_file}
    COMMAND ${GIT_EXECUTABLE} -C ${CMAKE_SOURCE_DIR} rev-parse --short=12 HEAD > ${commit_file}
    DEPENDS ${head_log} VERBATIM)  # git adds a line to it at each commit and checkout
else()
  file(WRITE ${commit_file} "")
endif()
add_custom_target(drydock_commit ALL DEPENDS ${commit_file})
