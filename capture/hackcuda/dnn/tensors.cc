#include "capture/hackcuda/dnn/tensors.h"

#include <algorithm>
#include <cstddef>

#include "capture/hackcuda/dnn/handle.h"

namespace drydock::hackcuda::dnn {
namespace {

// Descriptors that programs only pass on.
struct Opaque {
  char unused = 0;
};

// The states of cuDNN's random numbers, whose size NVIDIA does not publish.
constexpr size_t kDropoutStates = size_t{1} << 20;

template <typename Own>
int Make(void** descriptor) {
  *descriptor = new Own;
  return kSuccess;
}
template <typename Own>
int Unmake(void* descriptor) {
  delete static_cast<Own*>(descriptor);
  return kSuccess;
}

}  // namespace

HACKCUDA_EXPORT int cudnnCreateTensorDescriptor(void** descriptor) {
  return Make<Tensor>(descriptor);
}
HACKCUDA_EXPORT int cudnnDestroyTensorDescriptor(void* descriptor) {
  return Unmake<Tensor>(descriptor);
}
HACKCUDA_EXPORT int cudnnSetTensorNdDescriptor(void* descriptor, int type, int dimensions,
                                               const int* extents, const int* strides) {
  if (dimensions < 1 || dimensions > kMaxDimensions) return kBadParameter;
  auto* own = static_cast<Tensor*>(descriptor);
  *own = {};
  own->type = type;
  own->dimensions = dimensions;
  std::copy(extents, extents + dimensions, own->extents);
  std::copy(strides, strides + dimensions, own->strides);
  return kSuccess;
}
HACKCUDA_EXPORT int cudnnGetTensorNdDescriptor(const void* descriptor, int asked, int* type,
                                               int* dimensions, int* extents, int* strides) {
  const Tensor& own = TensorOf(descriptor);
  *type = own.type;
  *dimensions = own.dimensions;
  const int given = std::clamp(asked, 0, own.dimensions);
  std::copy(own.extents, own.extents + given, extents);
  std::copy(own.strides, own.strides + given, strides);
  return kSuccess;
}

HACKCUDA_EXPORT int cudnnCreateFilterDescriptor(void** descriptor) {
  return Make<Tensor>(descriptor);
}
HACKCUDA_EXPORT int cudnnDestroyFilterDescriptor(void* descriptor) {
  return Unmake<Tensor>(descriptor);
}
HACKCUDA_EXPORT int cudnnSetFilterNdDescriptor(void* descriptor, int type, int format,
                                               int dimensions, const int* extents) {
  if (dimensions < 1 || dimensions > kMaxDimensions) return kBadParameter;
  auto* own = static_cast<Tensor*>(descriptor);
  *own = {};
  own->type = type;
  own->dimensions = dimensions;
  own->format = format;
  std::copy(extents, extents + dimensions, own->extents);
  return kSuccess;
}
HACKCUDA_EXPORT int cudnnGetFilterNdDescriptor(const void* descriptor, int asked, int* type,
                                               int* format, int* dimensions, int* extents) {
  const Tensor& own = TensorOf(descriptor);
  *type = own.type;
  *format = own.format;
  *dimensions = own.dimensions;
  std::copy(own.extents, own.extents + std::clamp(asked, 0, own.dimensions), extents);
  return kSuccess;
}

HACKCUDA_EXPORT int cudnnCreateConvolutionDescriptor(void** descriptor) {
  return Make<ConvolutionSetting>(descriptor);
}
HACKCUDA_EXPORT int cudnnDestroyConvolutionDescriptor(void* descriptor) {
  return Unmake<ConvolutionSetting>(descriptor);
}
HACKCUDA_EXPORT int cudnnSetConvolutionNdDescriptor(void* descriptor, int dimensions,
                                                    const int* padding, const int* stride,
                                                    const int* dilation, int, int type) {
  if (dimensions < 1 || dimensions > kMaxDimensions) return kBadParameter;
  auto* own = static_cast<ConvolutionSetting*>(descriptor);
  own->dimensions = dimensions;
  std::copy(padding, padding + dimensions, own->padding);
  std::copy(stride, stride + dimensions, own->stride);
  std::copy(dilation, dilation + dimensions, own->dilation);
  own->type = type;
  return kSuccess;
}
HACKCUDA_EXPORT int cudnnSetConvolutionGroupCount(void* descriptor, int groups) {
  static_cast<ConvolutionSetting*>(descriptor)->groups = groups;
  return kSuccess;
}
HACKCUDA_EXPORT int cudnnSetConvolutionMathType(void* descriptor, int math) {
  static_cast<ConvolutionSetting*>(descriptor)->math = math;
  return kSuccess;
}

HACKCUDA_EXPORT int cudnnCreateActivationDescriptor(void** descriptor) {
  return Make<Opaque>(descriptor);
}
HACKCUDA_EXPORT int cudnnDestroyActivationDescriptor(void* descriptor) {
  return Unmake<Opaque>(descriptor);
}
HACKCUDA_EXPORT int cudnnSetActivationDescriptor(void*, int, int, double) { return kSuccess; }

HACKCUDA_EXPORT int cudnnCreateDropoutDescriptor(void** descriptor) {
  return Make<Opaque>(descriptor);
}
HACKCUDA_EXPORT int cudnnDestroyDropoutDescriptor(void* descriptor) {
  return Unmake<Opaque>(descriptor);
}
HACKCUDA_EXPORT int cudnnDropoutGetStatesSize(void*, size_t* bytes) {
  *bytes = kDropoutStates;
  return kSuccess;
}
HACKCUDA_EXPORT int cudnnSetDropoutDescriptor(void*, void*, float, void*, size_t,
                                              unsigned long long) {
  return kSuccess;
}
HACKCUDA_EXPORT int cudnnRestoreDropoutDescriptor(void*, void*, float, void*, size_t,
                                                  unsigned long long) {
  return kSuccess;
}

}  // namespace drydock::hackcuda::dnn
