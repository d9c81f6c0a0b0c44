// Products by cuBLASLt's own first choice, as frameworks take it.
#include "compute-sim/measure_launch.cuh"

namespace drydock {
namespace {

constexpr size_t kWorkspace = size_t{64} << 20;

// One product as cuBLASLt sees it: column-major, so C^T[n,m] = B^T A^T.
class Product : public Launchable {
 public:
  Product(cublasLtHandle_t handle, const Kernel& kernel) : handle_(handle), type_(kernel.type) {
    accumulate_ = kernel.kind == KernelKind::kGemmAccumulate;
    size_t first = 0;
    if (kernel.kind == KernelKind::kBatchedGemm) batch_ = kernel.dims[first++];
    m_ = kernel.dims[first], n_ = kernel.dims[first + 1], k_ = kernel.dims[first + 2];
  }
  ~Product() override {
    for (cublasLtMatrixLayout_t layout : {a_, b_, c_}) {
      if (layout != nullptr) cublasLtMatrixLayoutDestroy(layout);
    }
    if (operation_ != nullptr) cublasLtMatmulDescDestroy(operation_);
  }

  bool Prepare(std::string* error) {
    const size_t in = type_ == DataType::kFp8 ? 1 : 2, out = accumulate_ ? 4 : 2;
    const auto bytes = [&](int64_t x, int64_t y, size_t element) {
      return static_cast<size_t>(batch_ * x * y) * element;
    };
    if (!a_data_.Allocate(bytes(m_, k_, in)) || !b_data_.Allocate(bytes(n_, k_, in)) ||
        !c_data_.Allocate(bytes(m_, n_, out)) || !workspace_.Allocate(kWorkspace)) {
      *error = kNoMemory;
      return false;
    }
    if (Describe() && Choose()) return true;
    *error = "cuBLASLt has no kernel for it";
    return false;
  }

  bool Launch() override {
    const float one = 1, beta = accumulate_ ? 1 : 0;
    return cublasLtMatmul(handle_, operation_, &one, b_data_.get(), b_, a_data_.get(), a_, &beta,
                          c_data_.get(), c_, c_data_.get(), c_, &algorithm_, workspace_.get(),
                          kWorkspace, nullptr) == CUBLAS_STATUS_SUCCESS;
  }

 private:
  cudaDataType InputType() const {
    if (type_ == DataType::kFp8) return CUDA_R_8F_E4M3;
    return type_ == DataType::kBf16 ? CUDA_R_16BF : CUDA_R_16F;
  }
  cudaDataType ResultType() const {
    if (accumulate_) return CUDA_R_32F;
    return type_ == DataType::kFp16 ? CUDA_R_16F : CUDA_R_16BF;
  }

  bool MakeLayout(cublasLtMatrixLayout_t* layout, cudaDataType type, int64_t rows,
                  int64_t columns) const {
    if (cublasLtMatrixLayoutCreate(layout, type, static_cast<uint64_t>(rows),
                                   static_cast<uint64_t>(columns), rows) != CUBLAS_STATUS_SUCCESS) {
      return false;
    }
    const int32_t batch = static_cast<int32_t>(batch_);
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
           MakeLayout(&b_, InputType(), k_, n_) && MakeLayout(&a_, InputType(), k_, m_) &&
           MakeLayout(&c_, ResultType(), n_, m_);
  }

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
  const DataType type_;
  bool accumulate_ = false;
  int64_t batch_ = 1, m_ = 0, n_ = 0, k_ = 0;
  Buffer a_data_, b_data_, c_data_, workspace_;
  cublasLtMatmulDesc_t operation_ = nullptr;
  cublasLtMatrixLayout_t a_ = nullptr, b_ = nullptr, c_ = nullptr;
  cublasLtMatmulAlgo_t algorithm_ = {};
};

}  // namespace

std::unique_ptr<Launchable> MakeProduct(cublasLtHandle_t handle, const Kernel& kernel,
                                        std::string* error) {
  auto product = std::make_unique<Product>(handle, kernel);
  if (!product->Prepare(error)) return nullptr;
  return product;
}

}  // namespace drydock
