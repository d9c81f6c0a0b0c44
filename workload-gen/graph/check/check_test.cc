// "Does the check find every workload that cannot run, and no other?"
#include "workload-gen/graph/check/check.h"

#include <gtest/gtest.h>

#include <random>

#include "workload-gen/graph/check/rank_oracle.h"
#include "workload-gen/testing/workloads_testing.h"

namespace drydock {
namespace {

std::string First(const Workload& w) {
  const CheckReport report = CheckWorkload(w);
  return report.violations.count() == 0 ? "ok" : report.violations.texts().front();
}

// Checks the workload with a table of uses made from its ops, which these tests do not cover.
std::string FirstOfOps(Workload w) {
  for (const Program& program : w.programs) {
    for (const Op& op : program.ops) {
      if (op.kind != OpKind::kCompute && (op.role >= w.roles.size() || op.work >= w.calls.size())) {
        return First(w);
      }
    }
  }
  for (size_t rank = 0; rank < w.class_of_rank.size(); ++rank) {
    for (const Op& op : w.programs[static_cast<size_t>(w.class_of_rank[rank])].ops) {
      if (op.kind != OpKind::kCompute && w.group_of_rank[op.role][rank] < 0) return First(w);
    }
  }
  CollectUses(&w);
  return First(w);
}

TEST(CheckTest, AcceptsMegatronsWorkloads) {
  for (const std::vector<std::string>& overrides : std::vector<std::vector<std::string>>{
           {},
           {"parallel.virtual_pipeline=2", "parallel.sequence_parallel=true"},
           {"parallel.pipeline=1", "training.distributed_optimizer=true"},
           {"parallel.pipeline=4", "parallel.tensor=1", "overlap.p2p=false"}}) {
    const Workload w = MegatronWorkload(overrides);
    EXPECT_EQ(First(w), "ok");
    EXPECT_TRUE(RankOracle(w).Runs());
    EXPECT_GT(CheckWorkload(w).collectives, 0u);
  }
}

// Each communication op of one rank is removed, doubled, or given another call, role or tag. The
// check finds each change, although the other ranks of the class keep their program.
TEST(CheckTest, FindsEachChangeOfOneRanksCommunication) {
  const Workload w = MegatronWorkload();
  size_t changes = 0;
  for (const int rank : {0, 3, 6}) {
    const Program& program =
        w.programs[static_cast<size_t>(w.class_of_rank[static_cast<size_t>(rank)])];
    for (uint32_t i = 0; i < program.ops.size(); ++i) {
      const Op& op = program.ops[i];
      if (op.kind == OpKind::kCompute) continue;
      const auto expect = [&](const char* what, const std::function<void(Program*)>& change) {
        EXPECT_NE(FirstOfOps(WithRankChanged(w, rank, change)), "ok")
            << what << ": rank " << rank << " op " << i;
        ++changes;
      };
      expect("left out", [i](Program* p) { RemoveOp(i, p); });
      expect("another call", [&](Program* p) {
        p->ops[i].work = (op.work + 1) % static_cast<uint32_t>(w.calls.size());
      });
      // Two roles may share one communicator.
      const auto other = static_cast<uint8_t>((op.role + 1) % w.roles.size());
      const auto at = static_cast<size_t>(rank);
      if (w.group_of_rank[other][at] != w.group_of_rank[op.role][at]) {
        expect("another role", [&](Program* p) { p->ops[i].role = other; });
      }
      if (op.kind == OpKind::kCollective) continue;
      expect("another tag", [i](Program* p) { p->ops[i].tag += 1000; });
      expect("the other direction", [&](Program* p) {
        p->ops[i].kind = op.kind == OpKind::kSend ? OpKind::kRecv : OpKind::kSend;
      });
    }
  }
  EXPECT_GT(changes, 300u);
}

// After random changes to one rank or to a whole class, the check and the oracle agree.
TEST(CheckTest, AgreesWithTheOracle) {
  const Workload w = MegatronWorkload({"training.global_batch=8", "model.layers=2"});
  std::mt19937 random(7);
  size_t wrong = 0, right = 0;
  for (int round = 0; round < 1500; ++round) {
    const auto change = [&](Program* p) {
      const auto below = [&](size_t n) { return static_cast<uint32_t>(random() % n); };
      for (uint32_t i = 0; i <= below(2); ++i) {
        const uint32_t op = below(p->ops.size());
        switch (below(5)) {
          case 0:
            RemoveOp(op, p);
            break;
          case 1: {  // two adjacent ops swap places
            const uint32_t next =
                std::min<uint32_t>(op + 1, static_cast<uint32_t>(p->ops.size()) - 1);
            std::swap(p->ops[op], p->ops[next]);
            break;
          }
          case 2:
            p->ops[op].stream = static_cast<uint8_t>(below(w.streams.size()));
            break;
          case 3:
            if (p->ops[op].kind != OpKind::kCompute) p->ops[op].tag += static_cast<int>(below(3));
            break;
          case 4:
            p->dependency.clear();
            p->dependency_begin.assign(p->ops.size() + 1, 0);
            break;
        }
      }
    };
    Workload changed = w;
    if (random() % 2 == 0) {
      changed = WithRankChanged(w, static_cast<int>(random() % 8), change);
    } else {
      change(&changed.programs[random() % changed.programs.size()]);
    }
    const std::string found = FirstOfOps(changed);
    const bool runs = RankOracle(changed).Runs();
    ++(runs ? right : wrong);
    if (found.find("NCCL has no tags") != std::string::npos) continue;  // the oracle matches by tag
    EXPECT_EQ(found == "ok", runs) << found;
  }
  EXPECT_GT(wrong, 150u);
  EXPECT_GT(right, 100u);
}

// ---- Messages. --------------------------------------------------------------------------------

// Rank 0 sends 32 B to rank 1, then both run an all-reduce of 128 B.
Workload Pair() {
  Workload w;
  w.topology = TestTopology(1, 2);
  w.streams = {"compute", "comm"};
  w.roles = {{"pp", Dimension::kPipeline}};
  w.groups = {{{0, 1}}};
  w.group_of_rank = {{0, 0}};
  w.class_of_rank = {0, 1};
  w.class_count = 2;
  w.blocks = {{"work", {}}};
  w.calls = {{CollectiveType::kSendRecv, DataType::kBf16, ReduceOp::kSum, 16, 0, 1, 2},
             {CollectiveType::kAllReduce, DataType::kBf16, ReduceOp::kSum, 64, 0, 0, 2},
             {CollectiveType::kAllReduce, DataType::kBf16, ReduceOp::kSum, 32, 0, 0, 2}};
  w.uses = {{0, 0}, {1, 0}};
  for (const OpKind kind : {OpKind::kSend, OpKind::kRecv}) {
    Program program;
    program.ops = {{OpKind::kCompute, Phase::kForward, 0, 0, 0, 0, -1, -1, 0},
                   {kind, Phase::kForward, 1, 0, 0, 7, -1, 0, 0},
                   {OpKind::kCollective, Phase::kBackward, 1, 0, 1, 0, -1, -1, 0}};
    program.dependency_begin = {0, 0, 1, 1};
    program.dependency = {0};
    w.programs.push_back(program);
  }
  return w;
}

std::string After(const std::function<void(Workload*)>& change) {
  Workload w = Pair();
  change(&w);
  return First(w);
}

TEST(CheckTest, NamesTheOpAndItsMissingPartner) {
  EXPECT_EQ(First(Pair()), "ok");
  EXPECT_EQ(After([](Workload* w) { w->programs[1].ops[1].tag = 8; }),
            "rank 0, op 1 (pp.send mb0), 32 B with tag 7: rank 1 has no receive for it in group 0 "
            "(ranks 0-1); receives without a send there have tag 8");
  EXPECT_EQ(After([](Workload* w) { RemoveOp(2, &w->programs[1]); }),
            "rank 0, op 2 (pp.all-reduce), all-reduce bf16 128 B over 2, never ends: rank 1 "
            "makes 0 of the 1 collectives of group 0 (ranks 0-1)");
  EXPECT_EQ(After([](Workload* w) {
              w->programs[1].ops[2].work = 2;
              w->uses.push_back({2, 0});
            }),
            "collective 0 of group 0 (ranks 0-1): rank 0, op 2 (pp.all-reduce) is all-reduce bf16 "
            "128 B over 2, rank 1, op 2 (pp.all-reduce) is all-reduce bf16 64 B over 2");
  EXPECT_EQ(After([](Workload* w) {
              w->calls.push_back(w->calls[0]);
              w->calls.back().count = 8;
              w->programs[1].ops[1].work = 3;
              w->uses.push_back({3, 0});
            }),
            "rank 0, op 1 (pp.send mb0) and rank 1, op 1 (pp.recv mb0) do not match: send-recv "
            "bf16 32 B over 2 and send-recv bf16 16 B over 2 in group 0 (ranks 0-1)");
  // On one stream, rank 0 runs its all-reduce before its message and rank 1 after it.
  EXPECT_EQ(After([](Workload* w) { std::swap(w->programs[0].ops[1], w->programs[0].ops[2]); }),
            "the communication cannot finish: these calls wait for each other in a cycle\n"
            "  rank 0, op 1 (all-reduce bf16 128 B over 2 in 'pp', ranks 0-1) waits for rank 1\n"
            "  rank 1, op 1 (receive of 32 B in 'pp', ranks 0-1) waits for rank 0");
  // The reverse order ends, because a send does not wait.
  EXPECT_EQ(After([](Workload* w) { std::swap(w->programs[1].ops[1], w->programs[1].ops[2]); }),
            "ok");
}

TEST(CheckTest, StructureAndGroups) {
  EXPECT_EQ(After([](Workload* w) { w->programs[0].dependency[0] = 2; }),
            "rank 0, op 1 (pp.send mb0) waits for op 2, which comes after it: a cycle with the "
            "order of ops");
  EXPECT_EQ(After([](Workload* w) { w->programs[0].dependency[0] = 1; }),
            "rank 0, op 1 (pp.send mb0) waits for op 1, itself");
  EXPECT_EQ(After([](Workload* w) { w->programs[0].ops[0].work = 1; }),
            "rank 0, op 0 (class 0) names block 1, but the number of blocks is 1");
  EXPECT_EQ(After([](Workload* w) { w->programs[0].ops[0].stream = 2; }),
            "rank 0, op 0 (class 0) names stream 2, but the number of streams is 2");
  EXPECT_EQ(After([](Workload* w) { w->programs[0].ops[1].kind = OpKind::kCollective; }),
            "rank 0, op 1 (class 0) is a collective, but its call is a message");
  EXPECT_EQ(After([](Workload* w) { w->programs[1].ops[2].kind = OpKind::kSend; }),
            "rank 1, op 2 (class 1) is a message, but its call is of kind all-reduce");
  EXPECT_EQ(After([](Workload* w) { w->class_of_rank[1] = 0; }),
            "class 1: no rank runs it; none of its 3 ops is ever reached");
  EXPECT_EQ(After([](Workload* w) { w->group_of_rank[0][1] = -1; }),
            "rank 1, op 1 (pp.recv mb0) in role 'pp': it is in no group of that role");
  EXPECT_EQ(After([](Workload* w) {
              w->groups[0].ranks = {1, 0};
            }),
            "rank 0, op 1 (pp.send mb0) in role 'pp': it sends as member 0 of the group and is "
            "member 1");
  EXPECT_EQ(After([](Workload* w) { w->calls[1].group_size = 3; }),
            "rank 0, op 2 (pp.all-reduce) in role 'pp': the call is for a group of 3, its group 0 "
            "has 2 (ranks 0-1)");
  EXPECT_EQ(After([](Workload* w) { w->calls[0].peer = 0; }),
            "rank 0, op 1 (pp.send mb0) in role 'pp': member 0 sends to itself");
  EXPECT_EQ(After([](Workload* w) { w->uses.pop_back(); }),
            "rank 0, op 2 (pp.all-reduce): call 1 in group 0 is missing from the table of uses; "
            "simccl would not plan it");
  EXPECT_EQ(After([](Workload* w) {
              w->uses.push_back({2, 0});
            }),
            "call 2 in group 0 is in the table of uses, but no op of any rank makes it");
}

// Two messages between two streams, received in the reverse order.
TEST(CheckTest, FindsMessagesReceivedOutOfOrder) {
  Workload w = Pair();
  for (Program& program : w.programs) {
    Op second = program.ops[1];
    second.tag = 8;
    program.ops.push_back(second);
    program.dependency_begin.push_back(1);
  }
  EXPECT_EQ(First(w), "ok");
  std::swap(w.programs[1].ops[1], w.programs[1].ops[3]);
  EXPECT_EQ(First(w),
            "rank 0, op 3 (pp.send mb0) is sent after op 1, and rank 1, op 1 (pp.recv mb0) "
            "received before op 3: NCCL has no tags and would mistake one for the other");
}

// The members of each communicator agree, but the two communicators wait for each other.
TEST(CheckTest, FindsCyclesAcrossCommunicators) {
  Workload w = Pair();
  w.roles.push_back({"dp", Dimension::kData});
  w.groups.push_back({{0, 1}});
  w.group_of_rank.push_back({1, 1});
  w.uses.push_back({1, 1});
  for (Program& program : w.programs) {
    Op other = program.ops[2];
    other.role = 1;
    program.ops.push_back(other);
    program.dependency_begin.push_back(1);
  }
  EXPECT_EQ(First(w), "ok");
  std::swap(w.programs[1].ops[2], w.programs[1].ops[3]);
  EXPECT_EQ(First(w),
            "the communication cannot finish: these calls wait for each other in a cycle\n"
            "  rank 0, op 2 (all-reduce bf16 128 B over 2 in 'pp', ranks 0-1) waits for rank 1\n"
            "  rank 1, op 2 (all-reduce bf16 128 B over 2 in 'dp', ranks 0-1) waits for rank 0");
}

// No dependency delays rank 1's receive, but its host never issues it.
TEST(CheckTest, FindsHostsThatWaitTooEarly) {
  Workload w = Pair();
  w.streams.push_back("other");
  for (Program& program : w.programs) {
    program.ops[2].stream = 2;
    program.dependency.clear();
    program.dependency_begin.assign(4, 0);
  }
  std::swap(w.programs[1].ops[1], w.programs[1].ops[2]);
  EXPECT_EQ(First(w), "ok");
  w.programs[0].ops[2].host_waits =
      HostWait::kDeviceSync;  // for its message, which rank 1 may take
  EXPECT_EQ(First(w), "ok");
  w.programs[1].ops[2].host_waits = HostWait::kDeviceSync;  // for the sum, which rank 0 makes then
  EXPECT_EQ(First(w), "ok") << "a send does not wait";
  std::swap(w.programs[0].ops[1].kind, w.programs[1].ops[2].kind);
  std::swap(w.calls[0].root, w.calls[0].peer);
  EXPECT_EQ(First(w),
            "the communication cannot finish: these calls wait for each other in a cycle\n"
            "  rank 0, op 1 (receive of 32 B in 'pp', ranks 0-1) waits for rank 1\n"
            "  rank 1, op 1 (all-reduce bf16 128 B over 2 in 'pp', ranks 0-1) waits for rank 0");
}

TEST(CheckTest, NotesSendsThatNeedBuffers) {
  Workload w = Pair();
  w.calls.push_back(w.calls[0]);
  std::swap(w.calls[3].root, w.calls[3].peer);
  w.uses.push_back({3, 0});
  for (const size_t rank : {0, 1}) {  // each sends, then receives, on one stream
    Op back = w.programs[rank].ops[1];
    back.kind = rank == 0 ? OpKind::kRecv : OpKind::kSend;
    back.work = 3;
    auto& ops = w.programs[rank].ops;
    ops.insert(ops.begin() + (rank == 0 ? 2 : 1), back);
    w.programs[rank].dependency_begin = {0, 0, 0, 0, 0};
    w.programs[rank].dependency.clear();
  }
  const CheckReport report = CheckWorkload(w);
  EXPECT_EQ(report.violations.count(), 0u) << report.violations.texts()[0];
  ASSERT_EQ(report.notes.size(), 1u);
  EXPECT_TRUE(
      report.notes[0].starts_with("it ends only if messages fit into NCCL's buffers "
                                  "(simccl checks this): if sends wait for "
                                  "their receives, the communication cannot finish"))
      << report.notes[0];
}

TEST(CheckTest, ManyViolationsAreCounted) {
  Workload w = Pair();
  for (Program& program : w.programs) {
    program.ops.resize(103, program.ops[0]);
    program.dependency_begin.resize(104, 1);
    for (size_t i = 3; i < 103; ++i) program.ops[i].work = 9;
  }
  const CheckReport report = CheckWorkload(w);
  EXPECT_EQ(report.violations.count(), 200u);
  EXPECT_EQ(report.violations.texts().size(), kMaxViolations);
}

}  // namespace
}  // namespace drydock
