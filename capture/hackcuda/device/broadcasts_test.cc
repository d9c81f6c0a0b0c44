// "Do ranks that run later read what the root broadcast?"
#include "capture/hackcuda/device/broadcasts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <vector>

#include "capture/hackcuda/testing/pretended.h"

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
  ::setenv(capture::kBroadcastsVariable, Pretended::Folder().c_str(), 1);
  const pid_t root = ::fork();
  if (root == 0) {
    std::vector<int> first = {7, 8}, second = {9, 10, 11};
    Share(Broadcast(6, 0, 0), &first);
    Share(Broadcast(6, 0, 0), &second);
    ::_exit(0);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(root, &status, 0), root);
  ASSERT_EQ(status, 0);
  std::vector<int> read = {0, 0};
  Share(Broadcast(6, 1, 0), &read);
  EXPECT_THAT(read, ElementsAre(7, 8));
  const size_t before = Pretended::Log().size();
  Share(Broadcast(6, 1, 0), &read);  // of another size
  EXPECT_THAT(read, ElementsAre(7, 8));
  EXPECT_THAT(Pretended::Log().substr(before), HasSubstr("unknown broadcast"));
}

}  // namespace
}  // namespace drydock::hackcuda
