// "What do the absent ranks of a communicator answer?"
#include "capture/hackcuda/device/absent_ranks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <vector>

#include "capture/hackcuda/testing/pretended.h"
#include "core/nccl/capture.h"

namespace drydock::hackcuda {
namespace {

RecordRequest Request(const char* purpose, uint64_t key, int member, int members, size_t bytes) {
  RecordRequest request;
  request.key = key;
  request.member = member;
  request.members = members;
  request.bytes = static_cast<uint32_t>(bytes);
  snprintf(request.purpose, sizeof request.purpose, "%s", purpose);
  return request;
}

// Two GPUs a host: rank r is GPU r % 2 of host r / 2.
std::vector<RecordHome> Homes(uint64_t key, int member, int members, uint64_t* serial) {
  const RecordRequest request =
      Request("ncclCommInitRank", key, member, members, sizeof(RecordHome));
  const RecordHome own = {1, 1};
  std::vector<RecordHome> all(static_cast<size_t>(members));
  hackcuda_get_capture()->exchange(&request, &own, reinterpret_cast<char*>(all.data()), serial);
  return all;
}

TEST(AbsentRanks, TheProcess) {
  const CaptureApi* api = hackcuda_get_capture();
  ASSERT_NE(api, nullptr);
  EXPECT_EQ(api->rank, 3);
  EXPECT_EQ(api->host()->host, 1);
  EXPECT_EQ(api->host()->gpus, 2);
  EXPECT_STREQ(api->host()->bus_ids[1], "0000:18:00.0");
}

TEST(AbsentRanks, MembersLiveWhereTheirRanksDo) {
  uint64_t serial = 0, again = 0, other = 0;
  NameKey(11, {1, 3, 4});
  const std::vector<RecordHome> homes = Homes(11, 1, 3, &serial);
  EXPECT_EQ(homes[0].host, 0);
  EXPECT_EQ(homes[0].gpu, 1);
  EXPECT_EQ(homes[2].host, 2);
  EXPECT_EQ(homes[2].gpu, 0);
  Homes(11, 1, 3, &again);
  Homes(12, 1, 3, &other);
  EXPECT_EQ(serial, again);
  EXPECT_NE(serial, other);
  // Of a group that nobody named, each member has a host of its own.
  const std::vector<RecordHome> unknown = Homes(13, 0, 3, &other);
  EXPECT_FALSE(unknown[1] == unknown[2]);
}

TEST(AbsentRanks, TheExpectedGroupSplits) {
  uint64_t serial = 0;
  NameKey(21, {0, 1, 2, 3, 4, 5});
  Homes(21, 3, 6, &serial);
  ExpectGroup({5, 3, 1});
  const RecordRequest request = Request(kSplitPurpose, serial, 3, 6, sizeof(RecordPart));
  const RecordPart own = {.key = 1, .color = 9};
  std::vector<RecordPart> all(6);
  uint64_t exchange = 0;
  hackcuda_get_capture()->exchange(&request, &own, reinterpret_cast<char*>(all.data()), &exchange);
  ExpectGroup({});
  const std::vector<int> colors = {all[0].color, all[1].color, all[2].color,
                                   all[3].color, all[4].color, all[5].color};
  EXPECT_THAT(colors, testing::ElementsAre(-1, 9, -1, 9, -1, 9));
  EXPECT_EQ(all[5].key, 0);
  EXPECT_EQ(all[3].key, 1);
  EXPECT_EQ(all[1].key, 2);
}

TEST(AbsentRanks, ListsOfRanksAreShort) {
  EXPECT_EQ(ListOf({}), "");
  EXPECT_EQ(ListOf({7}), "7");
  EXPECT_EQ(ListOf({0, 1}), "0,1");
  EXPECT_EQ(ListOf({0, 1, 2, 3, 8, 16, 24, 32, 5}), "0-3,8-32:8,5");
  EXPECT_EQ(ListOf({3, 2, 1}), "3,2,1");
}

}  // namespace
}  // namespace drydock::hackcuda
