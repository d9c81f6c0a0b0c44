// libcupti: profilers start and stop, and learn of no work of the GPU, as none is done.
#include <cstddef>
#include <cstdint>

#include "capture/hackcuda/device/exports.h"
#include "capture/hackcuda/device/log.h"

namespace drydock::hackcuda {
namespace {

enum Result : int { kSuccess = 0, kInvalidParameter = 1, kNoMoreRecords = 12 };

}  // namespace

HACKCUDA_EXPORT int cuptiGetResultString(int result, const char** text) {
  if (text == nullptr) return kInvalidParameter;
  *text = result == kSuccess         ? "CUPTI_SUCCESS"
          : result == kNoMoreRecords ? "CUPTI_ERROR_MAX_LIMIT_REACHED"
                                     : "not available in a capture";
  return kSuccess;
}
HACKCUDA_EXPORT int cuptiGetVersion(uint32_t* version) {
  *version = static_cast<uint32_t>(hackcuda_version) * 10;  // 120800 of CUDA 12.8
  return kSuccess;
}
HACKCUDA_EXPORT int cuptiSubscribe(void** subscriber, void*, void*) {
  static char own;
  *subscriber = &own;
  return kSuccess;
}
HACKCUDA_EXPORT int cuptiUnsubscribe(void*) { return kSuccess; }
HACKCUDA_EXPORT int cuptiFinalize() { return kSuccess; }
HACKCUDA_EXPORT int cuptiEnableCallback(uint32_t, void*, int, uint32_t) { return kSuccess; }
HACKCUDA_EXPORT int cuptiEnableDomain(uint32_t, void*, int) { return kSuccess; }

HACKCUDA_EXPORT int cuptiActivityRegisterCallbacks(void*, void*) { return kSuccess; }
HACKCUDA_EXPORT int cuptiActivityRegisterTimestampCallback(void*) { return kSuccess; }
HACKCUDA_EXPORT int cuptiActivitySetAttribute(int, size_t*, void*) { return kSuccess; }
HACKCUDA_EXPORT int cuptiActivityEnable(int) {
  Refuse("libcupti", "work of the GPU in a profile");
  return kSuccess;
}
HACKCUDA_EXPORT int cuptiActivityDisable(int) { return kSuccess; }
HACKCUDA_EXPORT int cuptiActivityEnableDriverApi(uint32_t, uint8_t) { return kSuccess; }
HACKCUDA_EXPORT int cuptiActivityEnableRuntimeApi(uint32_t, uint8_t) { return kSuccess; }
HACKCUDA_EXPORT int cuptiActivityFlushAll(uint32_t) { return kSuccess; }
HACKCUDA_EXPORT int cuptiActivityGetNextRecord(void*, size_t, void**) { return kNoMoreRecords; }
HACKCUDA_EXPORT int cuptiActivityGetNumDroppedRecords(void*, uint32_t, size_t* dropped) {
  *dropped = 0;
  return kSuccess;
}
HACKCUDA_EXPORT int cuptiActivityPushExternalCorrelationId(int, uint64_t) { return kSuccess; }
HACKCUDA_EXPORT int cuptiActivityPopExternalCorrelationId(int, uint64_t* last) {
  if (last != nullptr) *last = 0;
  return kSuccess;
}

}  // namespace drydock::hackcuda
