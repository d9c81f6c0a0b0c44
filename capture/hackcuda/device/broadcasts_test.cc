// "Do ranks that run later read what the root broadcast?"
#include "capture/hackcuda/device/broadcasts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <vector>

#include "capture/hackcuda/device/absent_ranks.h"
#include "capture/hackcuda/testing/pretended.h"
#include "core/nccl/capture.h"

namespace drydock::hackcuda {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

RecordEntry Broadcast(uint64_t communicator, int rank, int root) {
  RecordEntry call;
  call.function = RecordFunction::kBroadcast;
  call.communicator = communicator;
  call.rank = rank;
  call.peer = root;
  return call;
}

// A communicator of ranks 0 and 3, whose unique id has this key.
uint64_t Communicator(uint64_t key) {
  NameKey(key, {0, 3});
  RecordRequest request;
  request.key = key;
  request.member = 1;
  request.members = 2;
  request.bytes = sizeof(RecordHome);
  snprintf(request.purpose, sizeof request.purpose, "ncclCommInitRank");
  const RecordHome own = {1, 1};
  RecordHome all[2];
  uint64_t serial = 0;
  hackcuda_get_capture()->exchange(&request, &own, reinterpret_cast<char*>(all), &serial);
  return serial;
}

void Share(const RecordEntry& call, std::vector<int>* values) {
  ShareBroadcast(call, values->data(), values->size() * sizeof(int));
}

TEST(Broadcasts, AreUnknownWithoutAFolder) {
  std::vector<int> values = {1, 2};
  Share(Broadcast(5, 1, 0), &values);
  EXPECT_THAT(values, ElementsAre(1, 2));
  EXPECT_THAT(Pretended::Log(),
              HasSubstr("mark what=unknown broadcast of 8 bytes from member 0\n"));
}

TEST(Broadcasts, AreReadInOrder) {
  ::setenv(capture::kValuesVariable, Pretended::Folder().c_str(), 1);
  const pid_t root = ::fork();
  if (root == 0) {
    std::vector<int> first = {7, 8}, second = {9, 10, 11};
    const uint64_t communicator = Communicator(101);
    Share(Broadcast(communicator, 0, 0), &first);
    Share(Broadcast(communicator, 0, 0), &second);
    ::_exit(0);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(root, &status, 0), root);
  ASSERT_EQ(status, 0);
  // Unique ids differ, members do not.
  const uint64_t communicator = Communicator(102);
  std::vector<int> read = {0, 0};
  Share(Broadcast(communicator, 1, 0), &read);
  EXPECT_THAT(read, ElementsAre(7, 8));
  const size_t before = Pretended::Log().size();
  Share(Broadcast(communicator, 1, 0), &read);  // of another size
  EXPECT_THAT(read, ElementsAre(7, 8));
  EXPECT_THAT(Pretended::Log().substr(before), HasSubstr("unknown broadcast"));
}

}  // namespace
}  // namespace drydock::hackcuda
