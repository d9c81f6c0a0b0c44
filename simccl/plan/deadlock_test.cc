#include "core/model/deadlock/deadlock.h"

#include <gtest/gtest.h>

#include <map>

#include "core/model/calls/grouped_call.h"
#include "core/model/calls/rank_classes.h"
#include "core/nccl/testing/hosts_testing.h"
#include "core/testing/unit_testing.h"
#include "simccl/nccl/nccl_planner.h"
#include "simccl/plan/plan_deadlock.h"
#include "simccl/plan/plan_workload.h"

namespace drydock {
namespace {

using testing::ErrorText;

// Every rank has its own program, unless RunsProgramOf says otherwise.
class Builder {
 public:
  explicit Builder(int ranks) {
    w.streams = {"compute", "second"};
    for (int rank = 0; rank < ranks; ++rank) w.class_of_rank.push_back(rank);
    w.class_count = ranks;
    w.programs.resize(static_cast<size_t>(ranks));
    for (Program& program : w.programs) program.dependency_begin = {0};
  }

  uint8_t Role(const std::string& name, const std::vector<std::vector<int>>& groups) {
    w.roles.push_back({name, Dimension::kWorld});
    std::vector<int>& of_rank = w.group_of_rank.emplace_back(w.class_of_rank.size(), -1);
    for (const std::vector<int>& ranks : groups) {
      for (const int rank : ranks) of_rank[static_cast<size_t>(rank)] = GroupOf(ranks);
    }
    return static_cast<uint8_t>(w.roles.size() - 1);
  }

  void Collective(int rank, uint8_t role, int64_t count = 512, uint8_t stream = 0,
                  CollectiveType type = CollectiveType::kAllReduce) {
    CommCall call;
    call.collective = type;
    call.count = count;
    call.group_size = SizeOf(role, rank);
    Add(rank, role, OpKind::kCollective, call, stream);
  }
  // The rank is either member of the group; `sender` tells which member sends.
  void Message(int rank, uint8_t role, OpKind kind, int sender, int64_t count, uint8_t stream = 0) {
    CommCall call;
    call.collective = CollectiveType::kSendRecv;
    call.count = count;
    call.root = sender;
    call.peer = 1 - sender;
    call.group_size = 2;
    Add(rank, role, kind, call, stream);
  }
  void MessageBetween(int rank, uint8_t role, int sender, int receiver, int64_t count = 512) {
    CommCall call;
    call.collective = CollectiveType::kSendRecv;
    call.count = count;
    call.root = sender;
    call.peer = receiver;
    call.group_size = SizeOf(role, rank);
    Add(rank, role, rank == sender ? OpKind::kSend : OpKind::kRecv, call, 0);
  }
  void Grouped(int rank, uint8_t role, std::vector<CommCall> parts) {
    for (CommCall& part : parts) part.group_size = SizeOf(role, rank);
    Add(rank, role, OpKind::kCollective, MakeGrouped(std::move(parts)), 0);
  }
  void RunsProgramOf(int rank, int other) { w.class_of_rank[static_cast<size_t>(rank)] = other; }

  // Adds a plan for every call of `count` elements in any group that uses it.
  void Plan(int64_t count, const drydock::Plan& made) {
    plan.plans.push_back(made);
    for (uint32_t call = 0; call < w.calls.size(); ++call) {
      if (w.calls[call].count != count) continue;
      for (uint32_t group = 0; group < w.groups.size(); ++group) {
        plan.assignments.push_back({call, group, static_cast<uint32_t>(plan.plans.size() - 1)});
      }
    }
  }

  Workload w;
  FlowPlan plan;

 private:
  int GroupOf(const std::vector<int>& ranks) {
    const auto [entry, added] = groups_.emplace(ranks, static_cast<int>(w.groups.size()));
    if (added) w.groups.push_back({ranks});
    return entry->second;
  }
  int SizeOf(uint8_t role, int rank) const {
    const int group = w.group_of_rank[role][static_cast<size_t>(rank)];
    return static_cast<int>(w.groups[static_cast<size_t>(group)].ranks.size());
  }
  void Add(int rank, uint8_t role, OpKind kind, const CommCall& call, uint8_t stream) {
    uint32_t index = 0;
    while (index < w.calls.size() && !(w.calls[index] == call)) ++index;
    if (index == w.calls.size()) w.calls.push_back(call);
    Program& program = w.programs[static_cast<size_t>(rank)];
    Op op;
    op.kind = kind;
    op.role = role;
    op.work = index;
    op.stream = stream;
    program.ops.push_back(op);
    program.dependency_begin.push_back(0);
  }
  std::map<std::vector<int>, int> groups_;
};

std::string Check(const Builder& b) { return ErrorText(CheckDeadlock(b.w, b.plan)); }

// Member 0 sends `slices` slices to member 1, through a buffer of eight.
Plan MessagePlan(int64_t slices) {
  Plan plan;
  plan.works[0].slots = 8;
  plan.works[0].slice_bytes = 64;
  plan.connections = {{0, 1}};
  plan.operands = {0};
  Pattern send;
  send.operands = 1;
  send.loops = {{slices, 64, 1}};
  send.steps.resize(1);
  send.steps[0].bytes = 64;
  Pattern receive = send;
  send.steps[0].send = {0, 1};
  receive.steps[0].receive = {0, 1};
  plan.patterns = {send, receive};
  plan.members.resize(2);
  plan.members[0].push_back({});
  plan.members[1].push_back({0, 0, 1});
  return plan;
}

TEST(DeadlockTest, SameOrderEverywhereFinishes) {
  Builder b(4);
  const uint8_t rows = b.Role("tp", {{0, 1}, {2, 3}}), columns = b.Role("dp", {{0, 2}, {1, 3}});
  for (int rank = 0; rank < 4; ++rank) {
    for (int i = 0; i < 3; ++i) {
      b.Collective(rank, rows);
      b.Collective(rank, columns);
    }
  }
  EXPECT_EQ(Check(b), "ok");
}

TEST(DeadlockTest, ReportsTwoCommunicatorsInOppositeOrder) {
  Builder b(2);
  const uint8_t first = b.Role("tp", {{0, 1}}), second = b.Role("dp", {{1, 0}});
  b.Collective(0, first);
  b.Collective(0, second, 1024);
  b.Collective(1, second, 1024);
  b.Collective(1, first);
  EXPECT_EQ(
      Check(b),
      "error: the communication cannot finish: these calls wait for each other in a cycle\n"
      "  rank 0, op 0 (all-reduce bf16 1.024 KB over 2 in 'tp', ranks 0-1) waits for rank 1\n"
      "  rank 1, op 0 (all-reduce bf16 2.048 KB over 2 in 'dp', ranks 1, 0) waits for rank 0");
}

TEST(DeadlockTest, OppositeOrderOnTwoStreamsFinishes) {
  Builder b(2);
  const uint8_t first = b.Role("tp", {{0, 1}}), second = b.Role("dp", {{1, 0}});
  b.Collective(0, first, 512, 0);
  b.Collective(0, second, 512, 1);
  b.Collective(1, second, 512, 1);
  b.Collective(1, first, 512, 0);
  EXPECT_EQ(Check(b), "ok");
}

TEST(DeadlockTest, ReportsACycleOfThreeCommunicators) {
  Builder b(4);
  const uint8_t tp = b.Role("tp", {{0, 1}}), dp = b.Role("dp", {{1, 2}}),
                cp = b.Role("cp", {{2, 0}});
  const uint8_t all = b.Role("all", {{0, 1, 2, 3}});
  b.Collective(0, tp);
  b.Collective(0, cp);
  b.Collective(1, dp);
  b.Collective(1, tp);
  b.Collective(2, cp);
  b.Collective(2, dp);
  for (int rank = 3; rank >= 0; --rank) b.Collective(rank, all);  // waits, but is not in the cycle
  EXPECT_EQ(
      Check(b),
      "error: the communication cannot finish: these calls wait for each other in a cycle\n"
      "  rank 0, op 0 (all-reduce bf16 1.024 KB over 2 in 'tp', ranks 0-1) waits for rank 1\n"
      "  rank 1, op 0 (all-reduce bf16 1.024 KB over 2 in 'dp', ranks 1-2) waits for rank 2\n"
      "  rank 2, op 0 (all-reduce bf16 1.024 KB over 2 in 'cp', ranks 2, 0) waits for rank 0");
}

// Each rank sends to the next, then receives from the one before.
Builder RingOfSends(int ranks, int64_t count = 512) {
  Builder b(ranks);
  std::vector<std::vector<int>> even, odd;
  for (int rank = 0; rank < ranks; ++rank) {
    (rank % 2 == 0 ? even : odd).push_back({rank, (rank + 1) % ranks});
  }
  const uint8_t roles[] = {b.Role("from-even", even), b.Role("from-odd", odd)};
  for (int rank = 0; rank < 2; ++rank) {
    b.Message(rank, roles[rank], OpKind::kSend, 0, count);
    b.Message(rank, roles[1 - rank], OpKind::kRecv, 0, count);
  }
  for (int rank = 2; rank < ranks; ++rank) b.RunsProgramOf(rank, rank % 2);
  b.w.programs.resize(2);
  b.w.class_count = 2;
  return b;
}

TEST(DeadlockTest, ReportsARingOfSendsLargerThanTheBuffers) {
  Builder b = RingOfSends(4);
  b.Plan(512, MessagePlan(9));
  EXPECT_EQ(Check(b),
            "error: the communication cannot finish: these calls wait for each other in a cycle\n"
            "  rank 0, op 0 (send of 1.024 KB in 'from-even', ranks 0-1) waits for rank 1\n"
            "  rank 1, op 0 (send of 1.024 KB in 'from-odd', ranks 1-2) waits for rank 2\n"
            "  rank 2, op 0 (send of 1.024 KB in 'from-even', ranks 2-3) waits for rank 3\n"
            "  rank 3, op 0 (send of 1.024 KB in 'from-odd', ranks 3, 0) waits for rank 0");
}

TEST(DeadlockTest, RingOfSendsThatFitIntoTheBuffersFinishes) {
  Builder b = RingOfSends(4);
  b.Plan(512, MessagePlan(8));
  EXPECT_EQ(Check(b), "ok");
}

// NCCL's own plans for a host of eight GPUs.
FlowPlan RealPlans(Workload* w) {
  w->topology.gpus = {TestGpu(80)};
  w->topology.host_kinds = {DgxA100()};
  w->topology.hosts = {0};
  for (uint32_t call = 0; call < w->calls.size(); ++call) {
    for (uint32_t group = 0; group < w->groups.size(); ++group) {
      if (w->groups[group].ranks.size() == static_cast<size_t>(w->calls[call].group_size)) {
        w->uses.push_back({call, group});
      }
    }
  }
  auto planner = MakeNcclPlanner(w->topology);
  EXPECT_TRUE(planner.ok()) << planner.error().ToString();
  auto plan = PlanWorkload(*w, planner->get(), [](size_t, size_t) {});
  EXPECT_TRUE(plan.ok()) << plan.error().ToString();
  return *plan;
}

TEST(DeadlockTest, NcclsBuffersDecide) {
  for (const int64_t count : {int64_t{512}, int64_t{512} << 20}) {  // 1 KB and 1 GB
    Builder b = RingOfSends(4, count);
    b.plan = RealPlans(&b.w);
    EXPECT_EQ(Check(b) == "ok", count == 512) << Check(b);
  }
}

TEST(DeadlockTest, NcclsOwnPlansFinish) {
  Builder b(8);
  const uint8_t all = b.Role("all", {{0, 1, 2, 3, 4, 5, 6, 7}}), tp = b.Role("tp", {{0, 1}});
  for (int rank = 0; rank < 8; ++rank) {
    for (const auto type :
         {CollectiveType::kAllReduce, CollectiveType::kAllGather, CollectiveType::kBroadcast,
          CollectiveType::kReduce, CollectiveType::kAllToAll, CollectiveType::kReduceScatter}) {
      for (const int64_t count : {int64_t{512}, int64_t{1} << 24}) {
        b.Collective(rank, all, count, 0, type);
      }
    }
    if (rank < 2) b.Collective(rank, tp, int64_t{1} << 24, 1);
  }
  b.plan = RealPlans(&b.w);
  EXPECT_EQ(Check(b), "ok");
  for (const drydock::Plan& plan : b.plan.plans)
    EXPECT_EQ(ErrorText(CheckPlanDeadlock(plan)), "ok");
}

TEST(DeadlockTest, MessagesInFlightShareBuffers) {
  for (const int64_t slices : {4, 5}) {
    Builder b(2);
    const uint8_t pair = b.Role("pp", {{0, 1}});
    b.Message(0, pair, OpKind::kSend, 0, 512);
    b.Message(0, pair, OpKind::kSend, 0, 512);
    b.Message(0, pair, OpKind::kRecv, 1, 256);
    b.Message(1, pair, OpKind::kSend, 1, 256);
    b.Message(1, pair, OpKind::kRecv, 0, 512);
    b.Message(1, pair, OpKind::kRecv, 0, 512);
    b.Plan(512, MessagePlan(slices));
    EXPECT_EQ(Check(b) == "ok", slices == 4) << Check(b);
  }
}

TEST(DeadlockTest, EquivalentRanksAreCheckedOnceAndLongCyclesShortened) {
  const Builder b = RingOfSends(1024);
  EXPECT_EQ(FindRankClasses(b.w, std::vector<bool>(b.w.groups.size(), false)).first_rank.size(),
            2u);
  const std::string text = Check(b);
  EXPECT_NE(
      text.find("\n  rank 7, op 0 (send of 1.024 KB in 'from-odd', ranks 7-8) waits for rank 8"
                "\n  ... and 1008 more\n  rank 1016, "),
      std::string::npos)
      << text;
}

TEST(DeadlockTest, ReportsARankThatNeverMakesTheCall) {
  Builder b(2);
  const uint8_t tp = b.Role("tp", {{0, 1}});
  b.Collective(0, tp);
  b.Collective(0, tp);
  b.Collective(1, tp);
  EXPECT_EQ(
      Check(b),
      "error: the communication cannot finish: rank 1 never makes a call that others wait in\n"
      "  rank 0, op 1 (all-reduce bf16 1.024 KB over 2 in 'tp', ranks 0-1) waits for rank 1");
}

TEST(DeadlockTest, ReportsCallsThatDoNotMatch) {
  Builder b(2);
  const uint8_t tp = b.Role("tp", {{0, 1}});
  b.Collective(0, tp);
  b.Collective(1, tp, 512, 0, CollectiveType::kAllGather);
  EXPECT_EQ(
      Check(b),
      "error: the members of a group do not make the same calls: op 0 of rank 0 is all-reduce "
      "bf16 1.024 KB over 2, but op 0 of rank 1 is all-gather bf16 1.024 KB over 2 (role 'tp')");
}

TEST(DeadlockTest, BroadcastThatFitsDoesNotWaitForItsReceivers) {
  // Rank 0 broadcasts, then waits in a call that rank 1 makes before it takes the broadcast.
  for (const int64_t slices : {8, 9}) {
    Builder b(2);
    const uint8_t tp = b.Role("tp", {{0, 1}}), dp = b.Role("dp", {{1, 0}});
    b.Collective(0, tp, 512, 0, CollectiveType::kBroadcast);
    b.Collective(0, dp, 256);
    b.Collective(1, dp, 256);
    b.Collective(1, tp, 512, 0, CollectiveType::kBroadcast);
    b.Plan(512, MessagePlan(slices));
    EXPECT_EQ(Check(b) == "ok", slices == 8) << Check(b);
  }
}

TEST(DeadlockTest, MessagesInALargeGroupWaitForTheirPeersOnly) {
  Builder b(4);
  const uint8_t all = b.Role("all", {{0, 1, 2, 3}});
  for (int stage = 0; stage < 3; ++stage) {
    b.MessageBetween(stage + 1, all, stage, stage + 1);
    b.MessageBetween(stage, all, stage, stage + 1);
  }
  EXPECT_EQ(Check(b), "ok");
  b.MessageBetween(3, all, 3, 1);
  b.MessageBetween(3, all, 3, 2);
  b.MessageBetween(1, all, 2, 1);
  b.MessageBetween(1, all, 3, 1);
  b.MessageBetween(2, all, 3, 2);
  b.MessageBetween(2, all, 2, 1);
  EXPECT_EQ(Check(b),
            "error: the communication cannot finish: these calls wait for each other in a cycle\n"
            "  rank 1, op 2 (receive of 1.024 KB in 'all', ranks 0-3) waits for rank 2\n"
            "  rank 2, op 2 (receive of 1.024 KB in 'all', ranks 0-3) waits for rank 3\n"
            "  rank 3, op 1 (send of 1.024 KB in 'all', ranks 0-3) waits for rank 1");
}

TEST(DeadlockTest, GroupOfMessagesWaitsForItsPeersOnly) {
  CommCall there, back;
  there.collective = back.collective = CollectiveType::kSendRecv;
  there.count = back.count = 64;
  there.peer = back.root = 2;
  Builder b(4);
  const uint8_t all = b.Role("all", {{0, 1, 2, 3}});
  for (const int rank : {0, 2}) b.Grouped(rank, all, {there, back});
  for (int rank = 0; rank < 4; ++rank) b.Collective(rank, all);
  for (const int rank : {0, 2}) b.Grouped(rank, all, {there, back});
  EXPECT_EQ(Check(b), "ok");
  b.Grouped(0, all, {there});
  EXPECT_EQ(
      Check(b),
      "error: the communication cannot finish: rank 2 never makes a call that others wait in\n"
      "  rank 0, op 3 (group of send-recv: 128 B over 4 in 'all', ranks 0-3) waits for rank 2");
}

// Both ranks send first, so only the buffers decide whether the calls end.
TEST(DeadlockTest, UnplannedSendsWaitOnlyIfTheCallerSaysSo) {
  Builder b(2);
  const uint8_t pair = b.Role("pp", {{0, 1}});
  for (const int rank : {0, 1}) {
    b.Message(rank, pair, OpKind::kSend, rank, 512);
    b.Message(rank, pair, OpKind::kRecv, 1 - rank, 512);
  }
  EXPECT_EQ(ErrorText(CheckDeadlock(b.w, UnplannedSends::kEnd)), "ok");
  EXPECT_EQ(ErrorText(CheckDeadlock(b.w, UnplannedSends::kWait)),
            "error: the communication cannot finish: these calls wait for each other in a cycle\n"
            "  rank 0, op 0 (send of 1.024 KB in 'pp', ranks 0-1) waits for rank 1\n"
            "  rank 1, op 0 (send of 1.024 KB in 'pp', ranks 0-1) waits for rank 0");
}

}  // namespace
}  // namespace drydock
