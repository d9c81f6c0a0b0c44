#include "core/network/network_log.h"

#include <gtest/gtest.h>

#include "core/base/files.h"
#include "core/testing/unit_testing.h"

namespace drydock {
namespace {

TEST(NetworkLog, TablesAreAsDocumented) {
  NetworkLog log;
  log.links = {{"host 0/nic0", "leaf0", Bandwidth::BitsPerSecond(400'000'000'000)}};
  LinkSample sample;
  sample.at = Time::Us(100);
  sample.interval = Time::Us(50);
  sample.sent = Bytes(1'250'000);  // 25 us at 400 Gbps
  sample.queued = Bytes(4178);
  sample.marked = 3;
  sample.dropped = 1;
  sample.paused = Time::Ns(1500);
  sample.repeated = 2;
  log.samples = {sample};
  MessageRecord record;
  record.message.source = 3;
  record.message.source_nic = 1;
  record.message.destination = 4;
  record.message.destination_nic = 2;
  record.message.size = Bytes(4096);
  record.message.sent = Time::Us(10);
  record.delivered = Time::Us(13);
  record.idle = Time::Us(2);
  log.messages = {record};
  const testing::TemporaryDirectory folder;
  ASSERT_TRUE(WriteNetworkLog(folder.path(), log).ok());
  EXPECT_EQ(ReadFile(folder.path() + "/" + kMessageLogName).value(),
            "sent_us,delivered_us,from_host,from_nic,to_host,to_nic,bytes,idle_us,slowdown\n"
            "10.000000,13.000000,3,1,4,2,4096,2.000000,1.5000\n");
  EXPECT_EQ(ReadFile(folder.path() + "/" + kLinkLogName).value(),
            "time_us,from,to,interval_us,sent_bytes,utilisation,queued_bytes,marked,dropped,"
            "paused_us,repeated\n"
            "100.000000,host 0/nic0,leaf0,50.000000,1250000,0.5000,4178,3,1,1.500000,2\n");
}

TEST(NetworkLog, SlowdownsAreCountedBySize) {
  NetworkLog log;
  const auto add = [&log](int64_t bytes, Time idle, Time took) {
    MessageRecord record;
    record.message.size = Bytes(bytes);
    record.delivered = took;
    record.idle = idle;
    log.messages.push_back(record);
  };
  for (int i = 100; i > 0; --i) add(4096 - i, Time::Us(1), Time::Us(i));
  add(4097, Time::Us(2), Time::Us(3));
  add(1, Time::Us(2), Time::Us(2));
  const testing::TemporaryDirectory folder;
  ASSERT_TRUE(WriteNetworkLog(folder.path(), log).ok());
  EXPECT_EQ(ReadFile(folder.path() + "/" + kSlowdownName).value(),
            "bytes_up_to,messages,median,p95,p99,most\n"
            "1,1,1.0000,1.0000,1.0000,1.0000\n"
            "4096,100,50.0000,95.0000,99.0000,100.0000\n"
            "8192,1,1.5000,1.5000,1.5000,1.5000\n");
}

TEST(NetworkLog, RemovesExistingTables) {
  const testing::TemporaryDirectory folder;
  RemoveNetworkLog(folder.path());
  ASSERT_TRUE(WriteNetworkLog(folder.path(), {}).ok());
  RemoveNetworkLog(folder.path());
  for (const char* name : {kLinkLogName, kMessageLogName, kSlowdownName}) {
    EXPECT_FALSE(FileExists(folder.path() + "/" + name)) << name;
  }
}

}  // namespace
}  // namespace drydock
