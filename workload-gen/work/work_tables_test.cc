#include "workload-gen/work/work_tables.h"

#include <gtest/gtest.h>

namespace drydock {
namespace {

Submodule Named(const char* name, Pass pass, int64_t rows = 1) {
  Submodule s;
  s.name = name;
  s.pass = pass;
  s.rows = rows;
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

// Every field tells two submodules apart.
TEST(WorkTables, NoFieldIsOverlooked) {
  Workload w;
  WorkTables tables(&w);
  std::vector<Submodule> all(24, Named("a", Pass::kForward));
  all[1].kind = SubmoduleKind::kNorm;
  all[2].type = DataType::kFp16;
  all[3].rows = 7;
  all[4].n = 7;
  all[5].k = 7;
  all[6].batch = 7;
  all[7].sequence = 7;
  all[8].heads = 7;
  all[9].kv_heads = 7;
  all[10].head_dim = 7;
  all[11].elements = 7;
  all[12].causal = true;
  all[13].fused = true;
  all[14].gated = true;
  all[15].rms = true;
  all[16].bias = true;
  all[17].dropout = true;
  all[18].accumulate_fp32 = true;
  all[19].pass = Pass::kNone;
  all[20].kv_sequence = 7;
  all[21].value_dim = 7;
  all[22].experts = 7;
  all[23].top_k = 7;
  for (size_t i = 0; i < all.size(); ++i) EXPECT_EQ(tables.Intern(all[i]), i);
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
