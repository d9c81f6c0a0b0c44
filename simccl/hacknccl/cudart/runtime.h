// What the files of the CUDA runtime stand-in share. It is the libcudart.so of recorded programs:
// devices are those of the virtual host, memory is address space nobody fills, streams and events
// are numbers whose order goes into the recording (core/nccl/recording.h). No data moves and no
// kernel runs. NCCL itself does not come here: libnccl.so.2 has a runtime of its own inside
// (fake_cuda.cc), so that what it does between a program's calls is not taken for the program's.
//
// Errors are the codes CUDA would give. Thread-safe, as CUDA is.
#ifndef DRYDOCK_SIMCCL_HACKNCCL_CUDART_RUNTIME_H_
#define DRYDOCK_SIMCCL_HACKNCCL_CUDART_RUNTIME_H_

#include <cuda_runtime_api.h>

#include "core/nccl/recording.h"

namespace drydock::cudart {

const RecordingApi& Recording();

// Every function returns through this: cudaGetLastError repeats the thread's last failure.
cudaError_t Return(cudaError_t error);

// cudaErrorNoDevice where no launcher is at the other end; the reason is said once, on stderr.
cudaError_t CheckHost();
cudaError_t CheckDevice(int device);

// Writes what the program did to streams and events of the current device.
void Log(RecordKind kind, cudaStream_t stream, cudaEvent_t event);

}  // namespace drydock::cudart

#endif  // DRYDOCK_SIMCCL_HACKNCCL_CUDART_RUNTIME_H_
