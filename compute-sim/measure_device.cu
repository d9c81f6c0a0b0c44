// A real GPU: kernels timed by CUDA events, each launch with an L2 that holds nothing of it.
#include <algorithm>
#include <cctype>
#include <vector>

#include "compute-sim/driver_state.h"
#include "compute-sim/measure_device.h"
#include "compute-sim/measure_launch.cuh"

namespace drydock {
namespace {

constexpr int kWarmUps = 5, kRepeats = 20;

class CudaDevice : public MeasureDevice {
 public:
  ~CudaDevice() override {
    if (handle_ != nullptr) cublasLtDestroy(handle_);
    if (begin_ != nullptr) cudaEventDestroy(begin_);
    if (end_ != nullptr) cudaEventDestroy(end_);
  }

  bool Prepare(int device, std::string* error) {
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
    flush_bytes_ = static_cast<size_t>(properties_.l2CacheSize) * 2;
    if (cublasLtCreate(&handle_) == CUBLAS_STATUS_SUCCESS && flush_.Allocate(flush_bytes_)) {
      return true;
    }
    *error = "cuBLASLt cannot be started";
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
    return "cuBLASLt " + std::to_string(cublasLtGetVersion());
  }
  std::string clocks() const override {
    const std::string most = state_->MostClocks();
    return most.empty() ? "not stated by the driver" : most;
  }
  std::string StateNow() const override { return state_->Now(); }

  double Measure(const Kernel& kernel, std::string* error) override {
    std::unique_ptr<Launchable> launch;
    if (!IsMemoryKernel(kernel.kind)) {
      launch = MakeProduct(handle_, kernel, error);
    } else {
      launch = MakeElementwise(kernel, properties_.multiProcessorCount, error);
      if (launch == nullptr && *error == kNoKernel) launch = MakeRowwise(kernel, error);
    }
    return launch == nullptr ? -1 : Median(launch.get(), error);
  }

 private:
  double Median(Launchable* kernel, std::string* error) {
    std::vector<float> times;
    for (int i = 0; i < kWarmUps + kRepeats; ++i) {
      float milliseconds = 0;
      bool ok = cudaMemsetAsync(flush_.get(), i, flush_bytes_) == cudaSuccess;
      ok = ok && cudaEventRecord(begin_) == cudaSuccess && kernel->Launch();
      ok = ok && cudaEventRecord(end_) == cudaSuccess;
      ok = ok && cudaEventSynchronize(end_) == cudaSuccess;
      ok = ok && cudaEventElapsedTime(&milliseconds, begin_, end_) == cudaSuccess;
      if (!ok) {
        *error = cudaGetErrorString(cudaGetLastError());
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
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
  Buffer flush_;
  size_t flush_bytes_ = 0;
};

}  // namespace

std::unique_ptr<MeasureDevice> MeasureDevice::Open(int device, std::string* error) {
  auto opened = std::make_unique<CudaDevice>();
  if (!opened->Prepare(device, error)) return nullptr;
  return opened;
}

}  // namespace drydock
