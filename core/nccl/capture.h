// Between libhackcuda.so and libhacknccl.so, in a captured process (capture/). The other ranks of
// its communicators are absent. libhackcuda answers for them, and writes the log.
#ifndef DRYDOCK_CORE_NCCL_CAPTURE_H_
#define DRYDOCK_CORE_NCCL_CAPTURE_H_

#include <cstddef>

#include "core/nccl/recording.h"

namespace drydock {

struct CaptureApi {
  int32_t rank = 0;  // of the program
  const RecordHost* (*host)();
  void (*log)(const RecordEntry* entries, size_t count);
  // Gives what all members send, in member order: request->members * request->bytes bytes.
  void (*exchange)(const RecordRequest* request, const void* own, char* all, uint64_t* serial);
  // Does what the call does to this rank's buffers, if each absent rank holds what this rank holds.
  // `element`: bytes of the call's type; `ranks`: of its communicator.
  void (*move)(const RecordEntry* call, const void* send, void* receive, size_t element, int ranks);
};

// The payloads of exchanges.
// Where a member lives: "ncclCommInitRank", "a new part of a communicator".
struct RecordHome {
  int32_t host = 0;
  int32_t gpu = 0;
  bool operator==(const RecordHome& other) const { return host == other.host && gpu == other.gpu; }
};
// Which part a member joins: "ncclCommSplit". A member without a part has the color -1. The layout
// is that of NCCL's commSplitInfo (init.cc).
struct RecordPart {
  int32_t key = 0;
  int32_t color = 0;
};
inline constexpr const char* kSplitPurpose = "ncclCommSplit";

}  // namespace drydock

// Null outside a capture.
extern "C" const drydock::CaptureApi* hackcuda_get_capture();

#endif  // DRYDOCK_CORE_NCCL_CAPTURE_H_
