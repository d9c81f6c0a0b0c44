// Streams and events: numbers, and the order that the program imposes on them.
#include <atomic>

#include "simccl/hacknccl/cudart/runtime.h"

namespace drydock::cudart {
namespace {

// Handles are unique in the process. The handle of a stream is even if the stream and the default
// stream wait for each other (SetStream in core/nccl/recording.h).
constexpr uint64_t kFirstHandle = 0x100;
std::atomic<uint64_t> next_handle{kFirstHandle};

template <class Handle>
cudaError_t Create(Handle* handle, bool odd) {
  const cudaError_t error = CheckHost();
  if (error == cudaSuccess) {
    *handle = reinterpret_cast<Handle>(next_handle.fetch_add(2) + (odd ? 1 : 0));
  }
  return Return(error);
}

template <class Handle>
cudaError_t Check(Handle handle, uint64_t from) {
  const auto number = reinterpret_cast<uint64_t>(handle);
  const bool given = number >= from && number < next_handle.load();
  return given ? CheckHost() : cudaErrorInvalidResourceHandle;
}
cudaError_t CheckStream(cudaStream_t stream) {
  const bool is_default = reinterpret_cast<uint64_t>(stream) <= 2;
  return is_default ? CheckHost() : Check(stream, kFirstHandle);
}
cudaError_t CheckEvent(cudaEvent_t event) { return Check(event, kFirstHandle); }

cudaError_t LogIf(cudaError_t error, RecordKind kind, cudaStream_t stream, cudaEvent_t event) {
  if (error == cudaSuccess) Log(kind, stream, event);
  return Return(error);
}

}  // namespace

void Log(RecordKind kind, cudaStream_t stream, cudaEvent_t event) {
  if (CheckHost() != cudaSuccess) return;
  RecordEntry entry;
  entry.kind = kind;
  entry.device = static_cast<int16_t>(Recording().device());
  entry.event = reinterpret_cast<uint64_t>(event);
  SetStream(reinterpret_cast<uint64_t>(stream), &entry);
  Recording().log(&entry);
}

}  // namespace drydock::cudart

using drydock::RecordKind;
using drydock::cudart::CheckEvent;
using drydock::cudart::CheckHost;
using drydock::cudart::CheckStream;
using drydock::cudart::Create;
using drydock::cudart::Log;
using drydock::cudart::LogIf;
using drydock::cudart::Return;

extern "C" {

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return Create(stream, (flags & cudaStreamNonBlocking) != 0);
}
cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int) {
  return cudaStreamCreateWithFlags(stream, flags);
}
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = 0;
  *greatest = -5;
  return Return(CheckHost());
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) { return Return(CheckStream(stream)); }
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return LogIf(CheckStream(stream), RecordKind::kStreamSync, stream, nullptr);
}
// All issued work counts as done.
cudaError_t cudaStreamQuery(cudaStream_t stream) { return cudaStreamSynchronize(stream); }
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  const cudaError_t error = CheckStream(stream);
  return LogIf(error != cudaSuccess ? error : CheckEvent(event), RecordKind::kStreamWait, stream,
               event);
}
cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* id) {
  *id = reinterpret_cast<uint64_t>(stream);
  return Return(CheckStream(stream));
}
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  *status = cudaStreamCaptureStatusNone;
  return Return(CheckStream(stream));
}
cudaError_t cudaDeviceSynchronize() {
  return LogIf(CheckHost(), RecordKind::kDeviceSync, nullptr, nullptr);
}
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* argument) {
  const cudaError_t error = CheckStream(stream);
  if (error == cudaSuccess) function(argument);
  return Return(error);
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) { return Create(event, false); }
cudaError_t cudaEventCreate(cudaEvent_t* event) { return Create(event, false); }
cudaError_t cudaEventDestroy(cudaEvent_t event) { return Return(CheckEvent(event)); }
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  const cudaError_t error = CheckStream(stream);
  return LogIf(error != cudaSuccess ? error : CheckEvent(event), RecordKind::kEventRecord, stream,
               event);
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return LogIf(CheckEvent(event), RecordKind::kEventSync, nullptr, event);
}
cudaError_t cudaEventQuery(cudaEvent_t event) { return cudaEventSynchronize(event); }
// No time passes while a program is recorded.
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t from, cudaEvent_t to) {
  const cudaError_t error = CheckEvent(from);
  *milliseconds = 0;
  return Return(error != cudaSuccess ? error : CheckEvent(to));
}

}  // extern "C"
