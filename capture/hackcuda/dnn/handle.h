// Shared by the files of libcudnn's stand-in.
#ifndef DRYDOCK_CAPTURE_HACKCUDA_DNN_HANDLE_H_
#define DRYDOCK_CAPTURE_HACKCUDA_DNN_HANDLE_H_

#include "capture/hackcuda/device/exports.h"
#include "capture/hackcuda/dnn/abi.h"

namespace drydock::hackcuda::dnn {

// cudnnHandle_t.
struct Handle {
  void* stream = nullptr;
};
inline const void* StreamOfHandle(const void* handle) {
  return static_cast<const Handle*>(handle)->stream;
}

// Logs that this is not understood, and keeps it for cudnnGetLastErrorString. Returns the status.
Status RefuseDnn(const char* function, const char* what, Status status = kNotSupported);

}  // namespace drydock::hackcuda::dnn

#endif  // DRYDOCK_CAPTURE_HACKCUDA_DNN_HANDLE_H_
