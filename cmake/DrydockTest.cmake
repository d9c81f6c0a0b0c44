# drydock_test(NAME sources... LIBS libs... [LABELS labels...])
# One GoogleTest executable, registered with CTest. Without a label it belongs to `fast`.
find_package(GTest REQUIRED)

# Parses GoogleTest's headers once: they are a third of the time of compiling a test.
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/gtest_headers.cc CONTENT "")
add_library(drydock_gtest_headers OBJECT ${CMAKE_BINARY_DIR}/gtest_headers.cc)
target_link_libraries(drydock_gtest_headers PRIVATE drydock_options GTest::gtest GTest::gmock)
target_precompile_headers(drydock_gtest_headers PRIVATE <gmock/gmock.h> <gtest/gtest.h>)

function(drydock_test name)
  cmake_parse_arguments(ARG "" "" "LIBS;LABELS" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  target_link_libraries(${name} PRIVATE drydock_options ${ARG_LIBS} GTest::gtest GTest::gmock GTest::gtest_main)
  target_precompile_headers(${name} REUSE_FROM drydock_gtest_headers)
  add_test(NAME ${name} COMMAND ${name} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  if(NOT ARG_LABELS)
    set(ARG_LABELS fast)
  endif()
  set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT 300)
endfunction()

# drydock_tests(PREFIX LIBS libs... UNITS units...)
# One test PREFIXunit_test for each unit, from unit_test.cc.
function(drydock_tests prefix)
  cmake_parse_arguments(ARG "" "" "LIBS;UNITS" ${ARGN})
  foreach(unit IN LISTS ARG_UNITS)
    drydock_test(${prefix}${unit}_test ${unit}_test.cc LIBS ${ARG_LIBS})
  endforeach()
endfunction()

# drydock_rooms(folders...)
# Adds each room of this folder. A room may include only rooms before it.
function(drydock_rooms)
  foreach(room IN LISTS ARGN)
    add_subdirectory(${room})
  endforeach()
endfunction()
