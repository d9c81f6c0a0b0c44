// "Are workloads equal that name and order the same work otherwise, and is every other difference
// told?"
#include "workload-gen/graph/diff/workload_diff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/model/calls/grouped_call.h"
#include "workload-gen/graph/diff/diff_text.h"
#include "workload-gen/testing/job_testing.h"

namespace drydock {
namespace {

DiffCount CountOf(const WorkloadDiff& diff, DiffSubject subject) {
  return diff.counts[static_cast<size_t>(subject)];
}

// Returns the texts of a subject: "A ...; B ...", with the note first.
std::vector<std::string> TextsOf(const WorkloadDiff& diff, DiffSubject subject) {
  std::vector<std::string> texts;
  for (const Difference& d : diff.differences) {
    if (d.subject == subject) texts.push_back(d.note + "|" + d.a + "|" + d.b);
  }
  return texts;
}

// The subjects that differ.
std::vector<std::string> SubjectsOf(const WorkloadDiff& diff) {
  std::vector<std::string> names;
  for (int i = 0; i < kDiffSubjectCount; ++i) {
    if (diff.counts[i].differences() > 0) {
      names.push_back(DiffSubjectNames()[static_cast<size_t>(i)]);
    }
  }
  return names;
}

WorkloadDiff Compare(const Workload& a, const Workload& b) { return CompareWorkloads(a, b, {}); }

TEST(WorkloadDiffTest, TheSameModelTwiceIsEqual) {
  const WorkloadDiff diff = Compare(TestWorkload(), TestWorkload());
  EXPECT_TRUE(diff.equal()) << DiffText(diff, 9);
  EXPECT_GT(CountOf(diff, DiffSubject::kCalls).equal, 0);
  EXPECT_GT(CountOf(diff, DiffSubject::kProducts).equal, 0);
  EXPECT_EQ(CountOf(diff, DiffSubject::kCallStarts).equal,
            CountOf(diff, DiffSubject::kCalls).equal);
  // Two stages, and tensor ranks 0 and 1 are alike.
  EXPECT_EQ(diff.compared_ranks, 2);
  EXPECT_EQ(diff.same_ranks, 8);
}

TEST(WorkloadDiffTest, NamesAndTheOrderOfTablesAreNotCompared) {
  const Workload a = TestWorkload();
  Workload b = a;
  for (std::string& stream : b.streams) stream += "-other";
  for (GroupRole& role : b.roles) role.name += "-other";
  for (ComputeBlock& block : b.blocks) block.name = "x";
  for (Submodule& submodule : b.submodules) submodule.name = "y";
  std::reverse(b.calls.begin(), b.calls.end());
  for (Program& program : b.programs) {
    for (Op& op : program.ops) {
      if (!IsCommunication(op.kind)) continue;
      op.work = static_cast<uint32_t>(b.calls.size()) - 1 - op.work;
    }
  }
  const WorkloadDiff diff = Compare(a, b);
  EXPECT_TRUE(diff.equal()) << DiffText(diff, 9);
}

TEST(WorkloadDiffTest, BlocksMayBeCutIntoOps) {
  const Workload a = TestWorkload();
  Workload b = a;
  b.blocks.clear();
  for (uint32_t s = 0; s < a.submodules.size(); ++s) b.blocks.push_back({"one", {s}});
  for (Program& program : b.programs) {
    const Program whole = program;
    std::vector<uint32_t> last_of(whole.ops.size());
    program = {};
    program.dependency_begin = {0};
    for (uint32_t i = 0; i < whole.ops.size(); ++i) {
      const bool compute = whole.ops[i].kind == OpKind::kCompute;
      const std::vector<uint32_t> pieces =
          compute ? a.blocks[whole.ops[i].work].submodules : std::vector<uint32_t>{0};
      for (size_t p = 0; p < pieces.size(); ++p) {
        program.ops.push_back(whole.ops[i]);
        if (compute) program.ops.back().work = pieces[p];
        if (p == 0) {
          for (const uint32_t d : whole.dependencies(i)) program.dependency.push_back(last_of[d]);
        } else {
          program.ops.back().host_waits = HostWait::kNothing;
        }
        program.dependency_begin.push_back(static_cast<uint32_t>(program.dependency.size()));
      }
      last_of[i] = static_cast<uint32_t>(program.ops.size()) - 1;
    }
  }
  const WorkloadDiff diff = Compare(a, b);
  EXPECT_TRUE(diff.equal()) << DiffText(diff, 9);
}

// Two ranks: a product each on two streams, then an all-reduce that waits for one or both.
struct Small {
  bool swapped = false;  // the order of issue of the two products
  bool waits_for_second = false;
  int64_t count = 100;
  bool by_messages = false;  // another call, within a group
  HostWait host = HostWait::kNothing;
};

Workload Make(const Small& small) {
  Workload w;
  w.topology = TestTopology(1, 2);
  w.streams = {"one", "two", "comm"};
  w.roles = {{"tp", Dimension::kTensor}};
  w.groups = {{{0, 1}}};
  for (const int64_t n : {16, 32}) {
    Submodule linear;
    linear.name = "linear";
    linear.work = submodule::Linear{.rows = 64, .n = n, .k = 8};
    w.submodules.push_back(linear);
    w.blocks.push_back({"block", {static_cast<uint32_t>(w.blocks.size())}});
  }
  CommCall call{.count = small.count, .group_size = 2};
  if (small.by_messages) {
    CommCall there{
        .collective = CollectiveType::kSendRecv, .count = 7, .root = 0, .peer = 1, .group_size = 2};
    w.calls = {MakeGrouped({call, there})};
  } else {
    w.calls = {call};
  }
  w.group_of_rank = {{0, 0}};
  w.class_of_rank = {0, 0};
  w.class_count = 1;
  Program program;
  const auto add = [&program](OpKind kind, uint8_t stream, uint32_t work,
                              std::vector<uint32_t> after) {
    Op op;
    op.kind = kind;
    op.stream = stream;
    op.work = work;
    program.ops.push_back(op);
    program.dependency.insert(program.dependency.end(), after.begin(), after.end());
    program.dependency_begin.push_back(static_cast<uint32_t>(program.dependency.size()));
  };
  program.dependency_begin = {0};
  const uint8_t first = small.swapped ? 1 : 0;
  add(OpKind::kCompute, first, first, {});
  add(OpKind::kCompute, 1 - first, 1 - first, {});
  const uint32_t one = first;  // where the first product is
  add(OpKind::kCollective, 2, 0,
      small.waits_for_second ? std::vector<uint32_t>{0, 1} : std::vector<uint32_t>{one});
  program.ops.back().host_waits = small.host;
  w.programs = {program};
  return w;
}

TEST(WorkloadDiffTest, TheOrderOfIssueOnIndependentStreamsIsNotCompared) {
  const WorkloadDiff diff = Compare(Make({}), Make({.swapped = true}));
  EXPECT_TRUE(diff.equal()) << DiffText(diff, 9);
}

TEST(WorkloadDiffTest, WhatACallStartsAfter) {
  const WorkloadDiff diff = Compare(Make({}), Make({.waits_for_second = true}));
  EXPECT_THAT(TextsOf(diff, DiffSubject::kCallStarts),
              ::testing::ElementsAre("all-reduce 100 x bf16 = 200 B over 2 starts|after nothing "
                                     "more|after product 32 x 64 x 8 bf16"));
  EXPECT_THAT(SubjectsOf(diff), ::testing::ElementsAre("starts of calls"));
  EXPECT_EQ(diff.differences[0].times, 1);
  EXPECT_EQ(diff.differences[0].rank_times, 2);
  EXPECT_EQ(diff.differences[0].at_a.op, 2);
  EXPECT_EQ(diff.differences[0].at_a.text, "forward, 'tp' on comm, ranks 0-1");
}

TEST(WorkloadDiffTest, TheSizeOfACall) {
  const WorkloadDiff diff = Compare(Make({}), Make({.count = 50}));
  EXPECT_THAT(TextsOf(diff, DiffSubject::kCalls),
              ::testing::ElementsAre("|all-reduce 100 x bf16 = 200 B over 2|all-reduce 50 x bf16 = "
                                     "100 B over 2"));
  EXPECT_EQ(diff.same_ranks, 0);
}

TEST(WorkloadDiffTest, PartsOfAGroupAreCalls) {
  const WorkloadDiff diff = Compare(Make({}), Make({.by_messages = true}));
  EXPECT_THAT(TextsOf(diff, DiffSubject::kCalls),
              ::testing::UnorderedElementsAre("||send 7 x bf16 = 14 B", "||recv 7 x bf16 = 14 B"));
  EXPECT_EQ(CountOf(diff, DiffSubject::kCalls).equal, 2);
  EXPECT_EQ(diff.compared_ranks, 2) << "one sends, one receives";
}

TEST(WorkloadDiffTest, HostWaits) {
  const WorkloadDiff none = Compare(Make({}), Make({.host = HostWait::kDeviceSync}));
  EXPECT_THAT(TextsOf(none, DiffSubject::kHostWaits),
              ::testing::ElementsAre("||host synchronizes the device"));
  // A call that the host issues after a wait for the device starts after both products.
  EXPECT_THAT(SubjectsOf(none), ::testing::ElementsAre("starts of calls", "host waits"));
  const WorkloadDiff kind =
      Compare(Make({.host = HostWait::kOpReady}), Make({.host = HostWait::kDeviceSync}));
  EXPECT_EQ(CountOf(kind, DiffSubject::kHostWaits).only_a, 1);
  EXPECT_EQ(CountOf(kind, DiffSubject::kHostWaits).only_b, 1);
}

TEST(WorkloadDiffTest, GroupsOfOtherMembers) {
  Workload a = TestWorkload(), b = a;
  const auto role = std::find_if(b.roles.begin(), b.roles.end(),
                                 [](const GroupRole& each) { return each.name == "tp"; });
  ASSERT_NE(role, b.roles.end());
  const auto at = static_cast<size_t>(role - b.roles.begin());
  // Rank 0 is in another group, and only rank 0.
  const int own = b.group_of_rank[at][0];
  b.groups.push_back({{0, 7}});
  b.group_of_rank[at][0] = static_cast<int>(b.groups.size()) - 1;
  const WorkloadDiff diff = Compare(a, b);
  EXPECT_GE(own, 0);
  EXPECT_EQ(diff.compared_ranks, 3);
  EXPECT_EQ(diff.same_ranks, 7);
  EXPECT_GT(CountOf(diff, DiffSubject::kCalls).only_a, 0);
  EXPECT_EQ(CountOf(diff, DiffSubject::kCalls).only_a, CountOf(diff, DiffSubject::kCalls).only_b);
}

// One key of the model changes what it should and nothing else.
TEST(WorkloadDiffTest, RecomputeAddsTheForwardPass) {
  const WorkloadDiff diff = Compare(TestWorkload(), TestWorkload({"training.recompute=full"}));
  const DiffCount products = CountOf(diff, DiffSubject::kProducts);
  EXPECT_EQ(products.only_a, 0);
  EXPECT_EQ(products.differ, 0);
  EXPECT_GT(products.only_b, 0);
  EXPECT_EQ(CountOf(diff, DiffSubject::kCalls).only_a, 0);
  EXPECT_EQ(CountOf(diff, DiffSubject::kCalls).differ, 0);
  for (const Difference& d : diff.differences) {
    if (d.subject != DiffSubject::kProducts) continue;
    EXPECT_THAT(d.at_b.text, ::testing::StartsWith("recompute"));
  }
}

TEST(WorkloadDiffTest, MicroBatchesChangeSizesAndNumbers) {
  const WorkloadDiff diff = Compare(TestWorkload(), TestWorkload({"training.micro_batch=4"}));
  EXPECT_EQ(CountOf(diff, DiffSubject::kProducts).equal, 0);
  // The gradients of the parameters stay.
  EXPECT_GT(CountOf(diff, DiffSubject::kCalls).equal, 0);
  const auto texts = TextsOf(diff, DiffSubject::kTotals);
  EXPECT_TRUE(texts.empty()) << texts[0];
}

TEST(WorkloadDiffTest, OverlapMovesCallsAndWhatTheyStartAfter) {
  const WorkloadDiff diff =
      Compare(TestWorkload({"training.distributed_optimizer=true"}),
              TestWorkload({"training.distributed_optimizer=true", "overlap.grad_reduce=true",
                            "training.bucket_elements=30000"}));
  EXPECT_EQ(CountOf(diff, DiffSubject::kProducts).differences(), 0);
  EXPECT_GT(CountOf(diff, DiffSubject::kCalls).only_b, 0);
  EXPECT_GT(CountOf(diff, DiffSubject::kCalls).equal, 0);
}

TEST(WorkloadDiffTest, TensorRanksChangeGroupsAndProducts) {
  const WorkloadDiff diff = Compare(TestWorkload(), TestWorkload({"parallel.tensor=4"}));
  EXPECT_EQ(CountOf(diff, DiffSubject::kProducts).equal, 0);
  bool of_two = false, of_four = false;
  for (const Difference& d : diff.differences) {
    if (d.subject != DiffSubject::kCalls || d.at_a.text.find("'tp'") == std::string::npos) continue;
    EXPECT_TRUE(d.b.empty()) << d.a << " and " << d.b;
    of_two |= d.a.ends_with("over 2");
  }
  for (const Difference& d : diff.differences) {
    of_four |= d.subject == DiffSubject::kCalls && d.a.empty() && d.b.ends_with("over 4");
  }
  EXPECT_TRUE(of_two && of_four);
}

TEST(WorkloadDiffTest, MemoryHasATolerance) {
  Workload a = Make({}), b = a;
  a.pytorch = {{Bytes(1000), Bytes(2000)}};
  b.pytorch = {{Bytes(1020), Bytes(2000)}};
  EXPECT_EQ(CountOf(Compare(a, b), DiffSubject::kMemory).differ, 1);
  EXPECT_TRUE(CompareWorkloads(a, b, {.memory_tolerance = 0.03}).equal());
  b.pytorch.clear();
  const WorkloadDiff unknown = Compare(a, b);
  EXPECT_TRUE(unknown.equal());
  EXPECT_THAT(unknown.notes,
              ::testing::ElementsAre("PyTorch's memory is not compared: B states none"));
}

TEST(WorkloadDiffTest, OtherNumbersOfRanks) {
  const WorkloadDiff diff = Compare(TestWorkload(), TestWorkload({}, 2));
  EXPECT_THAT(TextsOf(diff, DiffSubject::kTotals), ::testing::Contains("|ranks 8|ranks 16"));
}

TEST(WorkloadDiffTest, TextAndJson) {
  const WorkloadDiff diff = Compare(Make({}), Make({.count = 50}));
  EXPECT_EQ(DiffText(diff, 5),
            "2 ranks compared, as 1 with different programs; 2 of them differ\n\n"
            "what                       equal   only in A   only in B      differ\n"
            "calls                          0           0           0           1\n"
            "products                       2           0           0           0\n"
            "starts of products             2           0           0           0\n"
            "totals                         1           0           0           0\n\n"
            "calls: 1 difference of 1 kind\n"
            "  1x A all-reduce 100 x bf16 = 200 B over 2; B all-reduce 50 x bf16 = 100 B over 2\n"
            "      2 in all ranks, 400 B\n"
            "      A: rank 0, op 2, forward, 'tp' on comm, ranks 0-1\n"
            "      B: rank 0, op 2, forward, 'tp' on comm, ranks 0-1\n");
  const auto json = nlohmann::json::parse(DiffJson(diff));
  EXPECT_EQ(json["differences"][0]["place_b"]["op"], 2);
  EXPECT_EQ(json["summary"][0]["differ"], 1);
  EXPECT_FALSE(json["equal"]);
}

}  // namespace
}  // namespace drydock
