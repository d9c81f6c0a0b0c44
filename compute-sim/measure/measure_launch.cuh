// Shared by the parts of measure_device.cu: buffers on the GPU, a kernel that is ready to launch,
// and access to eight elements at a time.
#ifndef DRYDOCK_COMPUTE_SIM_MEASURE_LAUNCH_CUH_
#define DRYDOCK_COMPUTE_SIM_MEASURE_LAUNCH_CUH_

#include <cublasLt.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "compute-sim/kernel/kernel.h"
#include "compute-sim/measure/cudnn.h"

namespace drydock {

// Fills words with numbers around 1 of either sign, read as fp8, as 16 bits or as 32 bits: no NaN,
// no very large or small number (measure_device.cu).
bool FillWithoutPattern(void* data, size_t words);

class Buffer {
 public:
  Buffer() = default;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { cudaFree(data_); }

  // Fills the buffer without a pattern. Operands that are all equal draw less power than those of a
  // training run, so the clock would be higher.
  bool Allocate(size_t bytes) {
    if (bytes > kMaxBytes || cudaMalloc(&data_, (bytes + 3) / 4 * 4) != cudaSuccess) {
      cudaGetLastError();  // clears the error, so that the next launch does not report it
      return false;
    }
    return FillWithoutPattern(data_, (bytes + 3) / 4);
  }
  void* get() const { return data_; }

 private:
  static constexpr size_t kMaxBytes = size_t{1} << 36;
  void* data_ = nullptr;
};

// A kernel with its operands on the GPU. Launch enqueues it in the default stream.
class Launchable {
 public:
  virtual ~Launchable() = default;
  virtual bool Launch() = 0;
};

// Each returns null, with *error, if memory does not suffice or there is no such kernel.
std::unique_ptr<Launchable> MakeGemm(cublasLtHandle_t handle, const Kernel& kernel,
                                     std::string* error);
// An opened cuDNN and its handle on the GPU.
struct AttentionLibrary {
  std::shared_ptr<const Cudnn> cudnn;
  void* handle = nullptr;
};
std::unique_ptr<Launchable> MakeAttention(const AttentionLibrary& library, const Kernel& kernel,
                                          std::string* error);
// Element-wise kernels.
std::unique_ptr<Launchable> MakeElementwise(const Kernel& kernel, int sms, std::string* error);
// Kernels that reduce, or move, rows or columns.
std::unique_ptr<Launchable> MakeRowwise(const Kernel& kernel, std::string* error);

inline constexpr const char* kNoMemory = "the GPU's memory does not suffice";
inline constexpr const char* kNoKernel = "gpu-profiler has no such kernel";
inline constexpr int kPack = 8;

struct Pack {
  float v[kPack];
};

// 16 B of 16-bit elements, two times 16 B of 32 bits, 8 B of bytes.
__device__ inline Pack Load(const __half* from, int64_t pack) {
  const uint4 raw = reinterpret_cast<const uint4*>(from)[pack];
  const auto* pairs = reinterpret_cast<const __half2*>(&raw);
  Pack p;
  for (int i = 0; i < 4; ++i) {
    const float2 pair = __half22float2(pairs[i]);
    p.v[2 * i] = pair.x, p.v[2 * i + 1] = pair.y;
  }
  return p;
}
__device__ inline Pack Load(const __nv_bfloat16* from, int64_t pack) {
  const uint4 raw = reinterpret_cast<const uint4*>(from)[pack];
  const auto* pairs = reinterpret_cast<const __nv_bfloat162*>(&raw);
  Pack p;
  for (int i = 0; i < 4; ++i) {
    const float2 pair = __bfloat1622float2(pairs[i]);
    p.v[2 * i] = pair.x, p.v[2 * i + 1] = pair.y;
  }
  return p;
}
__device__ inline Pack Load(const float* from, int64_t pack) {
  const float4 a = reinterpret_cast<const float4*>(from)[2 * pack];
  const float4 b = reinterpret_cast<const float4*>(from)[2 * pack + 1];
  return {{a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w}};
}
__device__ inline Pack Load(const uint8_t* from, int64_t pack) {
  const uint2 raw = reinterpret_cast<const uint2*>(from)[pack];
  const auto* bytes = reinterpret_cast<const uint8_t*>(&raw);
  Pack p;
  for (int i = 0; i < kPack; ++i) p.v[i] = static_cast<float>(bytes[i]);
  return p;
}

__device__ inline void Store(__half* to, int64_t pack, const Pack& p) {
  uint4 raw;
  auto* pairs = reinterpret_cast<__half2*>(&raw);
  for (int i = 0; i < 4; ++i) pairs[i] = __floats2half2_rn(p.v[2 * i], p.v[2 * i + 1]);
  reinterpret_cast<uint4*>(to)[pack] = raw;
}
__device__ inline void Store(__nv_bfloat16* to, int64_t pack, const Pack& p) {
  uint4 raw;
  auto* pairs = reinterpret_cast<__nv_bfloat162*>(&raw);
  for (int i = 0; i < 4; ++i) pairs[i] = __floats2bfloat162_rn(p.v[2 * i], p.v[2 * i + 1]);
  reinterpret_cast<uint4*>(to)[pack] = raw;
}
__device__ inline void Store(float* to, int64_t pack, const Pack& p) {
  reinterpret_cast<float4*>(to)[2 * pack] = {p.v[0], p.v[1], p.v[2], p.v[3]};
  reinterpret_cast<float4*>(to)[2 * pack + 1] = {p.v[4], p.v[5], p.v[6], p.v[7]};
}
__device__ inline void Store(uint8_t* to, int64_t pack, const Pack& p) {
  uint2 raw;
  auto* bytes = reinterpret_cast<uint8_t*>(&raw);
  for (int i = 0; i < kPack; ++i) bytes[i] = static_cast<uint8_t>(p.v[i]);
  reinterpret_cast<uint2*>(to)[pack] = raw;
}

}  // namespace drydock

#endif  // DRYDOCK_COMPUTE_SIM_MEASURE_LAUNCH_CUH_
