# gpu-profiler measures on a real GPU. If a CUDA toolkit (CUDA 12 or later) is installed,
# gpu-profiler is part of the build. Otherwise its test fetches the compiler (third_party/cuda) and
# compiles gpu-profiler.
option(DRYDOCK_FETCHED_CUDA "Compile gpu-profiler with the fetched toolkit even if another is installed" OFF)
set(cuda_sources measure_attention.cu measure_columns.cu measure_device.cu measure_elementwise.cu measure_gemms.cu measure_rows.cu)
set(fetched ${DRYDOCK_DEPS_DIR}/cuda)

if(NOT DRYDOCK_FETCHED_CUDA)
  include(CheckLanguage)
  check_language(CUDA)
  find_package(CUDAToolkit QUIET)
endif()
if(CMAKE_CUDA_COMPILER AND TARGET CUDA::cublasLt AND NOT DRYDOCK_FETCHED_CUDA)
  if(NOT CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES 80)  # and, compiled by the driver, everything after it
  endif()
  enable_language(CUDA)
  foreach(kind STANDARD EXTENSION)  # Debian 12's CMake is older than nvcc's C++20
    if(NOT CMAKE_CUDA20_${kind}_COMPILE_OPTION)
      set(CMAKE_CUDA20_${kind}_COMPILE_OPTION -std=c++20)
    endif()
  endforeach()
  add_executable(gpu-profiler gpu_profiler.cc driver_state.cc ${cuda_sources})
  set_target_properties(gpu-profiler PROPERTIES CUDA_STANDARD 20 LINKER_LANGUAGE CXX)
  target_link_libraries(gpu-profiler PRIVATE CUDA::cudart_static CUDA::cublasLt)
else()
  set(objects "")
  foreach(source IN LISTS cuda_sources)
    set(object ${CMAKE_CURRENT_BINARY_DIR}/${source}.o)
    add_custom_command(OUTPUT ${object}
      COMMAND ${fetched}/bin/nvcc -std=c++20 -O3 -gencode arch=compute_80,code=[sm_80,compute_80] -ccbin ${CMAKE_CXX_COMPILER}
              -I${CMAKE_SOURCE_DIR} -MD -MF ${object}.d -c ${CMAKE_CURRENT_SOURCE_DIR}/${source} -o ${object}
      DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${source} ${fetched}/wheels.txt
      DEPFILE ${object}.d
      COMMENT "nvcc ${source}" VERBATIM)
    list(APPEND objects ${object})
  endforeach()
  add_executable(gpu-profiler EXCLUDE_FROM_ALL gpu_profiler.cc driver_state.cc ${objects})
  target_link_libraries(gpu-profiler PRIVATE ${fetched}/lib/libcudart_static.a ${fetched}/lib/libcublasLt.so Threads::Threads rt)
endif()
target_include_directories(gpu-profiler PRIVATE ${CMAKE_SOURCE_DIR})
target_link_libraries(gpu-profiler PRIVATE drydock_compute CLI11::CLI11 ${CMAKE_DL_LIBS})
