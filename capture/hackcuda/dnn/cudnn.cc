// libcudnn: its handle, version and errors.
#include <cstdio>
#include <string>

#include "capture/hackcuda/device/log.h"
#include "capture/hackcuda/dnn/handle.h"

namespace drydock::hackcuda::dnn {
namespace {

// 91002 is 9.10.2.
constexpr int kMajor = 10000, kMinor = 100;

thread_local std::string last_error;

}  // namespace

Status RefuseDnn(const char* function, const char* what, Status status) {
  last_error = std::string(function) + ": " + what;
  Refuse("libcudnn", last_error.c_str());
  return status;
}

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
HACKCUDA_EXPORT const char* cudnnGetErrorString(int status) {
  switch (status) {
    case kSuccess:
      return "CUDNN_STATUS_SUCCESS";
    case kBadParameter:
      return "CUDNN_STATUS_BAD_PARAM";
    case kNotSupported:
      return "CUDNN_STATUS_NOT_SUPPORTED";
    default:
      return "CUDNN_UNKNOWN_STATUS";
  }
}
HACKCUDA_EXPORT void cudnnGetLastErrorString(char* message, size_t bytes) {
  if (bytes > 0) snprintf(message, bytes, "%s", last_error.c_str());
}

}  // namespace drydock::hackcuda::dnn
