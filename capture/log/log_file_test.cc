// "Is every entry of a log read back, and every damage found?"
#include "capture/log/log_file.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <string>

#include "capture/log/testing/log_builder.h"

namespace drydock::capture {
namespace {

TEST(LogFile, EntriesAndNames) {
  LogBuilder log;
  log.Name("add");
  log.Entry(EntryKind::kLaunch, {0, 4, 1, 1, 128, 1, 1, 0, 1, 1, 1, 7});
  log.Entry(EntryKind::kSyncDevice, {});
  const ProcessLog read = ProcessLog::Parse(log.content(), "x.log").value();
  EXPECT_EQ(read.rank(), 3);
  ASSERT_EQ(read.entries().size(), 2u);
  EXPECT_EQ(read.entries()[0].kind, EntryKind::kLaunch);
  EXPECT_EQ(read.entries()[0].words[11], 7);
  EXPECT_EQ(read.name(read.entries()[0].words[0]), "add");
  EXPECT_EQ(read.entries()[1].wall_ns, 20);
}

TEST(LogFile, WritesWhatItReads) {
  LogBuilder log;
  log.Name("add");
  log.Entry(EntryKind::kLaunch, {0, 4, 1, 1, 128, 1, 1, 0, 1, 1, 1, 7});
  // A process dies with a file that is longer than its log.
  const ProcessLog read = ProcessLog::Parse(log.content() + std::string(64, '\0'), "x.log").value();
  const std::string path = testing::TempDir() + "written.log";
  ASSERT_TRUE(read.Write(path).ok());
  const ProcessLog again = ProcessLog::Read(path).value();
  std::filesystem::remove(path);
  EXPECT_EQ(again.rank(), 3);
  ASSERT_EQ(again.entries().size(), 1u);
  EXPECT_EQ(again.entries()[0].words[11], 7);
  EXPECT_EQ(again.name(0), "add");
  EXPECT_EQ(ProcessLog::Read(path).error().ToString(),
            path + ": error: cannot read: No such file or directory");
  EXPECT_EQ(read.Write("/dev/full").error().ToString(),
            "/dev/full: error: cannot write: No space left on device");
}

std::string ErrorOf(const std::string& content) {
  const auto read = ProcessLog::Parse(content, "x.log");
  return read.ok() ? "" : read.error().ToString();
}

TEST(LogFile, Damage) {
  LogBuilder log;
  log.Name("add");
  log.Entry(EntryKind::kLaunch, {0, 4, 1, 1, 128, 1, 1, 0, 1, 1, 1, 7});
  const std::string whole = log.content();
  EXPECT_EQ(ErrorOf(whole), "");
  EXPECT_EQ(ErrorOf(whole.substr(0, 10)),
            "x.log: error: is a damaged log of a captured process: it has no header");
  EXPECT_EQ(
      ErrorOf("not" + whole.substr(3)),
      "x.log: error: is not a log of a captured process, or another build of Drydock wrote it");
  EXPECT_EQ(ErrorOf(whole.substr(0, whole.size() - 8)),
            "x.log: error: is a damaged log of a captured process: it ends too early");
  LogBuilder other;
  other.Entry(EntryKind::kLaunch, {0, 4, 1, 1, 128, 1, 1, 0, 1, 1, 1, 7});
  EXPECT_EQ(ErrorOf(other.content()),
            "x.log: error: is a damaged log of a captured process: an entry 'launch' names the "
            "text 0, which is missing");
  LogBuilder shorter;
  shorter.Entry(EntryKind::kFree, {});
  EXPECT_EQ(ErrorOf(shorter.content()),
            "x.log: error: is a damaged log of a captured process: an entry 'free' has 0 words in "
            "place of 1");
  LogBuilder unknown;
  unknown.Entry(static_cast<EntryKind>(99), {});
  EXPECT_EQ(ErrorOf(unknown.content()),
            "x.log: error: is a damaged log of a captured process: it has an entry of the unknown "
            "kind 99");
}

}  // namespace
}  // namespace drydock::capture
