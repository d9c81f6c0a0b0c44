// Batch normalization by cuDNN's older interface: kernels that memory limits.
#include "capture/hackcuda/dnn/handle.h"
#include "capture/hackcuda/dnn/tensors.h"
#include "capture/hackcuda/dnn/work.h"

namespace drydock::hackcuda::dnn {
namespace {

// cudnnBatchNormOps_t.
constexpr int kNormAddActivation = 2;

int Nothing(size_t* bytes) {
  *bytes = 0;
  return kSuccess;
}

int Run(const void* handle, const char* operation, int64_t bytes) {
  LogTraffic("cudnn", operation, bytes, StreamOfHandle(handle));
  return kSuccess;
}

}  // namespace

HACKCUDA_EXPORT int cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize(
    void*, int, int, const void*, const void*, const void*, const void*, const void*,
    size_t* bytes) {
  return Nothing(bytes);
}
HACKCUDA_EXPORT int cudnnGetBatchNormalizationBackwardExWorkspaceSize(void*, int, int, const void*,
                                                                      const void*, const void*,
                                                                      const void*, const void*,
                                                                      const void*, const void*,
                                                                      size_t* bytes) {
  return Nothing(bytes);
}
HACKCUDA_EXPORT int cudnnGetBatchNormalizationTrainingExReserveSpaceSize(void*, int, int operations,
                                                                         const void*, const void* x,
                                                                         size_t* bytes) {
  // A bit of each element says whether the activation passed it.
  *bytes = operations == 0 ? 0 : static_cast<size_t>((TensorOf(x).elements() + 7) / 8);
  return kSuccess;
}

// Statistics take a pass over x before the pass that writes y.
HACKCUDA_EXPORT int cudnnBatchNormalizationForwardTrainingEx(
    void* handle, int, int operations, const void*, const void*, const void* x, const void*,
    const void*, const void*, const void* y, void*, const void*, const void*, const void*, double,
    void*, void*, double, void*, void*, const void*, void*, size_t, void*, size_t) {
  const int64_t bytes = TensorOf(x).bytes();
  return Run(handle, "batch-norm",
             2 * bytes + TensorOf(y).bytes() + (operations == kNormAddActivation ? bytes : 0));
}
HACKCUDA_EXPORT int cudnnBatchNormalizationForwardInference(void* handle, int, const void*,
                                                            const void*, const void* x, const void*,
                                                            const void* y, void*, const void*,
                                                            const void*, const void*, const void*,
                                                            const void*, double) {
  return Run(handle, "batch-norm", TensorOf(x).bytes() + TensorOf(y).bytes());
}
// Sums over x and dy come before the pass that reads both again and writes dx.
HACKCUDA_EXPORT int cudnnBatchNormalizationBackwardEx(
    void* handle, int, int operations, const void*, const void*, const void*, const void*,
    const void* x, const void*, const void*, const void*, const void* dy, const void*, const void*,
    void*, const void* dx, void*, const void*, const void*, const void*, void*, void*, double,
    const void*, const void*, const void*, void*, size_t, void*, size_t) {
  const int64_t bytes = TensorOf(dx).bytes();
  return Run(handle, "batch-norm-backward",
             2 * TensorOf(x).bytes() + 2 * TensorOf(dy).bytes() + bytes +
                 (operations == kNormAddActivation ? bytes : 0));
}

}  // namespace drydock::hackcuda::dnn
