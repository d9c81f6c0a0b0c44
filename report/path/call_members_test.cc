#include "report/path/call_members.h"

#include <gtest/gtest.h>

#include "report/testing/run_testing.h"

namespace drydock {
namespace {

using Members = std::vector<CallMembers::Member>;

TEST(CallMembers, CollectiveReturnsItsGroup) {
  const Inputs inputs = FakeRun();
  CallMembers members(inputs.workload);
  EXPECT_EQ(members.Of(1, 1), (Members{{0, 1}, {1, 1}}));
  EXPECT_EQ(members.Of(2, 2), (Members{{2, 2}, {3, 2}}));
}

TEST(CallMembers, MessageReturnsItsTwoEnds) {
  const Inputs inputs = FakeRun();
  CallMembers members(inputs.workload);
  EXPECT_EQ(members.Of(0, 2), (Members{{0, 2}, {2, 0}}));  // activations, pp-next and pp-prev
  EXPECT_EQ(members.Of(3, 4), (Members{{1, 3}, {3, 4}}));  // gradients
}

// If two ranks make the same call twice, the second call of one matches the second of the other.
TEST(CallMembers, RepeatedCallsMatchInOrder) {
  Inputs inputs = FakeRun();
  Program& program = inputs.workload.programs[0];
  program.ops.push_back(program.ops[1]);
  program.dependency_begin.push_back(program.dependency_begin.back());
  CallMembers members(inputs.workload);
  EXPECT_EQ(members.Of(0, 5), (Members{{0, 5}, {1, 5}}));
  EXPECT_EQ(members.Of(0, 1), (Members{{0, 1}, {1, 1}}));
}

}  // namespace
}  // namespace drydock
