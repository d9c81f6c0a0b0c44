// record_calls FOLDER: what logging a call of CUDA costs the program that is captured. Prints a
// JSON object: nanoseconds of CPU time a call, by kind of call. Writes the log into FOLDER.
#include <fmt/format.h>
#include <time.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "capture/hackcuda/device/hooks.h"
#include "capture/log/entry.h"

// Of the stand-ins.
extern "C" {
struct Dim3 {
  unsigned x, y, z;
};
void __cudaRegisterFunction(void**, const char*, char*, const char*, int, void*, void*, void*,
                            void*, int*);
int cudaLaunchKernel(const void*, Dim3, Dim3, void**, size_t, void*);
int cudaStreamCreate(void**);
int cudaEventCreate(void**);
int cudaEventRecord(void*, const void*);
int cudaStreamWaitEvent(const void*, const void*, unsigned);
int cudaMalloc(void**, size_t);
int cudaMemcpyAsync(void*, const void*, size_t, int, void*);
int cublasCreate_v2(void**);
int cublasGemmEx(void*, int, int, int, int, int, const void*, const void*, int, int, const void*,
                 int, int, const void*, void*, int, int, int, int);
extern const int hackcuda_version __attribute__((visibility("hidden")));
const int hackcuda_version = 12080;
}

namespace drydock {
namespace {

constexpr int kCalls = 500000;

template <typename Call>
double NsPerCall(const Call& call) {
  for (int i = 0; i < 1000; ++i) call(i);
  timespec begin, end;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
  for (int i = 0; i < kCalls; ++i) call(i);
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
  return (static_cast<double>(end.tv_sec - begin.tv_sec) * 1e9 +
          static_cast<double>(end.tv_nsec - begin.tv_nsec)) /
         kCalls;
}

bool WriteProcess(const std::string& folder) {
  capture::CapturedProcess facts;
  facts.rank = 0;
  facts.gpus = 8;
  facts.compute_capability = 90;
  facts.sms = 132;
  facts.memory_bytes = int64_t{80} << 30;
  FILE* file = fopen((folder + "/process").c_str(), "wb");
  if (file == nullptr) return false;
  const bool is_written = fwrite(&facts, sizeof facts, 1, file) == 1;
  return fclose(file) == 0 && is_written;
}

int Run(const std::string& folder) {
  if (!WriteProcess(folder)) {
    fmt::print(stderr, "record_calls: {} cannot be written\n", folder);
    return 1;
  }
  setenv(capture::kCaptureVariable, folder.c_str(), 1);
  static char kernels[16];
  for (char& kernel : kernels) {
    __cudaRegisterFunction(nullptr, &kernel, nullptr, "a_kernel_with_a_name", 0, nullptr, nullptr,
                           nullptr, nullptr, nullptr);
  }
  void *stream = nullptr, *event = nullptr, *memory = nullptr, *handle = nullptr;
  cudaStreamCreate(&stream);
  cudaEventCreate(&event);
  cudaMalloc(&memory, size_t{1} << 30);
  cublasCreate_v2(&handle);
  // As operators of PyTorch are named, of 200 different shapes.
  std::string operators[200];
  for (int i = 0; i < 200; ++i) {
    operators[i] = fmt::format(
        "aten::addmm(BFloat16[1024],BFloat16[{},1024],BFloat16[1024,1024],1,1) #{}", i, i);
  }
  const double launch = NsPerCall([&](int i) {
    cudaLaunchKernel(&kernels[i % 16], {132, 1, 1}, {256, 1, 1}, nullptr, 0, stream);
  });
  const double product = NsPerCall([&](int) {
    cublasGemmEx(handle, 0, 0, 1024, 1024, 1024, nullptr, nullptr, 14, 1024, nullptr, 14, 1024,
                 nullptr, nullptr, 14, 1024, 68, 0);
  });
  const double record = NsPerCall([&](int) { cudaEventRecord(event, stream); });
  const double wait = NsPerCall([&](int) { cudaStreamWaitEvent(stream, event, 0); });
  const double copy = NsPerCall([&](int) {
    cudaMemcpyAsync(memory, static_cast<char*>(memory) + (1 << 20), 1 << 20, 3, stream);
  });
  const double op = NsPerCall([&](int i) {
    const std::string& name = operators[i % 200];
    hackcuda_begin_op(name.data(), name.size());
    hackcuda_end_op(nullptr, 0);
  });
  fmt::print(
      "{{\"launch\": {:.0f}, \"product\": {:.0f}, \"record_event\": {:.0f}, \"wait_event\": "
      "{:.0f}, "
      "\"copy\": {:.0f}, \"operator\": {:.0f}}}\n",
      launch, product, record, wait, copy, op);
  return 0;
}

}  // namespace
}  // namespace drydock

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: record_calls FOLDER\n");
    return 1;
  }
  return drydock::Run(argv[1]);
}
