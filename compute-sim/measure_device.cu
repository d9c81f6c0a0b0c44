// Kernels on a real GPU: cuBLASLt's products and plain memory traffic, timed by CUDA events.
#include <cublasLt.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <vector>

#include "compute-sim/measure_device.h"

namespace drydock {
namespace {

constexpr int kWarmUps = 5, kRepeats = 20;
constexpr size_t kWorkspace = size_t{64} << 20;
constexpr size_t kMostBytes = size_t{1} << 36;

// result = a + b, or a, or nothing, 16 bytes at a time.
template <int kOperands>
__global__ void Move(const uint4* a, const uint4* b, uint4* result, size_t count) {
  const size_t step = size_t{gridDim.x} * blockDim.x;
  for (size_t i = size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
    uint4 value = {};
    if (kOperands > 0) value = a[i];
    if (kOperands > 1) {
      const uint4 other = b[i];  // of 32-bit words: the traffic counts, not the arithmetic
      value = {value.x + other.x, value.y + other.y, value.z + other.z, value.w + other.w};
    }
    result[i] = value;
  }
}

struct Buffer {
  ~Buffer() { cudaFree(data); }
  bool Allocate(size_t bytes) {
    if (bytes > kMostBytes || cudaMalloc(&data, bytes) != cudaSuccess) {
      cudaGetLastError();  // so that the next launch does not report it
      return false;
    }
    // Small, not zero: a multiplier of nothing but zeros draws less power and clocks higher.
    return cudaMemset(data, 0x2c, bytes) == cudaSuccess;
  }
  void* data = nullptr;
};

// One product as cuBLASLt sees it: column-major, so C^T[n,m] = B^T A^T.
class Product {
 public:
  Product(cublasLtHandle_t handle, const Measurement& what) : handle_(handle), what_(what) {}
  ~Product() {
    for (cublasLtMatrixLayout_t layout : {a_, b_, c_}) {
      if (layout != nullptr) cublasLtMatrixLayoutDestroy(layout);
    }
    if (operation_ != nullptr) cublasLtMatmulDescDestroy(operation_);
  }

  bool Prepare(std::string* error) {
    const size_t in = what_.type == MeasuredType::kFp8 ? 1 : 2;
    const size_t out = what_.kind == MeasuredKind::kGemmAccumulate ? 4 : 2;
    const auto bytes = [&](int64_t x, int64_t y, size_t element) {
      return static_cast<size_t>(what_.batch * x * y) * element;
    };
    if (!a_data_.Allocate(bytes(what_.m, what_.k, in)) ||
        !b_data_.Allocate(bytes(what_.n, what_.k, in)) ||
        !c_data_.Allocate(bytes(what_.m, what_.n, out)) || !workspace_.Allocate(kWorkspace)) {
      *error = "the GPU's memory does not suffice";
      return false;
    }
    if (Describe() && Choose()) return true;
    *error = "cuBLASLt has no kernel for it";
    return false;
  }

  bool Launch() {
    const float one = 1, beta = what_.kind == MeasuredKind::kGemmAccumulate ? 1 : 0;
    return cublasLtMatmul(handle_, operation_, &one, b_data_.data, b_, a_data_.data, a_, &beta,
                          c_data_.data, c_, c_data_.data, c_, &algorithm_, workspace_.data,
                          kWorkspace, nullptr) == CUBLAS_STATUS_SUCCESS;
  }

 private:
  cudaDataType InputType() const {
    if (what_.type == MeasuredType::kFp8) return CUDA_R_8F_E4M3;
    return what_.type == MeasuredType::kBf16 ? CUDA_R_16BF : CUDA_R_16F;
  }
  cudaDataType ResultType() const {
    if (what_.kind == MeasuredKind::kGemmAccumulate) return CUDA_R_32F;
    return what_.type == MeasuredType::kFp16 ? CUDA_R_16F : CUDA_R_16BF;
  }

  bool MakeLayout(cublasLtMatrixLayout_t* layout, cudaDataType type, int64_t rows,
                  int64_t columns) {
    if (cublasLtMatrixLayoutCreate(layout, type, static_cast<uint64_t>(rows),
                                   static_cast<uint64_t>(columns), rows) != CUBLAS_STATUS_SUCCESS) {
      return false;
    }
    const int32_t batch = static_cast<int32_t>(what_.batch);
    const int64_t stride = rows * columns;
    return cublasLtMatrixLayoutSetAttribute(*layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batch,
                                            sizeof batch) == CUBLAS_STATUS_SUCCESS &&
           cublasLtMatrixLayoutSetAttribute(*layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                                            &stride, sizeof stride) == CUBLAS_STATUS_SUCCESS;
  }

  // Both operands with k in the rows of their columns, the one order that fp8 has.
  bool Describe() {
    const cublasOperation_t transposed = CUBLAS_OP_T;
    return cublasLtMatmulDescCreate(&operation_, CUBLAS_COMPUTE_32F, CUDA_R_32F) ==
               CUBLAS_STATUS_SUCCESS &&
           cublasLtMatmulDescSetAttribute(operation_, CUBLASLT_MATMUL_DESC_TRANSA, &transposed,
                                          sizeof transposed) == CUBLAS_STATUS_SUCCESS &&
           MakeLayout(&b_, InputType(), what_.k, what_.n) &&
           MakeLayout(&a_, InputType(), what_.k, what_.m) &&
           MakeLayout(&c_, ResultType(), what_.n, what_.m);
  }

  // The library's own first choice, as frameworks take it.
  bool Choose() {
    cublasLtMatmulPreference_t preference = nullptr;
    if (cublasLtMatmulPreferenceCreate(&preference) != CUBLAS_STATUS_SUCCESS) return false;
    const size_t workspace = kWorkspace;
    cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                         &workspace, sizeof workspace);
    cublasLtMatmulHeuristicResult_t result = {};
    int found = 0;
    const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(
        handle_, operation_, b_, a_, c_, c_, preference, 1, &result, &found);
    cublasLtMatmulPreferenceDestroy(preference);
    algorithm_ = result.algo;
    return status == CUBLAS_STATUS_SUCCESS && found == 1;
  }

  cublasLtHandle_t handle_;
  const Measurement what_;
  Buffer a_data_, b_data_, c_data_, workspace_;
  cublasLtMatmulDesc_t operation_ = nullptr;
  cublasLtMatrixLayout_t a_ = nullptr, b_ = nullptr, c_ = nullptr;
  cublasLtMatmulAlgo_t algorithm_ = {};
};

class CudaDevice : public MeasureDevice {
 public:
  ~CudaDevice() override {
    if (handle_ != nullptr) cublasLtDestroy(handle_);
    if (begin_ != nullptr) cudaEventDestroy(begin_);
    if (end_ != nullptr) cudaEventDestroy(end_);
  }

  bool Prepare(int device, std::string* error) {
    cudaError_t status = cudaSetDevice(device);
    if (status == cudaSuccess) status = cudaGetDeviceProperties(&properties_, device);
    if (status == cudaSuccess) status = cudaEventCreate(&begin_);
    if (status == cudaSuccess) status = cudaEventCreate(&end_);
    if (status != cudaSuccess) {
      *error = cudaGetErrorString(status);
      return false;
    }
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
    return "CUDA " + std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
  }
  std::string libraries() const override {
    return "cuBLASLt " + std::to_string(cublasLtGetVersion());
  }

  double Measure(const Measurement& what, std::string* error) override {
    if (what.kind == MeasuredKind::kGemm || what.kind == MeasuredKind::kGemmAccumulate) {
      Product product(handle_, what);
      return product.Prepare(error) ? Median([&] { return product.Launch(); }, error) : -1;
    }
    const size_t bytes = static_cast<size_t>(what.elements) * 2 / sizeof(uint4) * sizeof(uint4);
    Buffer a, b, result;
    if (!a.Allocate(bytes) || !b.Allocate(bytes) || !result.Allocate(bytes)) {
      *error = "the GPU's memory does not suffice";
      return -1;
    }
    const auto launch = [&] {
      const int blocks = properties_.multiProcessorCount * 8;
      const size_t count = bytes / sizeof(uint4);
      const auto* x = static_cast<const uint4*>(a.data);
      const auto* y = static_cast<const uint4*>(b.data);
      auto* to = static_cast<uint4*>(result.data);
      if (what.kind == MeasuredKind::kAdd) Move<2><<<blocks, 256>>>(x, y, to, count);
      if (what.kind == MeasuredKind::kCopy) Move<1><<<blocks, 256>>>(x, y, to, count);
      if (what.kind == MeasuredKind::kFill) Move<0><<<blocks, 256>>>(x, y, to, count);
      return cudaGetLastError() == cudaSuccess;
    };
    return Median(launch, error);
  }

 private:
  template <typename Launch>
  double Median(const Launch& launch, std::string* error) {
    std::vector<float> times;
    for (int i = 0; i < kWarmUps + kRepeats; ++i) {
      float milliseconds = 0;
      bool ok = cudaMemsetAsync(flush_.data, i, flush_bytes_) == cudaSuccess;
      ok = ok && cudaEventRecord(begin_) == cudaSuccess && launch();
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
