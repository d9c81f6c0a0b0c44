// Convolutions by cuDNN's older interface. One algorithm does each of them, without a workspace.
#include "capture/hackcuda/dnn/handle.h"
#include "capture/hackcuda/dnn/tensors.h"
#include "capture/hackcuda/dnn/work.h"
#include "capture/hackcuda/products/product.h"

namespace drydock::hackcuda::dnn {
namespace {

// cudnnConvolution...AlgoPerf_t.
struct Performance {
  int algorithm, status;
  float milliseconds;
  size_t workspace_bytes;
  int is_deterministic, math;
  int reserved[3];
};
static_assert(sizeof(Performance) == 48);

// IMPLICIT_PRECOMP_GEMM forward, ALGO_1 backward.
constexpr int kAlgorithm = 1;

int Answer(const void* setting, int asked, int* count, Performance* results) {
  *count = asked > 0 ? 1 : 0;
  if (asked <= 0) return kSuccess;
  *results = {};
  results->algorithm = kAlgorithm;
  results->milliseconds = 1;
  results->is_deterministic = 1;
  results->math = static_cast<const ConvolutionSetting*>(setting)->math;
  return kSuccess;
}

int NoWorkspace(size_t* bytes) {
  *bytes = 0;
  return kSuccess;
}

int ComputeOf(const ConvolutionSetting& setting, int type_in) {
  if (setting.type == 1) return kComputeFp64;
  if (setting.type == 2) return kComputeFp16;
  return type_in == 0 && setting.math != kWithoutTensorCores ? kComputeTf32 : kComputeFp32;
}

int Run(const void* handle, Direction direction, const void* x, const void* w, const void* y,
        const void* convolution, int64_t other_bytes = 0) {
  const Tensor &in = TensorOf(x), &kernel = TensorOf(w), &out = TensorOf(y);
  const auto& setting = *static_cast<const ConvolutionSetting*>(convolution);
  if (setting.dimensions > Convolution::kMaxDimensions) {
    return RefuseDnn("cudnnConvolution", "a convolution in more than three dimensions");
  }
  Convolution c;
  c.direction = direction;
  c.batch = in.extents[0];
  c.groups = setting.groups;
  c.in_channels = in.extents[1];
  c.out_channels = out.extents[1];
  c.dimensions = setting.dimensions;
  for (int i = 0; i < setting.dimensions; ++i) {
    c.in[i] = in.extents[2 + i];
    c.kernel[i] = kernel.extents[2 + i];
    c.out[i] = out.extents[2 + i];
    c.stride[i] = setting.stride[i];
    c.dilation[i] = setting.dilation[i];
  }
  c.type_in = DataTypeOf((direction == Direction::kDataGradient ? out : in).type);
  c.type_out = DataTypeOf((direction == Direction::kForward        ? out
                           : direction == Direction::kDataGradient ? in
                                                                   : kernel)
                              .type);
  c.compute = ComputeOf(setting, c.type_in);
  c.channels_last = kernel.format == kChannelsLast;
  c.other_bytes = other_bytes;
  LogConvolution(c, StreamOfHandle(handle));
  return kSuccess;
}

}  // namespace

HACKCUDA_EXPORT int cudnnGetConvolutionForwardAlgorithm_v7(void*, const void*, const void*,
                                                           const void* setting, const void*,
                                                           int asked, int* count,
                                                           Performance* results) {
  return Answer(setting, asked, count, results);
}
HACKCUDA_EXPORT int cudnnGetConvolutionBackwardDataAlgorithm_v7(void*, const void*, const void*,
                                                                const void* setting, const void*,
                                                                int asked, int* count,
                                                                Performance* results) {
  return Answer(setting, asked, count, results);
}
HACKCUDA_EXPORT int cudnnGetConvolutionBackwardFilterAlgorithm_v7(void*, const void*, const void*,
                                                                  const void* setting, const void*,
                                                                  int asked, int* count,
                                                                  Performance* results) {
  return Answer(setting, asked, count, results);
}
HACKCUDA_EXPORT int cudnnFindConvolutionForwardAlgorithmEx(void*, const void*, const void*,
                                                           const void*, const void*,
                                                           const void* setting, const void*, void*,
                                                           int asked, int* count,
                                                           Performance* results, void*, size_t) {
  return Answer(setting, asked, count, results);
}
HACKCUDA_EXPORT int cudnnFindConvolutionBackwardDataAlgorithmEx(
    void*, const void*, const void*, const void*, const void*, const void* setting, const void*,
    void*, int asked, int* count, Performance* results, void*, size_t) {
  return Answer(setting, asked, count, results);
}
HACKCUDA_EXPORT int cudnnFindConvolutionBackwardFilterAlgorithmEx(
    void*, const void*, const void*, const void*, const void*, const void* setting, const void*,
    void*, int asked, int* count, Performance* results, void*, size_t) {
  return Answer(setting, asked, count, results);
}
HACKCUDA_EXPORT int cudnnGetConvolutionForwardWorkspaceSize(void*, const void*, const void*,
                                                            const void*, const void*, int,
                                                            size_t* bytes) {
  return NoWorkspace(bytes);
}
HACKCUDA_EXPORT int cudnnGetConvolutionBackwardDataWorkspaceSize(void*, const void*, const void*,
                                                                 const void*, const void*, int,
                                                                 size_t* bytes) {
  return NoWorkspace(bytes);
}
HACKCUDA_EXPORT int cudnnGetConvolutionBackwardFilterWorkspaceSize(void*, const void*, const void*,
                                                                   const void*, const void*, int,
                                                                   size_t* bytes) {
  return NoWorkspace(bytes);
}

HACKCUDA_EXPORT int cudnnConvolutionForward(void* handle, const void*, const void* x, const void*,
                                            const void* w, const void*, const void* setting, int,
                                            void*, size_t, const void*, const void* y, void*) {
  return Run(handle, Direction::kForward, x, w, y, setting);
}
HACKCUDA_EXPORT int cudnnConvolutionBackwardData(void* handle, const void*, const void* w,
                                                 const void*, const void* dy, const void*,
                                                 const void* setting, int, void*, size_t,
                                                 const void*, const void* dx, void*) {
  return Run(handle, Direction::kDataGradient, dx, w, dy, setting);
}
HACKCUDA_EXPORT int cudnnConvolutionBackwardFilter(void* handle, const void*, const void* x,
                                                   const void*, const void* dy, const void*,
                                                   const void* setting, int, void*, size_t,
                                                   const void*, const void* dw, void*) {
  return Run(handle, Direction::kWeightGradient, x, dw, dy, setting);
}
HACKCUDA_EXPORT int cudnnConvolutionBiasActivationForward(void* handle, const void*, const void* x,
                                                          const void*, const void* w, const void*,
                                                          const void* setting, int, void*, size_t,
                                                          const void*, const void* z, const void*,
                                                          const void* bias, const void*,
                                                          const void*, const void* y, void*) {
  return Run(handle, Direction::kForward, x, w, y, setting,
             TensorOf(z).bytes() + TensorOf(bias).bytes());
}

}  // namespace drydock::hackcuda::dnn
