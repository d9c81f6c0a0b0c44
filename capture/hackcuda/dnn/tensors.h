// Descriptors of cuDNN's older interface.
#ifndef DRYDOCK_CAPTURE_HACKCUDA_DNN_TENSORS_H_
#define DRYDOCK_CAPTURE_HACKCUDA_DNN_TENSORS_H_

#include <cstdint>

#include "capture/hackcuda/dnn/abi.h"

namespace drydock::hackcuda::dnn {

// CUDNN_DIM_MAX.
inline constexpr int kMaxDimensions = 8;

// cudnnTensorDescriptor_t; cudnnFilterDescriptor_t, whose format takes the place of strides.
struct Tensor {
  int type = 0, dimensions = 0;
  int extents[kMaxDimensions] = {}, strides[kMaxDimensions] = {};
  int format = 0;

  int64_t elements() const {
    int64_t product = 1;
    for (int i = 0; i < dimensions; ++i) product *= extents[i];
    return product;
  }
  int64_t bytes() const { return elements() * BitsOf(type) / 8; }
};
inline const Tensor& TensorOf(const void* descriptor) {
  return *static_cast<const Tensor*>(descriptor);
}

// cudnnConvolutionDescriptor_t.
struct ConvolutionSetting {
  int dimensions = 0;
  int padding[kMaxDimensions] = {}, stride[kMaxDimensions] = {}, dilation[kMaxDimensions] = {};
  int type = 0;  // in which it computes
  int groups = 1;
  int math = 0;  // cudnnMathType_t
};

}  // namespace drydock::hackcuda::dnn

#endif  // DRYDOCK_CAPTURE_HACKCUDA_DNN_TENSORS_H_
