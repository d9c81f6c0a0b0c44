// Streams, events and graphs of the pretended GPUs. What a stream would do is done when it is
// issued, so nothing ever waits; the log has the order.
//
// Thread-safe. Handles live until they are destroyed, but a number is never given twice.
#ifndef DRYDOCK_CAPTURE_HACKCUDA_DEVICE_STREAMS_H_
#define DRYDOCK_CAPTURE_HACKCUDA_DEVICE_STREAMS_H_

#include <cstdint>

namespace drydock::hackcuda {

struct Stream {
  int64_t number = 0;  // in the log
  int device = 0;
  int priority = 0;
  unsigned flags = 0;
};

// Logs it. `flags`: cudaStreamNonBlocking is 1.
Stream* MakeStream(int priority, unsigned flags);
void DestroyStream(void* stream);
// Handles 0 and 1 are the default stream, number 0; handle 2 is the one of a thread, number 1.
int64_t StreamNumber(const void* stream);
// Null for the default streams.
const Stream* StreamOf(const void* stream);

struct Event {
  int64_t number = 0;
  bool is_timed = false;
  int64_t recorded_ns = 0;
  int64_t graph = 0;  // into which its stream was being captured; 0: none
};
Event* MakeEvent(unsigned flags);
void RecordEvent(void* event, const void* stream);
// Events of later records are this much later. Programs that time two ways of computing then take
// the one that is faster on a GPU, and the same one in every run.
void DelayEvents(int64_t ns);

// The graph that a stream is being captured into; 0 if none. A stream joins a capture by waiting
// for an event of it.
int64_t CaptureOf(const void* stream);
bool IsCapturing();  // any stream
void BeginCapture(const void* stream);
int64_t EndCapture(const void* stream);  // the graph's number
void WaitForEvent(const void* stream, const void* event);

}  // namespace drydock::hackcuda

#endif  // DRYDOCK_CAPTURE_HACKCUDA_DEVICE_STREAMS_H_
