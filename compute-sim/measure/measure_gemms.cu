// GEMMs by the first choice of cuBLASLt's heuristics, as frameworks run them. The GEMMs of a
// group, one for each expert, run in several streams, as in Transformer Engine's grouped linear
// layers.
#include <vector>

#include "compute-sim/measure/measure_launch.cuh"

namespace drydock {
namespace {

constexpr size_t kWorkspace = size_t{64} << 20;
constexpr int kStreams = 4;

struct Operands {
  void *a, *b, *c, *workspace;
};

// One GEMM in the column-major terms of cuBLASLt: C^T[n,m] = B^T A^T.
class CublasLtGemm {
 public:
  CublasLtGemm(cublasLtHandle_t handle, DataType type, bool accumulate)
      : handle_(handle), type_(type), accumulate_(accumulate) {}
  CublasLtGemm(const CublasLtGemm&) = delete;
  CublasLtGemm& operator=(const CublasLtGemm&) = delete;
  ~CublasLtGemm() {
    for (cublasLtMatrixLayout_t layout : {a_, b_, c_}) {
      if (layout != nullptr) cublasLtMatrixLayoutDestroy(layout);
    }
    if (operation_ != nullptr) cublasLtMatmulDescDestroy(operation_);
  }

  bool Prepare(int64_t batch, int64_t m, int64_t n, int64_t k, std::string* error) {
    batch_ = batch;
    if (Describe(m, n, k) && Choose()) return true;
    *error = "cuBLASLt has no kernel for this GEMM";
    return false;
  }

  size_t in_bytes() const { return type_ == DataType::kFp8 ? 1 : 2; }
  size_t out_bytes() const { return accumulate_ ? 4 : 2; }

  bool Launch(const Operands& o, cudaStream_t stream) const {
    const float one = 1, beta = accumulate_ ? 1 : 0;
    return cublasLtMatmul(handle_, operation_, &one, o.b, b_, o.a, a_, &beta, o.c, c_, o.c, c_,
                          &algorithm_, o.workspace, kWorkspace, stream) == CUBLAS_STATUS_SUCCESS;
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

  // Both operands have k along their columns, the only layout for fp8.
  bool Describe(int64_t m, int64_t n, int64_t k) {
    const cublasOperation_t transposed = CUBLAS_OP_T;
    // As in the forward pass (docs/reference/submodules.md).
    const int8_t fast = InputType() == CUDA_R_8F_E4M3;
    return cublasLtMatmulDescCreate(&operation_, CUBLAS_COMPUTE_32F, CUDA_R_32F) ==
               CUBLAS_STATUS_SUCCESS &&
           cublasLtMatmulDescSetAttribute(operation_, CUBLASLT_MATMUL_DESC_TRANSA, &transposed,
                                          sizeof transposed) == CUBLAS_STATUS_SUCCESS &&
           cublasLtMatmulDescSetAttribute(operation_, CUBLASLT_MATMUL_DESC_FAST_ACCUM, &fast,
                                          sizeof fast) == CUBLAS_STATUS_SUCCESS &&
           MakeLayout(&b_, InputType(), k, n) && MakeLayout(&a_, InputType(), k, m) &&
           MakeLayout(&c_, ResultType(), n, m);
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
  const bool accumulate_;
  int64_t batch_ = 1;
  cublasLtMatmulDesc_t operation_ = nullptr;
  cublasLtMatrixLayout_t a_ = nullptr, b_ = nullptr, c_ = nullptr;
  cublasLtMatmulAlgo_t algorithm_ = {};
};

// `count` GEMMs with the same extents and separate operands.
class GemmOperands {
 public:
  bool Prepare(const CublasLtGemm& gemm, int64_t count, int64_t m, int64_t n, int64_t k,
               int workspaces) {
    const auto bytes = [](int64_t x, int64_t y, size_t element) {
      return static_cast<size_t>(x * y) * element;
    };
    each_ = {bytes(m, k, gemm.in_bytes()), bytes(n, k, gemm.in_bytes()),
             bytes(m, n, gemm.out_bytes())};
    for (int i = 0; i < 3; ++i) {
      if (!data_[i].Allocate(static_cast<size_t>(count) * each_[i])) return false;
    }
    return workspace_.Allocate(kWorkspace * static_cast<size_t>(workspaces));
  }
  Operands At(int64_t index, int workspace) const {
    const auto at = [](const Buffer& buffer, size_t offset) {
      return static_cast<void*>(static_cast<char*>(buffer.get()) + offset);
    };
    const size_t i = static_cast<size_t>(index);
    return {at(data_[0], i * each_[0]), at(data_[1], i * each_[1]), at(data_[2], i * each_[2]),
            at(workspace_, static_cast<size_t>(workspace) * kWorkspace)};
  }

 private:
  std::array<size_t, 3> each_ = {};
  Buffer data_[3], workspace_;
};

class SingleGemmLaunch : public Launchable {
 public:
  SingleGemmLaunch(cublasLtHandle_t handle, const Kernel& kernel)
      : gemm_(handle, kernel.type, kernel.kind == KernelKind::kGemmAccumulate) {}

  bool Prepare(const Kernel& kernel, std::string* error) {
    const auto* d = kernel.dims.data();
    const int64_t batch = kernel.kind == KernelKind::kBatchedGemm ? *d++ : 1;
    if (!gemm_.Prepare(batch, d[0], d[1], d[2], error)) return false;
    *error = kNoMemory;
    return operands_.Prepare(gemm_, batch, d[0], d[1], d[2], /*workspaces=*/1);
  }
  bool Launch() override { return gemm_.Launch(operands_.At(0, 0), nullptr); }

 private:
  CublasLtGemm gemm_;
  GemmOperands operands_;
};

// The launches are recorded once and replayed, so that the time contains the work of the GPU only,
// not the host's calls.
class GroupedGemmLaunch : public Launchable {
 public:
  GroupedGemmLaunch(cublasLtHandle_t handle, const Kernel& kernel)
      : gemm_(handle, kernel.type, kernel.kind == KernelKind::kGroupedGemmAccumulate),
        groups_(kernel.dims[0]) {}
  ~GroupedGemmLaunch() override {
    if (replay_ != nullptr) cudaGraphExecDestroy(replay_);
    if (begun_ != nullptr) cudaEventDestroy(begun_);
    for (int i = 0; i < kStreams; ++i) {
      if (done_[i] != nullptr) cudaEventDestroy(done_[i]);
      if (streams_[i] != nullptr) cudaStreamDestroy(streams_[i]);
    }
  }

  bool Prepare(const Kernel& kernel, std::string* error) {
    const auto& d = kernel.dims;
    if (!gemm_.Prepare(1, d[1], d[2], d[3], error)) return false;
    *error = kNoMemory;
    if (!operands_.Prepare(gemm_, groups_, d[1], d[2], d[3], kStreams)) return false;
    *error = "the GEMMs of a group cannot be recorded";
    return MakeStreams() && Record();
  }
  bool Launch() override { return cudaGraphLaunch(replay_, nullptr) == cudaSuccess; }

 private:
  bool MakeStreams() {
    bool ok = cudaEventCreateWithFlags(&begun_, cudaEventDisableTiming) == cudaSuccess;
    for (int i = 0; i < kStreams && ok; ++i) {
      ok = cudaEventCreateWithFlags(&done_[i], cudaEventDisableTiming) == cudaSuccess &&
           cudaStreamCreateWithFlags(&streams_[i], cudaStreamNonBlocking) == cudaSuccess;
    }
    // The first launch loads modules, which is not possible during a recording.
    return ok && gemm_.Launch(operands_.At(0, 0), streams_[0]) &&
           cudaStreamSynchronize(streams_[0]) == cudaSuccess;
  }

  bool Record() {
    cudaGraph_t graph = nullptr;
    if (cudaStreamBeginCapture(streams_[0], cudaStreamCaptureModeRelaxed) != cudaSuccess) {
      return false;
    }
    const bool recorded = LaunchAll();
    const bool ended = cudaStreamEndCapture(streams_[0], &graph) == cudaSuccess;
    const bool ok = recorded && ended && cudaGraphInstantiate(&replay_, graph, 0) == cudaSuccess;
    if (graph != nullptr) cudaGraphDestroy(graph);
    return ok;
  }

  bool LaunchAll() {
    bool ok = cudaEventRecord(begun_, streams_[0]) == cudaSuccess;
    for (int i = 1; i < kStreams; ++i) {
      ok = ok && cudaStreamWaitEvent(streams_[i], begun_, 0) == cudaSuccess;
    }
    for (int64_t group = 0; group < groups_ && ok; ++group) {
      const int stream = static_cast<int>(group % kStreams);
      ok = gemm_.Launch(operands_.At(group, stream), streams_[stream]);
    }
    for (int i = 1; i < kStreams; ++i) {
      ok = ok && cudaEventRecord(done_[i], streams_[i]) == cudaSuccess &&
           cudaStreamWaitEvent(streams_[0], done_[i], 0) == cudaSuccess;
    }
    return ok;
  }

  CublasLtGemm gemm_;
  GemmOperands operands_;
  const int64_t groups_;
  cudaStream_t streams_[kStreams] = {};
  cudaEvent_t begun_ = nullptr, done_[kStreams] = {};
  cudaGraphExec_t replay_ = nullptr;
};

template <class Kind>
std::unique_ptr<Launchable> Make(cublasLtHandle_t handle, const Kernel& kernel,
                                 std::string* error) {
  auto gemm = std::make_unique<Kind>(handle, kernel);
  if (!gemm->Prepare(kernel, error)) return nullptr;
  return gemm;
}

}  // namespace

std::unique_ptr<Launchable> MakeGemm(cublasLtHandle_t handle, const Kernel& kernel,
                                     std::string* error) {
  const bool grouped =
      kernel.kind == KernelKind::kGroupedGemm || kernel.kind == KernelKind::kGroupedGemmAccumulate;
  return grouped ? Make<GroupedGemmLaunch>(handle, kernel, error)
                 : Make<SingleGemmLaunch>(handle, kernel, error);
}

}  // namespace drydock
