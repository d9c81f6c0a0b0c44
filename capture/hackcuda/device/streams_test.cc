// "Does the log have the order of streams, and who joins a graph?"
#include "capture/hackcuda/device/streams.h"

#include <gtest/gtest.h>

#include "capture/hackcuda/testing/pretended.h"

namespace drydock::hackcuda {
namespace {

TEST(Streams, EntriesOfTheLog) {
  Stream* stream = MakeStream(-1, 1);
  Event* event = MakeEvent(2);
  RecordEvent(event, nullptr);
  WaitForEvent(stream, event);
  EXPECT_EQ(Pretended::Log(),
            "t0 stream stream=2 device=0 priority=-1 blocks=0\n"
            "t0 record-event event=1 stream=0\n"
            "t0 wait-event stream=2 event=1\n");
  EXPECT_EQ(StreamNumber(nullptr), 0);
  EXPECT_EQ(StreamNumber(reinterpret_cast<void*>(uintptr_t{2})), 1);
  DestroyStream(stream);
  delete event;
}

// A stream that waits for an event of the graph joins it, until the capture ends.
TEST(Streams, GraphsGrowByEvents) {
  Stream* first = MakeStream(0, 1);
  Stream* second = MakeStream(0, 1);
  Stream* other = MakeStream(0, 1);
  Event* event = MakeEvent(0);
  Event* outside = MakeEvent(0);
  RecordEvent(outside, other);
  BeginCapture(first);
  WaitForEvent(second, outside);
  EXPECT_EQ(CaptureOf(second), 0);
  RecordEvent(event, first);
  WaitForEvent(second, event);
  EXPECT_NE(CaptureOf(first), 0);
  EXPECT_EQ(CaptureOf(second), CaptureOf(first));
  EXPECT_EQ(CaptureOf(other), 0);
  const int64_t graph = CaptureOf(first);
  EXPECT_EQ(EndCapture(first), graph);
  EXPECT_EQ(CaptureOf(second), 0);
  EXPECT_EQ(EndCapture(first), 0);
}

}  // namespace
}  // namespace drydock::hackcuda
