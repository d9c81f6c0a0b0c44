// libcudnn: its handle and version. Its operations are refused: PyTorch then takes kernels of its
// own where it has some.
#include <cstddef>

#include "capture/hackcuda/device/exports.h"

namespace drydock::hackcuda {
namespace {

enum Status : int { kSuccess = 0, kBadParameter = 2000 };

struct Handle {
  void* stream = nullptr;
};

// 91002 is 9.10.2.
constexpr int kMajor = 10000, kMinor = 100;

}  // namespace

HACKCUDA_EXPORT size_t cudnnGetVersion() { return static_cast<size_t>(hackcuda_version); }
HACKCUDA_EXPORT int cudnnGetProperty(int which, int* value) {
  const int parts[] = {hackcuda_version / kMajor, hackcuda_version % kMajor / kMinor,
                       hackcuda_version % kMinor};
  if (which < 0 || which > 2) return kBadParameter;
  *value = parts[which];
  return kSuccess;
}
HACKCUDA_EXPORT int cudnnCreate(void** handle) {
  *handle = new Handle;
  return kSuccess;
}
HACKCUDA_EXPORT int cudnnDestroy(void* handle) {
  delete static_cast<Handle*>(handle);
  return kSuccess;
}
HACKCUDA_EXPORT int cudnnSetStream(void* handle, void* stream) {
  static_cast<Handle*>(handle)->stream = stream;
  return kSuccess;
}
HACKCUDA_EXPORT int cudnnGetStream(void* handle, void** stream) {
  *stream = static_cast<Handle*>(handle)->stream;
  return kSuccess;
}

}  // namespace drydock::hackcuda
