// "Do our constants have cuDNN's values, and does cuDNN accept the graphs of attention?" If cuDNN
// is installed, it makes plans for GPUs that are only described to it. This covers all steps up to
// loading the finished kernel onto a GPU.
#include <dlfcn.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "compute-sim/measure/attention_graph.h"

#if __has_include(<cudnn_graph.h>)
#include <cudnn_graph.h>
#define DRYDOCK_HAS_CUDNN_HEADER 1
#endif

namespace drydock {
namespace {

TEST(Cudnn, NamesAFileThatIsNotCudnn) {
  std::string error;
  EXPECT_EQ(Cudnn::Open("/nowhere/libcudnn.so.9", &error), nullptr);
  EXPECT_NE(error.find("/nowhere/libcudnn.so.9: cannot open shared object file"), std::string::npos)
      << error;
  EXPECT_EQ(Cudnn::Open("libm.so.6", &error), nullptr);
  EXPECT_EQ(error, "the library is not cuDNN");
}

#ifdef DRYDOCK_HAS_CUDNN_HEADER
template <typename Ours>
constexpr bool Same(Ours ours, int theirs) {
  return static_cast<int>(ours) == theirs;
}
using K = CudnnKey;
static_assert(Same(K::kPointwiseMode, CUDNN_ATTR_POINTWISE_MODE) &&
              Same(K::kPointwisePrecision, CUDNN_ATTR_POINTWISE_MATH_PREC) &&
              Same(K::kPointwiseAxis, CUDNN_ATTR_POINTWISE_AXIS) &&
              Same(K::kHeuristicsMode, CUDNN_ATTR_ENGINEHEUR_MODE) &&
              Same(K::kHeuristicsGraph, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH) &&
              Same(K::kHeuristicsResults, CUDNN_ATTR_ENGINEHEUR_RESULTS) &&
              Same(K::kHeuristicsDevice, CUDNN_ATTR_ENGINEHEUR_DEVICEPROP) &&
              Same(K::kPlanHandle, CUDNN_ATTR_EXECUTION_PLAN_HANDLE) &&
              Same(K::kPlanConfig, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG) &&
              Same(K::kPlanWorkspace, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE) &&
              Same(K::kPlanDevice, CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP) &&
              Same(K::kDeviceJson, CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION));
static_assert(Same(K::kOpPointwise, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR) &&
              Same(K::kOpPointwiseX, CUDNN_ATTR_OPERATION_POINTWISE_XDESC) &&
              Same(K::kOpPointwiseB, CUDNN_ATTR_OPERATION_POINTWISE_BDESC) &&
              Same(K::kOpPointwiseY, CUDNN_ATTR_OPERATION_POINTWISE_YDESC) &&
              Same(K::kOpPointwiseT, CUDNN_ATTR_OPERATION_POINTWISE_TDESC) &&
              Same(K::kGraphHandle, CUDNN_ATTR_OPERATIONGRAPH_HANDLE) &&
              Same(K::kGraphOps, CUDNN_ATTR_OPERATIONGRAPH_OPS) &&
              Same(K::kMatmulPrecision, CUDNN_ATTR_MATMUL_COMP_TYPE) &&
              Same(K::kOpMatmul, CUDNN_ATTR_OPERATION_MATMUL_DESC) &&
              Same(K::kOpMatmulA, CUDNN_ATTR_OPERATION_MATMUL_ADESC) &&
              Same(K::kOpMatmulB, CUDNN_ATTR_OPERATION_MATMUL_BDESC) &&
              Same(K::kOpMatmulC, CUDNN_ATTR_OPERATION_MATMUL_CDESC) &&
              Same(K::kReductionMode, CUDNN_ATTR_REDUCTION_OPERATOR) &&
              Same(K::kReductionPrecision, CUDNN_ATTR_REDUCTION_COMP_TYPE) &&
              Same(K::kOpReduction, CUDNN_ATTR_OPERATION_REDUCTION_DESC) &&
              Same(K::kOpReductionX, CUDNN_ATTR_OPERATION_REDUCTION_XDESC) &&
              Same(K::kOpReductionY, CUDNN_ATTR_OPERATION_REDUCTION_YDESC) &&
              Same(K::kOpReshapeX, CUDNN_ATTR_OPERATION_RESHAPE_XDESC) &&
              Same(K::kOpReshapeY, CUDNN_ATTR_OPERATION_RESHAPE_YDESC));
static_assert(Same(K::kTensorAlignment, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT) &&
              Same(K::kTensorType, CUDNN_ATTR_TENSOR_DATA_TYPE) &&
              Same(K::kTensorDims, CUDNN_ATTR_TENSOR_DIMENSIONS) &&
              Same(K::kTensorStrides, CUDNN_ATTR_TENSOR_STRIDES) &&
              Same(K::kTensorId, CUDNN_ATTR_TENSOR_UNIQUE_ID) &&
              Same(K::kTensorVirtual, CUDNN_ATTR_TENSOR_IS_VIRTUAL) &&
              Same(K::kTensorByValue, CUDNN_ATTR_TENSOR_IS_BY_VALUE) &&
              Same(K::kPackIds, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS) &&
              Same(K::kPackPointers, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS) &&
              Same(K::kPackWorkspace, CUDNN_ATTR_VARIANT_PACK_WORKSPACE));
using O = CudnnObject;
static_assert(Same(O::kPointwise, CUDNN_BACKEND_POINTWISE_DESCRIPTOR) &&
              Same(O::kEngineConfig, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR) &&
              Same(O::kHeuristics, CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR) &&
              Same(O::kPlan, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR) &&
              Same(O::kPointwiseOperation, CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR) &&
              Same(O::kGraph, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR) &&
              Same(O::kVariantPack, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR) &&
              Same(O::kTensor, CUDNN_BACKEND_TENSOR_DESCRIPTOR) &&
              Same(O::kMatmul, CUDNN_BACKEND_MATMUL_DESCRIPTOR) &&
              Same(O::kMatmulOperation, CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR) &&
              Same(O::kReduction, CUDNN_BACKEND_REDUCTION_DESCRIPTOR) &&
              Same(O::kReductionOperation, CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR) &&
              Same(O::kReshapeOperation, CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR) &&
              Same(O::kDevice, CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR));
using V = CudnnValue;
static_assert(Same(V::kHandle, CUDNN_TYPE_HANDLE) && Same(V::kDataType, CUDNN_TYPE_DATA_TYPE) &&
              Same(V::kBool, CUDNN_TYPE_BOOLEAN) && Same(V::kInt64, CUDNN_TYPE_INT64) &&
              Same(V::kPointer, CUDNN_TYPE_VOID_PTR) &&
              Same(V::kHeuristicsMode, CUDNN_TYPE_HEUR_MODE) &&
              Same(V::kPointwiseMode, CUDNN_TYPE_POINTWISE_MODE) &&
              Same(V::kObject, CUDNN_TYPE_BACKEND_DESCRIPTOR) &&
              Same(V::kReductionMode, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE) &&
              Same(V::kChar, CUDNN_TYPE_CHAR));
using P = CudnnPointwise;
static_assert(Same(P::kAdd, CUDNN_POINTWISE_ADD) && Same(P::kMultiply, CUDNN_POINTWISE_MUL) &&
              Same(P::kDivide, CUDNN_POINTWISE_DIV) && Same(P::kSubtract, CUDNN_POINTWISE_SUB) &&
              Same(P::kExp, CUDNN_POINTWISE_EXP) && Same(P::kLog, CUDNN_POINTWISE_LOG) &&
              Same(P::kIdentity, CUDNN_POINTWISE_IDENTITY) &&
              Same(P::kGreaterEqual, CUDNN_POINTWISE_CMP_GE) &&
              Same(P::kIndex, CUDNN_POINTWISE_GEN_INDEX) &&
              Same(P::kSelect, CUDNN_POINTWISE_BINARY_SELECT));
static_assert(Same(CudnnReduction::kSum, CUDNN_REDUCE_TENSOR_ADD) &&
              Same(CudnnReduction::kMaximum, CUDNN_REDUCE_TENSOR_MAX) &&
              Same(CudnnType::kFloat, CUDNN_DATA_FLOAT) &&
              Same(CudnnType::kHalf, CUDNN_DATA_HALF) &&
              Same(CudnnType::kInt32, CUDNN_DATA_INT32) &&
              Same(CudnnType::kBfloat16, CUDNN_DATA_BFLOAT16) &&
              Same(CudnnType::kBool, CUDNN_DATA_BOOLEAN) &&
              Same(kCudnnHeuristicsA, CUDNN_HEUR_MODE_A));
#endif

// A GPU as cuDNN describes one to itself.
std::string Described(int version, int sms, int shared_memory) {
  return fmt::format(
      R"({{"deviceVer":{},"multiProcessorCount":{},"maxSharedMemoryPerBlockOptin":{},)"
      R"("maxGridSize":[2147483647,65535,65535],"maxBlockSize":[1024,1024,64],)"
      R"("regsPerBlock":65536,"maxRegistersPerSM":65536,"warpSize":32,"l2CacheSize":52428800,)"
      R"("maxSharedMemoryPerBlock":49152,"reservedSharedMemoryPerBlock":1024,"maxCtasPerSM":32,)"
      R"("maxThreadsPerBlock":1024,"maxThreadsPerSM":2048,"pciDeviceId":0,"isTccDriver":0,)"
      R"("supportCoopLaunch":1,"totalGlobalMem":85899345920,"smClockRateKHz":1700000,)"
      R"("memClockRateKHz":2600000,"driverVer":13000,"cudaDeviceId":0,"deviceName":"described"}})",
      version, sms, shared_memory);
}

class CudnnAttentionTest : public ::testing::Test {
 protected:
  void SetUp() override {
    // The toolkit's link-time driver library: cuDNN finds it by its name when it looks for the
    // driver.
    if (dlopen(DRYDOCK_CUDA_LINK_DRIVER, RTLD_NOW | RTLD_GLOBAL) == nullptr)
      GTEST_SKIP() << "no CUDA toolkit with its link-time driver library";
    std::string error;
    library_ = Cudnn::Open(DRYDOCK_CUDNN_LIBRARY, &error);
    if (library_ == nullptr) GTEST_SKIP() << "no cuDNN 9: " << error;
  }

  std::string Outcome(KernelKind kind, DataType type, const AttentionShape& shape,
                      const std::string& device) {
    CudnnGraph graph(library_);
    BuildAttention(Attention(kind, type, shape), &graph);
    if (!graph.error().empty()) return "graph: " + graph.error();
    EXPECT_FALSE(graph.Plan({nullptr, device})) << "there is a GPU";
    return graph.error();
  }
  // The kernel is compiled; it cannot be loaded, because there is no real driver.
  void ExpectCompiled(DataType type, const AttentionShape& shape, const std::string& device) {
    for (const KernelKind kind : {KernelKind::kAttentionForward, KernelKind::kAttentionBackward}) {
      const std::string outcome = Outcome(kind, type, shape, device);
      EXPECT_NE(outcome.find("cuLibraryLoadData"), std::string::npos)
          << InfoOf(kind).name << ": " << outcome;
    }
  }

  std::shared_ptr<const Cudnn> library_;
  const std::string a100_ = Described(800, 108, 166912), h100_ = Described(900, 132, 232448);
};

TEST_F(CudnnAttentionTest, CausalWithAsManyKeysAsQueries) {
  ExpectCompiled(DataType::kBf16, {2, 4096, 32, 32, 128, true}, h100_);
  ExpectCompiled(DataType::kFp16, {1, 2048, 16, 16, 64, true}, a100_);
}

TEST_F(CudnnAttentionTest, KeysSharedByHeadsAndMoreKeysThanQueries) {
  ExpectCompiled(DataType::kBf16, {1, 2048, 32, 8, 128, true, 8192}, h100_);
  ExpectCompiled(DataType::kBf16, {2, 1024, 16, 4, 64, false, 2048}, a100_);
}

TEST_F(CudnnAttentionTest, ValuesNarrowerThanKeys) {
  ExpectCompiled(DataType::kBf16, {1, 4096, 16, 16, 192, true, 0, 128}, h100_);
}

TEST_F(CudnnAttentionTest, RefusesAttentionThatNoKernelSupports) {
  const std::string outcome = Outcome(KernelKind::kAttentionBackward, DataType::kBf16,
                                      {1, 4096, 16, 16, 192, true, 0, 128}, a100_);
  EXPECT_EQ(outcome.find("cuLibraryLoadData"), std::string::npos) << outcome;
  EXPECT_EQ(outcome.find("graph:"), std::string::npos) << outcome;
  EXPECT_FALSE(outcome.empty());
}

}  // namespace
}  // namespace drydock
