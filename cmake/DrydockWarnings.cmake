# Warnings for our own code. Foreign headers are included as SYSTEM, so they give no warnings.
add_library(drydock_options INTERFACE)
target_compile_options(drydock_options INTERFACE -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Wno-missing-field-initializers)
target_include_directories(drydock_options INTERFACE ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR})
option(DRYDOCK_WERROR "Treat warnings in our own code as errors" OFF)
if(DRYDOCK_WERROR)
  target_compile_options(drydock_options INTERFACE -Werror)
endif()
