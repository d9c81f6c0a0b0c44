#include "capture/hackcuda/device/streams.h"

#include "capture/hackcuda/device/exports.h"
#include "capture/hackcuda/device/log.h"
#include "capture/hackcuda/driver/abi.h"

namespace drydock::hackcuda::driver {

HACKCUDA_EXPORT int cuStreamCreateWithPriority(void** stream, unsigned flags, int priority) {
  *stream = MakeStream(priority, flags);
  return kSuccess;
}
HACKCUDA_EXPORT int cuStreamCreate(void** stream, unsigned flags) {
  return cuStreamCreateWithPriority(stream, flags, 0);
}
HACKCUDA_EXPORT int cuStreamDestroy_v2(void* stream) {
  DestroyStream(stream);
  return kSuccess;
}
HACKCUDA_EXPORT int cuStreamSynchronize(const void* stream) {
  Log(EntryKind::kSyncStream, {StreamNumber(stream)});
  return kSuccess;
}
HACKCUDA_EXPORT int cuStreamQuery(const void* stream) {
  Log(EntryKind::kAskStream, {StreamNumber(stream)});
  return kSuccess;
}
HACKCUDA_EXPORT int cuStreamIsCapturing(const void* stream, int* status) {
  *status = CaptureOf(stream) != 0 ? 1 : 0;
  return kSuccess;
}
HACKCUDA_EXPORT int cuStreamWaitEvent(const void* stream, const void* event, unsigned) {
  WaitForEvent(stream, event);
  return kSuccess;
}
HACKCUDA_EXPORT int cuEventCreate(void** event, unsigned flags) {
  *event = MakeEvent(flags);
  return kSuccess;
}
HACKCUDA_EXPORT int cuEventDestroy_v2(void* event) {
  delete static_cast<Event*>(event);
  return kSuccess;
}
HACKCUDA_EXPORT int cuEventRecord(void* event, const void* stream) {
  RecordEvent(event, stream);
  return kSuccess;
}
HACKCUDA_EXPORT int cuEventQuery(const void* event) {
  Log(EntryKind::kAskEvent, {static_cast<const Event*>(event)->number});
  return kSuccess;
}
HACKCUDA_EXPORT int cuEventSynchronize(const void* event) {
  Log(EntryKind::kSyncEvent, {static_cast<const Event*>(event)->number});
  return kSuccess;
}

}  // namespace drydock::hackcuda::driver
