// Shared by the files of the CUDA runtime stand-in, the libcudart.so of recorded programs. Devices
// are those of the virtual host, memory is address space without content, and streams and events
// are numbers whose order goes into the recording (core/nccl/recording.h). No data moves and no
// kernel runs. NCCL itself uses the runtime inside libnccl.so.2 (fake_cuda.cc), so that its own
// actions are not recorded as the program's.
//
// Errors are CUDA's codes. Thread-safe, like CUDA.
#ifndef DRYDOCK_SIMCCL_HACKNCCL_CUDART_RUNTIME_H_
#define DRYDOCK_SIMCCL_HACKNCCL_CUDART_RUNTIME_H_

#include <cuda_runtime_api.h>

#include "core/nccl/recording.h"

namespace drydock::cudart {

const RecordingApi& Recording();

// Every function returns its error through this one, so that cudaGetLastError can repeat it.
cudaError_t Return(cudaError_t error);

// Returns cudaErrorNoDevice if there is no launcher. Prints the reason once, on stderr.
cudaError_t CheckHost();
cudaError_t CheckDevice(int device);

// Records an action of the program on a stream and an event of the current device.
void Log(RecordKind kind, cudaStream_t stream, cudaEvent_t event);

}  // namespace drydock::cudart

#endif  // DRYDOCK_SIMCCL_HACKNCCL_CUDART_RUNTIME_H_
