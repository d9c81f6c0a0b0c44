#include "capture/hackcuda/device/streams.h"

#include "capture/hackcuda/cudart/runtime.h"
#include "capture/hackcuda/device/log.h"

namespace drydock::hackcuda::cudart {

HACKCUDA_EXPORT int cudaStreamCreateWithPriority(void** stream, unsigned flags, int priority) {
  *stream = MakeStream(priority, flags);
  return kSuccess;
}
HACKCUDA_EXPORT int cudaStreamCreateWithFlags(void** stream, unsigned flags) {
  return cudaStreamCreateWithPriority(stream, flags, 0);
}
HACKCUDA_EXPORT int cudaStreamCreate(void** stream) {
  return cudaStreamCreateWithPriority(stream, 0, 0);
}
HACKCUDA_EXPORT int cudaStreamDestroy(void* stream) {
  DestroyStream(stream);
  return kSuccess;
}
HACKCUDA_EXPORT int cudaStreamGetPriority(const void* stream, int* priority) {
  *priority = StreamOf(stream) != nullptr ? StreamOf(stream)->priority : 0;
  return kSuccess;
}
HACKCUDA_EXPORT int cudaStreamGetFlags(const void* stream, unsigned* flags) {
  *flags = StreamOf(stream) != nullptr ? StreamOf(stream)->flags : 0;
  return kSuccess;
}
HACKCUDA_EXPORT int cudaStreamSynchronize(const void* stream) {
  Log(EntryKind::kSyncStream, {StreamNumber(stream)});
  return kSuccess;
}
HACKCUDA_EXPORT int cudaStreamQuery(const void* stream) {
  Log(EntryKind::kAskStream, {StreamNumber(stream)});
  return kSuccess;
}
HACKCUDA_EXPORT int cudaStreamWaitEvent(const void* stream, const void* event, unsigned) {
  WaitForEvent(stream, event);
  return kSuccess;
}

HACKCUDA_EXPORT int cudaEventCreateWithFlags(void** event, unsigned flags) {
  *event = MakeEvent(flags);
  return kSuccess;
}
HACKCUDA_EXPORT int cudaEventCreate(void** event) { return cudaEventCreateWithFlags(event, 0); }
HACKCUDA_EXPORT int cudaEventDestroy(void* event) {
  delete static_cast<Event*>(event);
  return kSuccess;
}
HACKCUDA_EXPORT int cudaEventRecord(void* event, const void* stream) {
  RecordEvent(event, stream);
  return kSuccess;
}
HACKCUDA_EXPORT int cudaEventRecordWithFlags(void* event, const void* stream, unsigned) {
  RecordEvent(event, stream);
  return kSuccess;
}
HACKCUDA_EXPORT int cudaEventQuery(const void* event) {
  Log(EntryKind::kAskEvent, {static_cast<const Event*>(event)->number});
  return kSuccess;
}
HACKCUDA_EXPORT int cudaEventSynchronize(const void* event) {
  Log(EntryKind::kSyncEvent, {static_cast<const Event*>(event)->number});
  return kSuccess;
}
// The time that the host took between both: the program divides by it.
HACKCUDA_EXPORT int cudaEventElapsedTime(float* milliseconds, const void* start, const void* end) {
  const int64_t passed =
      static_cast<const Event*>(end)->recorded_ns - static_cast<const Event*>(start)->recorded_ns;
  *milliseconds = passed > 1000 ? static_cast<float>(passed) / 1e6F : 1e-3F;
  return kSuccess;
}
HACKCUDA_EXPORT int cudaEventElapsedTime_v2(float* milliseconds, const void* start,
                                            const void* end) {
  return cudaEventElapsedTime(milliseconds, start, end);
}

}  // namespace drydock::hackcuda::cudart
