#include "capture/log/log_text.h"

#include <gtest/gtest.h>

#include "capture/log/testing/log_builder.h"

namespace drydock::capture {
namespace {

TEST(LogText, ALineForEachEntry) {
  LogBuilder log;
  log.Name("add");
  log.Entry(EntryKind::kLaunch, {0, 4, 1, 1, 128, 1, 1, 0, 1, 1, 1, 7});
  log.Entry(EntryKind::kCopy, {2, 1, 64, 0, 1});
  const ProcessLog read = ProcessLog::Parse(log.content(), "x.log").value();
  EXPECT_EQ(LogText(read, {}),
            "t0 launch kernel=add grid_x=4 grid_y=1 grid_z=1 block_x=128 block_y=1 block_z=1 "
            "shared_bytes=0 cluster_x=1 cluster_y=1 cluster_z=1 stream=7\n"
            "t0 copy from=device to=pinned bytes=64 stream=0 waits=1\n");
  EXPECT_EQ(LogText(read, {.with_times = true}).substr(0, 24), "0.000 0.002 t0 launch ke");
}

TEST(LogText, AnEventIsKnownByItsRecord) {
  LogBuilder log;
  log.Entry(EntryKind::kRecordEvent, {9, 0});
  log.Entry(EntryKind::kWaitEvent, {2, 9});
  log.Entry(EntryKind::kRecordEvent, {9, 0});
  log.Entry(EntryKind::kAskEvent, {9});
  log.Entry(EntryKind::kSyncEvent, {9});
  EXPECT_EQ(LogText(ProcessLog::Parse(log.content(), "x.log").value(), {}),
            "t0 record-event event=1 stream=0\n"
            "t0 wait-event stream=2 event=1\n"
            "t0 record-event event=2 stream=0\n"
            "t0 sync-event event=2\n");
}

}  // namespace
}  // namespace drydock::capture
