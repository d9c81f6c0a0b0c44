// Shared by the files of libcudart's stand-in.
#ifndef DRYDOCK_CAPTURE_HACKCUDA_CUDART_RUNTIME_H_
#define DRYDOCK_CAPTURE_HACKCUDA_CUDART_RUNTIME_H_

#include "capture/hackcuda/cudart/abi.h"
#include "capture/hackcuda/device/exports.h"

namespace drydock::hackcuda::cudart {

// Every function returns its error through this one, so that cudaGetLastError can repeat it.
Error Return(Error error);

}  // namespace drydock::hackcuda::cudart

#endif  // DRYDOCK_CAPTURE_HACKCUDA_CUDART_RUNTIME_H_
