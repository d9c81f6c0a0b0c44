#include "workload-gen/work/table_finish.h"

#include <gtest/gtest.h>

namespace drydock {
namespace {

TEST(TableFinish, DropsUnusedSubmodulesAndRenumbersTheOthers) {
  Workload w;
  for (const char* name : {"a", "b", "c", "d"}) {
    w.submodules.emplace_back();
    w.submodules.back().name = name;
  }
  w.blocks = {{"x", {3, 1}}, {"y", {1, 3}}};
  DropUnusedSubmodules(&w);
  ASSERT_EQ(w.submodules.size(), 2u);
  EXPECT_EQ(w.submodules[0].name, "d");
  EXPECT_EQ(w.submodules[1].name, "b");
  EXPECT_EQ(w.blocks[0].submodules, (std::vector<uint32_t>{0, 1}));
  EXPECT_EQ(w.blocks[1].submodules, (std::vector<uint32_t>{1, 0}));
}

TEST(TableFinish, UsesAreTheDistinctCallsOfEachGroup) {
  Workload w;
  w.calls.resize(2);
  w.groups = {{{0, 1}}, {{2, 3}}};
  w.group_of_rank = {{0, 0, 1, 1}};
  w.class_of_rank = {0, 0, 1, 1};
  w.programs.resize(2);
  Op op;
  op.kind = OpKind::kCollective;
  op.work = 1;
  w.programs[0].ops = {op, op};
  op.work = 0;
  w.programs[1].ops = {op, Op{}};
  CollectUses(&w);
  ASSERT_EQ(w.uses.size(), 2u);
  EXPECT_EQ(w.uses[0], (Workload::Use{0, 1}));
  EXPECT_EQ(w.uses[1], (Workload::Use{1, 0}));
}

}  // namespace
}  // namespace drydock
