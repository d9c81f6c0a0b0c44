// Counts launches of the program's own kernels; a launch does nothing, since its result and its
// time are unknown. A program that nvcc compiles calls the functions with two underscores before
// main and around each <<<>>>.
#include "simccl/hacknccl/cudart/runtime.h"

using drydock::cudart::CheckHost;
using drydock::cudart::Recording;
using drydock::cudart::Return;

namespace {

struct Configuration {
  dim3 grid, block;
  size_t shared_bytes = 0;
  void* stream = nullptr;
};
thread_local Configuration configuration;

cudaError_t Launch() {
  const cudaError_t error = CheckHost();
  if (error == cudaSuccess) Recording().count_kernel();
  return Return(error);
}

}  // namespace

extern "C" {

cudaError_t cudaLaunchKernel(const void*, dim3, dim3, void**, size_t, cudaStream_t) {
  return Launch();
}
cudaError_t cudaLaunchKernelExC(const void*, const void*, void**) { return Launch(); }
cudaError_t cudaLaunchCooperativeKernel(const void*, dim3, dim3, void**, size_t, cudaStream_t) {
  return Launch();
}
cudaError_t cudaFuncSetAttribute(const void*, cudaFuncAttribute, int) { return cudaSuccess; }

void** __cudaRegisterFatBinary(void*) {
  static void* handle = nullptr;
  return &handle;
}
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
void __cudaRegisterFunction(void**, const char*, char*, const char*, int, void*, void*, void*,
                            void*, int*) {}
void __cudaRegisterVar(void**, char*, char*, const char*, int, size_t, int, int) {}
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes, void* stream) {
  configuration = {grid, block, shared_bytes, stream};
  return 0;
}
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared_bytes,
                                       void* stream) {
  *grid = configuration.grid;
  *block = configuration.block;
  *shared_bytes = configuration.shared_bytes;
  *static_cast<void**>(stream) = configuration.stream;
  return cudaSuccess;
}

}  // extern "C"
