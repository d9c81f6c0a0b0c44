// "Does the log have the operations of cuDNN's older interface?"
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "capture/hackcuda/dnn/abi.h"
#include "capture/hackcuda/testing/pretended.h"

// Of the stand-in.
extern "C" {
int cudnnCreate(void** handle);
int cudnnCreateTensorDescriptor(void**);
int cudnnSetTensorNdDescriptor(void*, int type, int dimensions, const int*, const int*);
int cudnnGetTensorNdDescriptor(const void*, int asked, int* type, int* dimensions, int*, int*);
int cudnnCreateFilterDescriptor(void**);
int cudnnSetFilterNdDescriptor(void*, int type, int format, int dimensions, const int*);
int cudnnCreateConvolutionDescriptor(void**);
int cudnnSetConvolutionNdDescriptor(void*, int, const int*, const int*, const int*, int, int);
int cudnnSetConvolutionGroupCount(void*, int groups);
int cudnnGetConvolutionForwardAlgorithm_v7(void*, const void*, const void*, const void*,
                                           const void*, int asked, int* count, void* results);
int cudnnConvolutionForward(void*, const void*, const void*, const void*, const void*, const void*,
                            const void*, int, void*, size_t, const void*, const void*, void*);
int cudnnConvolutionBackwardFilter(void*, const void*, const void*, const void*, const void*,
                                   const void*, const void*, int, void*, size_t, const void*,
                                   const void*, void*);
int cudnnCreateRNNDescriptor(void**);
int cudnnSetRNNDescriptor_v8(void*, int, int cell, int bias, int direction, int, int type, int, int,
                             int32_t input, int32_t hidden, int32_t projection, int32_t layers,
                             void*, uint32_t);
int cudnnGetRNNWeightSpaceSize(void*, const void*, size_t*);
int cudnnGetRNNWeightParams(void*, const void*, int32_t, size_t, const void*, int32_t, void*,
                            void**, void*, void**);
extern const int hackcuda_version __attribute__((visibility("hidden")));
const int hackcuda_version = 91002;
}

namespace drydock::hackcuda::dnn {
namespace {

void* MakeTensor(std::vector<int> extents, int type) {
  void* made = nullptr;
  EXPECT_EQ(cudnnCreateTensorDescriptor(&made), kSuccess);
  const std::vector<int> strides(extents.size(), 1);
  EXPECT_EQ(cudnnSetTensorNdDescriptor(made, type, static_cast<int>(extents.size()), extents.data(),
                                       strides.data()),
            kSuccess);
  return made;
}

TEST(Layers, Convolution) {
  void *handle = nullptr, *w = nullptr, *setting = nullptr;
  cudnnCreate(&handle);
  void *x = MakeTensor({4, 16, 64, 64}, 2), *y = MakeTensor({4, 32, 32, 32}, 2);
  cudnnCreateFilterDescriptor(&w);
  const int kernel[] = {32, 8, 3, 3}, padding[] = {1, 1}, stride[] = {2, 2}, dilation[] = {1, 1};
  cudnnSetFilterNdDescriptor(w, 2, kChannelsLast, 4, kernel);
  cudnnCreateConvolutionDescriptor(&setting);
  cudnnSetConvolutionNdDescriptor(setting, 2, padding, stride, dilation, 0, 0);
  cudnnSetConvolutionGroupCount(setting, 2);
  char results[48] = {};
  int count = -1;
  EXPECT_EQ(cudnnGetConvolutionForwardAlgorithm_v7(handle, x, w, setting, y, 8, &count, results),
            kSuccess);
  EXPECT_EQ(count, 1);
  EXPECT_EQ(results[0], 1);  // the algorithm
  cudnnConvolutionForward(handle, nullptr, x, nullptr, w, nullptr, setting, 1, nullptr, 0, nullptr,
                          y, nullptr);
  cudnnConvolutionBackwardFilter(handle, nullptr, x, nullptr, y, nullptr, setting, 1, nullptr, 0,
                                 nullptr, w, nullptr);
  const std::string rest =
      " batch=4 groups=2 in_channels=16 out_channels=32 dimensions=2 in_1=64 in_2=64 in_3=1 "
      "kernel_1=3 kernel_2=3 kernel_3=1 stride_1=2 stride_2=2 stride_3=1 dilation_1=1 "
      "dilation_2=1 dilation_3=1 out_1=32 out_2=32 out_3=1 type_in=2 type_out=2 compute=68 "
      "channels_last=1 other_bytes=0 stream=0\n";
  EXPECT_EQ(Pretended::Log(), "t0 convolution library=cudnn direction=0" + rest +
                                  "t0 convolution library=cudnn direction=2" + rest);
}

TEST(Layers, WeightsOfAnLstmLieWherePyTorchLooksForThem) {
  void *rnn = nullptr, *matrix = MakeTensor({1}, 0), *bias = MakeTensor({1}, 0);
  cudnnCreateRNNDescriptor(&rnn);
  cudnnSetRNNDescriptor_v8(rnn, 0, 2, 2, 1, 0, 0, 0, 0, 32, 64, 64, 2, nullptr, 0);
  // Two layers in two directions, four gates, two biases.
  const size_t matrices = 2 * 4 * 64 * (32 + 64) + 2 * 4 * 64 * (128 + 64);
  size_t bytes = 0;
  EXPECT_EQ(cudnnGetRNNWeightSpaceSize(nullptr, rnn, &bytes), kSuccess);
  EXPECT_EQ(bytes, (matrices + 4 * 8 * 64) * sizeof(float));
  std::vector<float> weights(bytes / sizeof(float));
  void *at = nullptr, *bias_at = nullptr;
  // The second gate's matrix of the state, of the second layer's first direction.
  EXPECT_EQ(cudnnGetRNNWeightParams(nullptr, rnn, 2, bytes, weights.data(), 5, matrix, &at, bias,
                                    &bias_at),
            kSuccess);
  EXPECT_EQ(static_cast<float*>(at) - weights.data(),
            2 * 4 * 64 * (32 + 64) + 4 * 64 * 128 + 64 * 64);
  EXPECT_EQ(static_cast<float*>(bias_at) - weights.data(),
            static_cast<ptrdiff_t>(matrices) + 2 * 8 * 64 + 5 * 64);
  int type = -1, dimensions = 0, extents[8] = {}, strides[8] = {};
  cudnnGetTensorNdDescriptor(matrix, 8, &type, &dimensions, extents, strides);
  EXPECT_EQ(dimensions, 3);
  EXPECT_EQ(extents[1], 64);
  EXPECT_EQ(extents[2], 64);
  // Programs need not ask for biases.
  EXPECT_EQ(cudnnGetRNNWeightParams(nullptr, rnn, 0, bytes, weights.data(), 0, matrix, &at, nullptr,
                                    nullptr),
            kSuccess);
  EXPECT_EQ(at, weights.data());
}

}  // namespace
}  // namespace drydock::hackcuda::dnn
