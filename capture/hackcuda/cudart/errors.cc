#include "capture/hackcuda/cudart/runtime.h"
#include "capture/hackcuda/device/entry_points.h"

namespace drydock::hackcuda::cudart {
namespace {

thread_local Error last = kSuccess;

struct ErrorText {
  Error error;
  const char *name, *text;
};
constexpr ErrorText kTexts[] = {
    {kSuccess, "cudaSuccess", "no error"},
    {kInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {kMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {kNoDevice, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    {kInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {kInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {kNotReady, "cudaErrorNotReady", "device not ready"},
    {kNotSupported, "cudaErrorNotSupported",
     "operation not supported: a capture does not know this function"},
};
const ErrorText& TextOf(int error) {
  for (const ErrorText& text : kTexts) {
    if (text.error == error) return text;
  }
  static constexpr ErrorText kUnknown = {kSuccess, "cudaErrorUnknown", "unknown error"};
  return kUnknown;
}

}  // namespace

Error Return(Error error) {
  if (error != kSuccess) last = error;
  return error;
}

HACKCUDA_EXPORT int cudaGetLastError() {
  const Error error = last;
  last = kSuccess;
  return error;
}
HACKCUDA_EXPORT int cudaPeekAtLastError() { return last; }
HACKCUDA_EXPORT const char* cudaGetErrorName(int error) { return TextOf(error).name; }
HACKCUDA_EXPORT const char* cudaGetErrorString(int error) { return TextOf(error).text; }

// The driver's functions by name. Those with a suffix replace the older ones of the same name.
HACKCUDA_EXPORT int cudaGetDriverEntryPoint(const char* name, void** function, unsigned long long,
                                            int* found) {
  *function = DriverFunction(name);
  if (found != nullptr) *found = *function != nullptr ? 0 : 1;
  return kSuccess;
}
HACKCUDA_EXPORT int cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned,
                                                     unsigned long long flags, int* found) {
  return cudaGetDriverEntryPoint(name, function, flags, found);
}

}  // namespace drydock::hackcuda::cudart
