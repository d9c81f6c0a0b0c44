#include "workload-gen/work/work_tables.h"

#include <gtest/gtest.h>

namespace drydock {
namespace {

Submodule Named(const char* name, Pass pass, int64_t rows = 1) {
  Submodule s;
  s.name = name;
  s.pass = pass;
  s.work = submodule::Linear{.rows = rows};
  return s;
}

TEST(WorkTables, StoreEqualWorkOnce) {
  Workload w;
  WorkTables tables(&w);
  EXPECT_EQ(tables.Intern(Named("a", Pass::kForward)), 0u);
  EXPECT_EQ(tables.Intern(Named("a", Pass::kBackward)), 1u);
  EXPECT_EQ(tables.Intern(Named("a", Pass::kForward, 2)), 2u);
  EXPECT_EQ(tables.Intern(Named("a", Pass::kForward)), 0u);
  EXPECT_EQ(w.submodules.size(), 3u);
  CommCall call;
  call.count = 8;
  EXPECT_EQ(tables.Intern(call), 0u);
  call.root = 1;
  EXPECT_EQ(tables.Intern(call), 1u);
  call.root = 0;
  EXPECT_EQ(tables.Intern(call), 0u);
}

TEST(WorkTables, BlocksAreNamedAfterTheirContent) {
  Workload w;
  WorkTables tables(&w);
  const uint32_t norm = tables.Intern(Named("attention.norm", Pass::kForward));
  const uint32_t qkv = tables.Intern(Named("attention.qkv", Pass::kForward));
  const uint32_t fc1 = tables.Intern(Named("mlp.fc1", Pass::kBackwardWeight));
  const uint32_t adam = tables.Intern(Named("optimizer.adam", Pass::kNone));
  EXPECT_EQ(w.blocks[tables.InternBlock({norm, qkv})].name, "attention.fwd");
  EXPECT_EQ(w.blocks[tables.InternBlock({fc1})].name, "mlp.wgrad");
  EXPECT_EQ(w.blocks[tables.InternBlock({fc1, norm})].name, "mlp+attention.bwd");
  EXPECT_EQ(w.blocks[tables.InternBlock({adam})].name, "optimizer");
  EXPECT_EQ(tables.InternBlock({norm, qkv}), 0u);
  EXPECT_NE(tables.InternBlock({qkv, norm}), 0u);
}

}  // namespace
}  // namespace drydock
