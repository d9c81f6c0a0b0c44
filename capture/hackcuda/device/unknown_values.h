// Which values in the memory of the pretended GPUs nobody computed. They depend on something large,
// on a kernel that only a GPU can run, or on an absent rank. Their memory holds zeros, or what
// follows from zeros.
//
// Memory that nothing has written counts as computed: programs do not read it. Thread-safe.
#ifndef DRYDOCK_CAPTURE_HACKCUDA_DEVICE_UNKNOWN_VALUES_H_
#define DRYDOCK_CAPTURE_HACKCUDA_DEVICE_UNKNOWN_VALUES_H_

#include <cstddef>
#include <cstdint>

#include "capture/hackcuda/device/hooks.h"

namespace drydock::hackcuda {

enum class Knowledge : int {
  kComputed = HACKCUDA_COMPUTED,
  kAssumed = HACKCUDA_ASSUMED,
  kUnknown = HACKCUDA_UNKNOWN,
};

struct Values {
  Knowledge knowledge = Knowledge::kComputed;
  int64_t origin = -1;  // number of a text: what made them unknown; -1: none was told
  bool operator==(const Values&) const = default;
};

// While a graph is captured nothing runs, and a launch of it does not compute again: what is set
// then is unknown.
void SetValues(const void* at, size_t bytes, Values values);
// Of several, the least known.
Values ValuesAt(const void* at, size_t bytes);

}  // namespace drydock::hackcuda

#endif  // DRYDOCK_CAPTURE_HACKCUDA_DEVICE_UNKNOWN_VALUES_H_
