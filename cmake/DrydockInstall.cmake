# `cmake --install` and `cpack`: a tree that finds its parts from the folder of its executables (core/base/installation.h), so
# it can be moved. Man pages and completions are made from --help of the built tools.
set(drydock_tools drydock workload-gen simccl compute-sim exec-engine report collective-perf nccl-record drydock-sweep drydock-goodput
  drydock-search)
set(drydock_captures drydock-capture capture_intercept capture_preload hackcuda)
foreach(tool IN LISTS drydock_tools)
  set_target_properties(${tool} PROPERTIES INSTALL_RPATH "$ORIGIN/../lib/drydock")
endforeach()
set_target_properties(drydock-capture PROPERTIES INSTALL_RPATH "$ORIGIN/../lib/drydock")

# All that the package holds. `cmake --build build/release --target package_tools`, then cpack.
add_custom_target(package_tools DEPENDS ${drydock_tools} ${drydock_captures} hackcuda_libraries drydock_commit)

install(TARGETS ${drydock_tools} RUNTIME DESTINATION bin)
# Built on demand, and where nvcc is installed.
install(PROGRAMS ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/gpu-profiler DESTINATION bin OPTIONAL)
install(TARGETS drydock-capture RUNTIME DESTINATION bin)
foreach(folder hackcuda launch)
  install(DIRECTORY ${CMAKE_BINARY_DIR}/lib/${folder} DESTINATION lib/drydock USE_SOURCE_PERMISSIONS)
endforeach()
# What a captured program is built with and reads.
install(DIRECTORY capture/hooks DESTINATION share/drydock/capture PATTERN CMakeLists.txt EXCLUDE PATTERN __pycache__ EXCLUDE)
install(DIRECTORY capture/hackcuda DESTINATION share/drydock/capture FILES_MATCHING PATTERN *.h)
install(DIRECTORY third_party/pytorch DESTINATION share/drydock/third_party)

install(FILES ${DRYDOCK_DEPS_DIR}/nccl/libhacknccl.so DESTINATION lib/drydock)
install(DIRECTORY ${DRYDOCK_DEPS_DIR}/nccl/drop-in DESTINATION lib/drydock USE_SOURCE_PERMISSIONS)
# libnccl.so.2 of drop-in/ is a link to libhacknccl.so in the folder above it: it leads to the same place here.
install(DIRECTORY ${DRYDOCK_DEPS_DIR}/ns3/lib/ DESTINATION lib/drydock FILES_MATCHING PATTERN libns3*.so PATTERN cmake EXCLUDE)

install(DIRECTORY configs DESTINATION share/drydock)
install(FILES ${CMAKE_BINARY_DIR}/commit DESTINATION share/drydock OPTIONAL)
install(DIRECTORY docs/ DESTINATION share/doc/drydock)
install(FILES README.md CHANGELOG.md DESTINATION share/doc/drydock)
install(FILES LICENSE DESTINATION share/doc/drydock RENAME copyright)

find_package(Python3 REQUIRED COMPONENTS Interpreter)
install(CODE "
  set(prefix \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}\")
  foreach(command
      \"man_pages.py;${CMAKE_RUNTIME_OUTPUT_DIRECTORY};${PROJECT_VERSION};\${prefix}/share/man/man1\"
      \"completions.py;${CMAKE_RUNTIME_OUTPUT_DIRECTORY};\${prefix}\")
    list(POP_FRONT command script)
    message(STATUS \"Making: \${script}\")
    execute_process(COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_SOURCE_DIR}/scripts/\${script} \${command}
                    COMMAND_ERROR_IS_FATAL ANY)
  endforeach()")

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME drydock)
set(CPACK_PACKAGE_CONTACT "the maintainers of Drydock")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${DRYDOCK_DEPS_DIR}/ns3/lib ${DRYDOCK_DEPS_DIR}/nccl/drop-in/lib)
# mpirun for --processes, a compiler and Python for captured programs.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "openmpi-bin")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "g++, python3, python3-venv")
include(CPack)
