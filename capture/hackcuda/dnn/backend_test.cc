// "Does the log have the operations of cuDNN's backend interface? Are graphs that are not
// understood refused?"
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "capture/hackcuda/dnn/abi.h"
#include "capture/hackcuda/testing/pretended.h"

// Of the stand-in.
extern "C" {
int cudnnCreate(void** handle);
int cudnnBackendCreateDescriptor(int kind, void** descriptor);
int cudnnBackendDestroyDescriptor(void* descriptor);
int cudnnBackendSetAttribute(void*, int attribute, int type, int64_t count, const void* array);
int cudnnBackendGetAttribute(void*, int attribute, int type, int64_t asked, int64_t* count, void*);
int cudnnBackendFinalize(void* descriptor);
int cudnnBackendExecute(void* handle, void* plan, void* pack);
void cudnnGetLastErrorString(char* message, size_t bytes);
extern const int hackcuda_version __attribute__((visibility("hidden")));
const int hackcuda_version = 91002;
}

namespace drydock::hackcuda::dnn {
namespace {

constexpr int kBf16 = 9, kFp32 = 0;

void* Make(int kind) {
  void* made = nullptr;
  EXPECT_EQ(cudnnBackendCreateDescriptor(kind, &made), kSuccess);
  return made;
}
void SetDescriptors(void* of, int attribute, std::vector<void*> descriptors) {
  EXPECT_EQ(cudnnBackendSetAttribute(of, attribute, kDescriptor,
                                     static_cast<int64_t>(descriptors.size()), descriptors.data()),
            kSuccess);
}
void SetIntegers(void* of, int attribute, std::vector<int64_t> values) {
  EXPECT_EQ(cudnnBackendSetAttribute(of, attribute, kInt64, static_cast<int64_t>(values.size()),
                                     values.data()),
            kSuccess);
}

// Contiguous, the last dimension first.
void* MakeTensor(int64_t number, std::vector<int64_t> extents, int type, bool is_virtual = false) {
  std::vector<int64_t> strides(extents.size(), 1);
  for (size_t i = extents.size() - 1; i > 0; --i) strides[i - 1] = strides[i] * extents[i];
  void* tensor = Make(kTensor);
  SetIntegers(tensor, kTensorNumber, {number});
  SetIntegers(tensor, kTensorDimensions, extents);
  SetIntegers(tensor, kTensorStrides, strides);
  cudnnBackendSetAttribute(tensor, kTensorType, kDataType, 1, &type);
  cudnnBackendSetAttribute(tensor, kTensorIsVirtual, kBoolean, 1, &is_virtual);
  EXPECT_EQ(cudnnBackendFinalize(tensor), kSuccess);
  return tensor;
}

void* MakeProduct(void* a, void* b, void* c) {
  void* operation = Make(kMatmulOperation);
  SetDescriptors(operation, kMatmulA, {a});
  SetDescriptors(operation, kMatmulB, {b});
  SetDescriptors(operation, kMatmulC, {c});
  return operation;
}

void* MakePointwise(int mode, void* x) {
  void *own = Make(kPointwise), *operation = Make(kPointwiseOperation);
  cudnnBackendSetAttribute(own, kPointwiseMode, 14, 1, &mode);
  SetDescriptors(operation, kPointwiseDescriptor, {own});
  SetDescriptors(operation, kPointwiseX, {x});
  return operation;
}

void* MakeGraph(std::vector<void*> operations) {
  void* graph = Make(kGraph);
  SetDescriptors(graph, kGraphOperations, std::move(operations));
  return graph;
}

// Asks the heuristics for engines, as programs do, and runs the one with this place.
std::string RunGraph(void* graph, size_t place = 0) {
  EXPECT_EQ(cudnnBackendFinalize(graph), kSuccess);
  void *heuristics = Make(kHeuristics), *plan = Make(kPlan), *handle = nullptr;
  SetDescriptors(heuristics, kHeuristicsGraph, {graph});
  EXPECT_EQ(cudnnBackendFinalize(heuristics), kSuccess);
  int64_t count = 0;
  EXPECT_EQ(
      cudnnBackendGetAttribute(heuristics, kHeuristicsResults, kDescriptor, 0, &count, nullptr),
      kSuccess);
  std::vector<void*> configs;
  for (int64_t i = 0; i < count; ++i) configs.push_back(Make(kEngineConfig));
  EXPECT_EQ(cudnnBackendGetAttribute(heuristics, kHeuristicsResults, kDescriptor, count, &count,
                                     configs.data()),
            kSuccess);
  if (place >= configs.size()) return "no such engine";
  SetDescriptors(plan, kPlanConfig, {configs[place]});
  EXPECT_EQ(cudnnBackendFinalize(plan), kSuccess);
  int64_t workspace = -1;
  EXPECT_EQ(cudnnBackendGetAttribute(plan, kPlanWorkspace, kInt64, 1, &count, &workspace),
            kSuccess);
  EXPECT_EQ(workspace, 0);
  cudnnCreate(&handle);
  EXPECT_EQ(cudnnBackendExecute(handle, plan, nullptr), kSuccess);
  const std::string log = Pretended::Log();
  return log.substr(log.rfind("t0 ", log.size() - 2));
}

TEST(Backend, DescriptorsGiveBackWhatWasSet) {
  void* tensor = MakeTensor(7, {2, 3, 4}, kBf16);
  int64_t count = 0, extents[8] = {};
  EXPECT_EQ(cudnnBackendGetAttribute(tensor, kTensorDimensions, kInt64, 8, &count, extents),
            kSuccess);
  EXPECT_EQ(count, 3);
  EXPECT_EQ(extents[2], 4);
  EXPECT_EQ(cudnnBackendGetAttribute(tensor, kTensorDimensions, kDataType, 8, &count, extents),
            kBadParameter);
  EXPECT_EQ(cudnnBackendGetAttribute(tensor, 905, kInt64, 1, &count, extents), kBadParameter);
  char message[256];
  cudnnGetLastErrorString(message, sizeof message);
  EXPECT_STREQ(message, "cudnnBackendGetAttribute: attribute 905 of a descriptor of kind 17");
  cudnnBackendDestroyDescriptor(tensor);
}

TEST(Backend, Attention) {
  void *q = MakeTensor(1, {2, 8, 256, 64}, kBf16), *k = MakeTensor(2, {2, 2, 64, 512}, kBf16),
       *v = MakeTensor(3, {2, 2, 512, 32}, kBf16), *o = MakeTensor(4, {2, 8, 256, 32}, kBf16);
  void *scores = MakeTensor(5, {2, 8, 256, 512}, kFp32, true),
       *weights = MakeTensor(6, {2, 8, 256, 512}, kBf16, true);
  const std::vector<void*> plain = {MakeProduct(q, k, scores), MakePointwise(kExp, scores),
                                    MakeProduct(weights, v, o)};
  EXPECT_EQ(RunGraph(MakeGraph(plain)),
            "t0 attention library=cudnn backward=0 batch=2 heads=8 heads_kv=2 queries=256 keys=512 "
            "depth=64 depth_v=32 type=14 causal=0 dropout=0 stream=0\n");
  std::vector<void*> masked = plain;
  masked.push_back(MakePointwise(kIndex, scores));
  masked.push_back(MakePointwise(kIndex, scores));
  masked.push_back(MakePointwise(kIsGreaterOrEqual, scores));
  masked.push_back(Make(kRandom));
  const std::string log = RunGraph(MakeGraph(masked));
  EXPECT_NE(log.find("causal=1 dropout=1"), std::string::npos) << log;
}

TEST(Backend, BackwardOfAttention) {
  const std::vector<int64_t> square = {2, 8, 256, 512};
  void *q = MakeTensor(1, {2, 8, 256, 64}, kBf16), *k = MakeTensor(2, {2, 8, 64, 512}, kBf16),
       *v = MakeTensor(3, {2, 8, 32, 512}, kBf16), *dy = MakeTensor(4, {2, 8, 256, 32}, kBf16);
  void *s = MakeTensor(5, square, kFp32, true), *dv = MakeTensor(6, {2, 8, 512, 32}, kBf16),
       *dp = MakeTensor(7, square, kFp32, true), *dq = MakeTensor(8, {2, 8, 256, 64}, kBf16),
       *dk = MakeTensor(9, {2, 8, 512, 64}, kBf16);
  EXPECT_EQ(
      RunGraph(MakeGraph({MakeProduct(q, k, s), MakePointwise(kExp, s), MakeProduct(s, dy, dv),
                          MakeProduct(dy, v, dp), MakeProduct(dp, k, dq), MakeProduct(dp, q, dk)})),
      "t0 attention library=cudnn backward=1 batch=2 heads=8 heads_kv=8 queries=256 keys=512 "
      "depth=64 depth_v=32 type=14 causal=0 dropout=0 stream=0\n");
}

TEST(Backend, ConvolutionOfBothPrecisions) {
  void *x = MakeTensor(1, {4, 16, 64, 64}, kFp32), *w = MakeTensor(2, {32, 8, 3, 3}, kFp32),
       *y = MakeTensor(3, {4, 32, 32, 32}, kFp32), *bias = MakeTensor(4, {1, 32, 1, 1}, kFp32);
  void *setting = Make(kConvolutionKind), *operation = Make(kConvolutionForward);
  SetIntegers(setting, kConvolutionDimensions, {2});
  SetIntegers(setting, kConvolutionStrides, {2, 2});
  SetIntegers(setting, kConvolutionDilations, {1, 1});
  SetDescriptors(operation, kForwardConvolution, {setting});
  SetDescriptors(operation, kForwardX, {x});
  SetDescriptors(operation, kForwardW, {w});
  SetDescriptors(operation, kForwardY, {y});
  void* add = MakePointwise(0, y);
  SetDescriptors(add, kPointwiseB, {bias});
  const std::string expected =
      "t0 convolution library=cudnn direction=0 batch=4 groups=2 in_channels=16 out_channels=32 "
      "dimensions=2 in_1=64 in_2=64 in_3=1 kernel_1=3 kernel_2=3 kernel_3=1 stride_1=2 stride_2=2 "
      "stride_3=1 dilation_1=1 dilation_2=1 dilation_3=1 out_1=32 out_2=32 out_3=1 type_in=0 "
      "type_out=0 compute=";
  EXPECT_EQ(RunGraph(MakeGraph({operation, add})),
            expected + "77 channels_last=0 other_bytes=128 stream=0\n");
  EXPECT_EQ(RunGraph(MakeGraph({operation, add}), 1),
            expected + "68 channels_last=0 other_bytes=128 stream=0\n");
}

TEST(Backend, OtherGraphsMoveTheirTensors) {
  void *x = MakeTensor(1, {1024}, kBf16), *y = MakeTensor(2, {1024}, kFp32);
  void* norm = Make(kNormForward);
  SetDescriptors(norm, 2002, {x});
  SetDescriptors(norm, 2013, {y});
  void *a = MakeTensor(1, {3, 5, 7}, kBf16), *b = MakeTensor(2, {3, 7, 11}, kBf16),
       *c = MakeTensor(3, {3, 5, 11}, kBf16);
  EXPECT_EQ(RunGraph(MakeGraph({norm, MakePointwise(0, y)})),
            "t0 traffic library=cudnn operation=norm+pointwise bytes=6144 stream=0\n");
  const std::string log = RunGraph(MakeGraph({MakeProduct(a, b, c)}));
  EXPECT_EQ(log.substr(0, 60), "t0 product library=cudnn m=11 n=5 k=7 batch=3 transpose_a=0 ");
  EXPECT_EQ(RunGraph(MakeGraph({MakeProduct(a, b, c)}), 1), "no such engine");
}

TEST(Backend, RefusesWhatItDoesNotUnderstand) {
  void* graph = MakeGraph({Make(42)});
  EXPECT_EQ(cudnnBackendFinalize(graph), kNotSupported);
  const std::string log = Pretended::Log();
  EXPECT_NE(log.find("refuse library=libcudnn function=cudnnBackendFinalize: an operation of kind "
                     "42\n"),
            std::string::npos)
      << log;
  void* made = nullptr;
  EXPECT_EQ(cudnnBackendCreateDescriptor(500, &made), kNotSupported);
  EXPECT_EQ(made, nullptr);
}

}  // namespace
}  // namespace drydock::hackcuda::dnn
