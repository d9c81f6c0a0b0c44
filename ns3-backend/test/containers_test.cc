// Do the containers of the hot path behave as those of the standard library?
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <random>

#include "ns3-backend/model/host/host-calls.h"
#include "ns3-backend/model/wire/fifo.h"
#include "ns3-backend/model/wire/port-times.h"

namespace drydock {
namespace {

using ns3::rdma::Fifo;
using ns3::rdma::HostCalls;
using ns3::rdma::NEVER;
using ns3::rdma::PortTimes;

TEST(PortTimes, ReturnsTheEarliestTimeAndTheLowestSlotOfATie) {
  std::mt19937_64 random(1);
  for (const size_t slots : {1, 2, 3, 7, 16, 37, 128}) {
    PortTimes times;
    times.Configure(slots);
    std::vector<int64_t> expected(slots, NEVER);
    for (int i = 0; i < 5'000; ++i) {
      const auto slot = static_cast<uint32_t>(random() % slots);
      expected[slot] = random() % 4 == 0 ? NEVER : static_cast<int64_t>(random() % 20);
      times.Set(slot, expected[slot]);
      const auto least = std::min_element(expected.begin(), expected.end());
      ASSERT_EQ(times.GetTime(), *least);
      if (*least < NEVER) {
        ASSERT_EQ(times.GetSlot(), least - expected.begin());
      }
    }
  }
}

TEST(Fifo, BehavesAsADeque) {
  std::mt19937_64 random(2);
  Fifo<int> fifo;
  std::deque<int> expected;
  std::vector<int> batch;
  for (int i = 0; i < 50'000; ++i) {
    // Alternates between growing and shrinking, so that it becomes both empty and large.
    const bool grow = random() % 100 < (i / 5000 % 2 == 0 ? 60 : 40);
    if (grow && i % 7 == 0) {
      batch = {i, i + 1, i + 2};
      expected.insert(expected.end(), batch.begin(), batch.end());
      fifo.Take(batch);
      ASSERT_TRUE(batch.empty());
    } else if (grow) {
      fifo.Push(i);
      expected.push_back(i);
    } else if (!expected.empty()) {
      fifo.Pop();
      expected.pop_front();
    }
    ASSERT_EQ(fifo.Size(), expected.size());
    ASSERT_EQ(fifo.Empty(), expected.empty());
    if (expected.empty()) continue;
    ASSERT_EQ(fifo.Front(), expected.front());
    ASSERT_EQ(fifo[expected.size() - 1], expected.back());
  }
}

TEST(HostCalls, TimerMovedAwayAndBackFiresOnce) {
  HostCalls calls;
  calls.SetTimer(100, 1);
  calls.SetTimer(50, 1);
  calls.SetTimer(100, 1);
  calls.SetTimer(70, 2);
  Message message;
  EXPECT_EQ(calls.NextTime(), 70);
  EXPECT_EQ(calls.Pop(&message).id, 2u);
  EXPECT_EQ(calls.NextTime(), 100);
  EXPECT_EQ(calls.Pop(&message).id, 1u);
  EXPECT_EQ(calls.NextTime(), ns3::rdma::NEVER);
}

TEST(HostCalls, MessagesOfOneTimeAreOrderedBySourceThenId) {
  HostCalls calls;
  std::vector<std::pair<HostId, MessageId>> given = {{2, 1}, {1, 9}, {1, 3}, {2, 0}};
  for (const auto& [source, id] : given) {
    Message message;
    message.source = source;
    message.id = id;
    message.tag = 10 * id + static_cast<uint64_t>(source);
    calls.Add(HostCalls::SENT, 40, message);
    calls.Add(HostCalls::DELIVERED, 40, message);
  }
  calls.SetTimer(40, 77);
  Message message;
  EXPECT_EQ(calls.Pop(&message).id, 77u);
  std::sort(given.begin(), given.end());
  for (const auto kind : {HostCalls::DELIVERED, HostCalls::SENT}) {
    for (const auto& [source, id] : given) {
      EXPECT_EQ(calls.Pop(&message).kind, kind);
      EXPECT_EQ(message.tag, 10 * id + static_cast<uint64_t>(source));
    }
  }
}

}  // namespace
}  // namespace drydock
