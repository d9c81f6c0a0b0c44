// Tests that threads share windows when sharing is faster, and that each thread has its own core.
#include <gtest/gtest.h>
#include <sched.h>

#include <thread>

#include "ns3-backend/model/simulator/window-pacer.h"
#include "ns3-backend/model/simulator/worker-cores.h"

namespace drydock {
namespace {

using ns3::rdma::WindowPacer;
using ns3::rdma::WorkerCores;

// A machine with a given cost of an event, alone and shared. Counts how many of the last windows
// were shared.
int64_t fake_now = 0;
int SharedOfLastHundred(WindowPacer& pacer, int windows, int64_t alone, int64_t together) {
  int shared = 0;
  for (int i = 0; i < windows; ++i) {
    fake_now += 100 * (pacer.Together() ? together : alone);
    if (i >= windows - 10'000) shared += pacer.Together() ? 1 : 0;
    pacer.Account(100);
  }
  return shared / 100;
}

TEST(WindowPacer, PrefersTheCheaperModeAndNoticesWhenItChanges) {
  WindowPacer pacer(2, [] { return fake_now; });
  EXPECT_GE(SharedOfLastHundred(pacer, 200'000, 80, 45), 95);
  EXPECT_LE(SharedOfLastHundred(pacer, 200'000, 80, 4000), 5) << "others took the cores";
  EXPECT_GE(SharedOfLastHundred(pacer, 200'000, 80, 45), 95);
}

TEST(WindowPacer, OneThreadNeverShares) {
  WindowPacer pacer(1);
  for (int i = 0; i < 1000; ++i) pacer.Account(1000);
  EXPECT_FALSE(pacer.Together());
}

TEST(WindowPacer, StopsSharingAtOnceWhenOtherProgramsTakeTheCores) {
  WindowPacer pacer(2, [] { return fake_now; });
  SharedOfLastHundred(pacer, 200'000, 80, 45);
  int shared = 0;
  for (; pacer.Together(); ++shared) SharedOfLastHundred(pacer, 1, 80, 4000);
  EXPECT_LT(shared, 10);
}

TEST(WindowPacer, ComparesRarelyIfSharingClearlyPays) {
  WindowPacer pacer(2, [] { return fake_now; });
  SharedOfLastHundred(pacer, 500, 80, 45);
  EXPECT_EQ(SharedOfLastHundred(pacer, 10'000, 80, 45), 100);
}

// Events cost more at the beginning of a run, when memory is cold: later they cost less even alone
// than they cost shared at the beginning.
TEST(WindowPacer, ComparesWithTheLatestCost) {
  WindowPacer pacer(2, [] { return fake_now; });
  SharedOfLastHundred(pacer, 3'500, 100, 85);
  EXPECT_GE(SharedOfLastHundred(pacer, 10'000, 70, 55), 97);
}

cpu_set_t CoresOfThisThread() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  sched_getaffinity(0, sizeof(cores), &cores);
  return cores;
}

void Bind(const cpu_set_t& cores) { ASSERT_EQ(sched_setaffinity(0, sizeof(cores), &cores), 0); }

class WorkerCoresTest : public testing::Test {
 protected:
  void SetUp() override {
    if (CPU_COUNT(&all_) < 2) GTEST_SKIP() << "one core";
    CPU_ZERO(&one_);
    for (int core = 0; core < CPU_SETSIZE && CPU_COUNT(&one_) == 0; ++core) {
      if (CPU_ISSET(core, &all_)) CPU_SET(core, &one_);
    }
    Bind(one_);
    cores_.KeepApart(0);
  }
  void TearDown() override { Bind(all_); }

  // Returns where the second thread ends up if it may run on `cores` and starts on the core of the
  // first.
  struct SecondThread {
    bool left = false;   // the core of the first thread
    bool bound = false;  // to other cores than it may run on
  };
  SecondThread KeepSecondApart(const cpu_set_t& cores) {
    SecondThread second;
    std::thread([&] {
      Bind(one_);
      Bind(cores);
      cores_.KeepApart(1);
      second.left = !CPU_ISSET(sched_getcpu(), &one_);
      const cpu_set_t after = CoresOfThisThread();
      second.bound = !CPU_EQUAL(&after, &cores);
    }).join();
    return second;
  }

  const cpu_set_t all_ = CoresOfThisThread();
  cpu_set_t one_;
  WorkerCores cores_{2};
};

TEST_F(WorkerCoresTest, TheSecondThreadLeavesTheCoreOfTheFirstAndIsNotBound) {
  const SecondThread second = KeepSecondApart(all_);
  EXPECT_TRUE(second.left);
  EXPECT_FALSE(second.bound);
}

TEST_F(WorkerCoresTest, AThreadBoundToOneCoreStays) {
  const SecondThread second = KeepSecondApart(one_);
  EXPECT_FALSE(second.left);
  EXPECT_FALSE(second.bound);
}

}  // namespace
}  // namespace drydock
