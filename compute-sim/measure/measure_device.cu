// A real GPU: times kernels by CUDA events. No launch finds its operands in the L2 cache.
#include <algorithm>
#include <cctype>
#include <vector>

#include "compute-sim/measure/driver_state.h"
#include "compute-sim/measure/measure_device.h"
#include "compute-sim/measure/measure_launch.cuh"

namespace drydock {
namespace {

constexpr int kWarmUps = 5, kRepeats = 20;
// Multiples of L2 that are read before each launch. Reading takes long enough for the host to
// enqueue the launch in time.
constexpr size_t kFlushes = 4;

// 32 bits that depend on all bits of `x`.
__device__ uint32_t Mixed(uint32_t x) {
  x = (x ^ (x >> 16)) * 0x7feb352du;
  x = (x ^ (x >> 15)) * 0x846ca68bu;
  return x ^ (x >> 16);
}

// Keeps in each half the sign, the last two bits of an exponent below that of 2, and a mantissa. As
// fp8, the upper byte is 1.5 to 1.875, and a lower byte without its bit 6 is not a NaN.
__global__ void FillWords(uint32_t* words, size_t count) {
  const size_t step = size_t{gridDim.x} * blockDim.x;
  for (size_t i = size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
    words[i] = (Mixed(static_cast<uint32_t>(i)) & 0x83bf83bfu) | 0x3c003c00u;
  }
}

// Fills L2 with lines that no kernel reads and that need no write-back: written lines would cost
// the next kernel their traffic to memory.
__global__ void ReadWords(uint4* words, size_t count) {
  uint32_t mixed = 0;
  const size_t step = size_t{gridDim.x} * blockDim.x;
  for (size_t i = size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
    const uint4 word = words[i];
    mixed |= word.x | word.y | word.z | word.w;
  }
  if (mixed == 0) words[0].x = 1;  // never true, as no word is 0: the buffer is only read
}

class CudaDevice : public MeasureDevice {
 public:
  ~CudaDevice() override {
    if (handle_ != nullptr) cublasLtDestroy(handle_);
    if (attention_.handle != nullptr) attention_.cudnn->destroy(attention_.handle);
    if (begin_ != nullptr) cudaEventDestroy(begin_);
    if (end_ != nullptr) cudaEventDestroy(end_);
  }

  bool Prepare(int device, const std::string& cudnn, std::string* error) {
    char pci[32] = {};
    cudaError_t status = cudaSetDevice(device);
    if (status == cudaSuccess) status = cudaGetDeviceProperties(&properties_, device);
    if (status == cudaSuccess) status = cudaDeviceGetPCIBusId(pci, sizeof pci, device);
    if (status == cudaSuccess) status = cudaEventCreate(&begin_);
    if (status == cudaSuccess) status = cudaEventCreate(&end_);
    if (status != cudaSuccess) {
      *error = cudaGetErrorString(status);
      return false;
    }
    state_ = std::make_unique<DriverState>(pci);
    flush_bytes_ = static_cast<size_t>(properties_.l2CacheSize) * kFlushes;
    if (cublasLtCreate(&handle_) != CUBLAS_STATUS_SUCCESS || !flush_.Allocate(flush_bytes_)) {
      *error = "cuBLASLt cannot be started";
      return false;
    }
    OpenAttention(cudnn);
    if (cudnn.empty() || no_attention_.empty()) return true;
    *error = no_attention_;
    return false;
  }

  std::string name() const override { return properties_.name; }
  std::string driver() const override {
    int version = 0;
    cudaDriverGetVersion(&version);
    const std::string cuda =
        "CUDA " + std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
    return state_->Version().empty() ? cuda : state_->Version() + ", " + cuda;
  }
  std::string libraries() const override {
    const std::string cublas = "cuBLASLt " + std::to_string(cublasLtGetVersion());
    if (!no_attention_.empty()) return cublas;
    return cublas + ", cuDNN " + attention_.cudnn->Version();
  }
  std::string clocks() const override {
    const std::string most = state_->MaxClocks();
    return most.empty() ? "not stated by the driver" : most;
  }
  std::string StateNow() const override { return state_->Now(); }
  std::string WhyNoAttention() const override { return no_attention_; }

  double Measure(const Kernel& kernel, std::string* error) override {
    std::unique_ptr<Launchable> launch;
    if (IsAttention(kernel.kind)) {
      launch = MakeAttention(attention_, kernel, error);
    } else if (!IsMemoryKernel(kernel.kind)) {
      launch = MakeGemm(handle_, kernel, error);
    } else {
      launch = MakeElementwise(kernel, properties_.multiProcessorCount, error);
      if (launch == nullptr && *error == kNoKernel) launch = MakeRowwise(kernel, error);
    }
    return launch == nullptr ? -1 : Median(launch.get(), error);
  }

 private:
  void OpenAttention(const std::string& path) {
    std::string error;
    attention_.cudnn = Cudnn::Open(path, &error);
    if (attention_.cudnn != nullptr && attention_.cudnn->create(&attention_.handle) == 0) return;
    if (attention_.cudnn != nullptr) error = attention_.cudnn->LastError();
    attention_ = {};
    no_attention_ = "cuDNN 9 cannot be opened: " + error;
  }

  double Median(Launchable* kernel, std::string* error) {
    std::vector<float> times;
    for (int i = 0; i < kWarmUps + kRepeats; ++i) {
      float milliseconds = 0;
      ReadWords<<<static_cast<unsigned>(properties_.multiProcessorCount) * 8, 256>>>(
          static_cast<uint4*>(flush_.get()), flush_bytes_ / sizeof(uint4));
      bool ok = cudaGetLastError() == cudaSuccess && cudaEventRecord(begin_) == cudaSuccess &&
                kernel->Launch();
      ok = ok && cudaEventRecord(end_) == cudaSuccess;
      ok = ok && cudaEventSynchronize(end_) == cudaSuccess;
      ok = ok && cudaEventElapsedTime(&milliseconds, begin_, end_) == cudaSuccess;
      if (!ok) {
        const cudaError_t last = cudaGetLastError();
        *error = last == cudaSuccess ? "the library did not launch the kernel"
                                     : cudaGetErrorString(last);
        return -1;
      }
      if (i >= kWarmUps) times.push_back(milliseconds);
    }
    std::sort(times.begin(), times.end());
    return (times[kRepeats / 2 - 1] + times[kRepeats / 2]) / 2 * 1000.0;
  }

  cudaDeviceProp properties_ = {};
  std::unique_ptr<DriverState> state_;
  cublasLtHandle_t handle_ = nullptr;
  AttentionLibrary attention_;
  std::string no_attention_;
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
  Buffer flush_;
  size_t flush_bytes_ = 0;
};

}  // namespace

bool FillWithoutPattern(void* data, size_t words) {
  FillWords<<<static_cast<unsigned>(std::clamp<size_t>(words / 256, 1, 4096)), 256>>>(
      static_cast<uint32_t*>(data), words);
  return cudaGetLastError() == cudaSuccess && cudaDeviceSynchronize() == cudaSuccess;
}

std::unique_ptr<MeasureDevice> MeasureDevice::Open(int device, const std::string& cudnn,
                                                   std::string* error) {
  auto opened = std::make_unique<CudaDevice>();
  if (!opened->Prepare(device, cudnn, error)) return nullptr;
  return opened;
}

}  // namespace drydock
