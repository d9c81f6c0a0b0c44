// "Does the report read the load of links as exec-engine has logged it?"
#include "report/inputs/link_log.h"

#include <gtest/gtest.h>

#include "core/base/files.h"
#include "core/network/network_log.h"
#include "core/testing/unit_testing.h"

namespace drydock {
namespace {

using testing::ErrorText;
using testing::FirstLine;

const char* const kHeading =
    "time_us,from,to,interval_us,sent_bytes,utilisation,queued_bytes,marked,dropped,paused_us,"
    "repeated\n";

std::string Mistake(const std::string& rows) {
  return FirstLine(ErrorText(ParseLinkLog(kHeading + rows, "l.csv")));
}

TEST(LinkLogTest, ReadsWhatIsWritten) {
  NetworkLog log;
  log.links = {{"host 0/nic0", "leaf0", Bandwidth::BitsPerSecond(8'000'000'000)},
               {"leaf0", "host 0/nic0", Bandwidth::BitsPerSecond(8'000'000'000)}};
  LinkSample sample;
  sample.at = Time::Us(2);
  sample.interval = Time::Us(1);
  sample.sent = Bytes(500);
  log.samples.push_back(sample);
  sample.link = 1;
  log.samples.push_back(sample);
  sample.link = 0;
  sample.at = Time::Ps(2'500'001);
  sample.interval = Time::Ps(500'001);
  log.samples.push_back(sample);
  const testing::TemporaryDirectory dir;
  ASSERT_TRUE(WriteNetworkLog(dir.path(), log).ok());
  const Result<std::optional<LinkLog>> read = ReadLinkLog(dir.path());
  ASSERT_TRUE(read.ok()) << read.error().ToString();
  ASSERT_EQ((*read)->size(), 2u);
  const LoggedLink& link = (**read)[0];
  EXPECT_EQ(link.from, "host 0/nic0");
  EXPECT_EQ(link.to, "leaf0");
  ASSERT_EQ(link.intervals.size(), 2u);
  EXPECT_EQ(link.intervals[0].begin, Time::Us(1));
  EXPECT_EQ(link.intervals[1].end, Time::Ps(2'500'001));
  EXPECT_EQ(link.intervals[1].begin, Time::Us(2));
  EXPECT_EQ(link.intervals[1].bytes, 500);
}

TEST(LinkLogTest, CablesBetweenTheSameEndsAreOne) {
  const Result<LinkLog> log = ParseLinkLog(
      std::string(kHeading) + "2.0,a,b,1.0,5,0,0,0,0,0,0\n2.0,a,b,1.0,7,0,0,0,0,0,0\n", "l.csv");
  ASSERT_TRUE(log.ok()) << log.error().ToString();
  ASSERT_EQ(log->size(), 1u);
  ASSERT_EQ((*log)[0].intervals.size(), 1u);
  EXPECT_EQ((*log)[0].intervals[0].bytes, 12);
}

TEST(LinkLogTest, MostRunsHaveNone) {
  const testing::TemporaryDirectory dir;
  const Result<std::optional<LinkLog>> read = ReadLinkLog(dir.path());
  ASSERT_TRUE(read.ok());
  EXPECT_FALSE(read->has_value());
}

TEST(LinkLogTest, SaysWhichLineIsWrong) {
  const std::string again = "; run exec-engine --network-log again";
  EXPECT_EQ(FirstLine(ErrorText(ParseLinkLog("time\n", "l.csv"))),
            "l.csv:1: error: this is not the heading of a log of links" + again);
  EXPECT_EQ(FirstLine(ErrorText(ParseLinkLog("", "l.csv"))), "l.csv:1: error: there is no heading");
  EXPECT_EQ(Mistake("1.0,a,b,1.0\n"), "l.csv:2: error: a row has 11 fields" + again);
  const std::string number = "l.csv:2: error: a time or a number of bytes is not one" + again;
  for (const char* row : {"x,a,b,1.0,5,0,0,0,0,0,0\n", "1.0,a,b,2.0,5,0,0,0,0,0,0\n",
                          "1.0,a,b,1.0,-5,0,0,0,0,0,0\n", "nan,a,b,1.0,5,0,0,0,0,0,0\n",
                          "1e99,a,b,1.0,5,0,0,0,0,0,0\n", "1.0,a,b,0,5,0,0,0,0,0,0\n"}) {
    EXPECT_EQ(Mistake(row), number) << row;
  }
  EXPECT_EQ(
      Mistake("2.0,a,b,1.0,5,0,0,0,0,0,0\n2.5,a,b,1.0,5,0,0,0,0,0,0\n"),
      "l.csv:3: error: the interval begins before the last one of this link has ended" + again);
}

}  // namespace
}  // namespace drydock
