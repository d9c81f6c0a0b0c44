#include <gmock/gmock.h>

#include "workload-gen/testing/sharded_testing.h"
#include "workload-gen/testing/structure_testing.h"

namespace drydock {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Four layers of 64 rows and 64 columns: 8 heads of 8, 4 of them with keys. By default no tensor is
// too small to leave.
Overrides Small(const std::string& modules, const Overrides& more = {}) {
  Overrides all = {"training.framework=megatron", "training.offload_modules=[" + modules + "]",
                   "training.offload_min_elements=0"};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}
Workload Made(const std::string& modules, const Overrides& more = {}) {
  return ShardedWorkload(Small(modules, more));
}
const Overrides kExperts = {"model.experts=4", "model.experts_per_token=2",
                            "training.moe_pad_to_capacity=true", "training.moe_capacity_factor=1",
                            "parallel.expert=2"};

int64_t Activations(const Workload& w, size_t class_index = 0) {
  for (const MemoryPart& part : w.memory[class_index]) {
    if (part.name == "activations") return part.bytes.count();
  }
  return -1;
}

// "core_attn 2 > 1": moved in layer 2, micro-batch 1; "<" back.
std::vector<std::string> MovesOf(const Workload& w, size_t program = 0) {
  std::vector<std::string> moves;
  for (const Op& op : w.programs[program].ops) {
    if (op.kind != OpKind::kStore && op.kind != OpKind::kLoad) continue;
    moves.push_back(fmt::format("{} {}{} of {}", w.transfers[op.work].name,
                                op.kind == OpKind::kStore ? ">" : "<", op.layer, op.microbatch));
  }
  return moves;
}

// The submodules that wait for a load, each with the layer of the load.
std::vector<std::string> WaitsOf(const Workload& w) {
  std::vector<std::string> waits;
  const Program& p = w.programs[0];
  for (uint32_t i = 0; i < p.ops.size(); ++i) {
    if (p.ops[i].kind != OpKind::kCompute) continue;
    for (const uint32_t before : p.dependencies(i)) {
      if (p.ops[before].kind != OpKind::kLoad) continue;
      waits.push_back(fmt::format("{} of {}",
                                  w.submodules[w.blocks[p.ops[i].work].submodules[0]].name,
                                  p.ops[before].layer));
    }
  }
  return waits;
}

int64_t BytesOf(const Workload& w, const std::string& name) {
  for (const MemoryTransfer& transfer : w.transfers) {
    if (transfer.name == name) return transfer.bytes.count();
  }
  return 0;
}

// Without stages, the last layer stays, and a layer comes back behind the same module of the layer
// after it, in the reverse order.
TEST(ModuleOffload, LayersButTheLastLeave) {
  const Workload w = Made("core_attn, attn_proj");
  EXPECT_THAT(MovesOf(w),
              ElementsAre("core_attn >0 of 0", "core_attn, again >0 of 0", "attn_proj >0 of 0",
                          "core_attn >1 of 0", "core_attn, again >1 of 0", "attn_proj >1 of 0",
                          "core_attn >2 of 0", "core_attn, again >2 of 0", "attn_proj >2 of 0",
                          "attn_proj <2 of 0", "core_attn <2 of 0", "core_attn, again <2 of 0",
                          "attn_proj <1 of 0", "core_attn <1 of 0", "core_attn, again <1 of 0",
                          "attn_proj <0 of 0", "core_attn <0 of 0", "core_attn, again <0 of 0"));
  EXPECT_THAT(WaitsOf(w),
              ElementsAre("attention.proj of 2", "attention.core of 2", "attention.proj of 1",
                          "attention.core of 1", "attention.proj of 0", "attention.core of 0"));
  EXPECT_EQ(Executor(w).Run(), "");
}

// 64 rows in bf16: queries 64, keys and values 32 columns; again the output, 64 columns.
TEST(ModuleOffload, Bytes) {
  EXPECT_EQ(BytesOf(Made("core_attn"), "core_attn"), 64 * (64 + 32 + 32) * 2);
  EXPECT_EQ(BytesOf(Made("core_attn"), "core_attn, again"), 64 * 64 * 2);
  // Unfused: the probabilities of 2 sequences, 8 heads and 32 x 32 scores, twice.
  const Workload unfused = Made("core_attn", {"training.attention_kernels=unfused"});
  const int64_t scores = 2 * 8 * 32 * 32 * 2;
  EXPECT_EQ(BytesOf(unfused, "core_attn"), 64 * (64 + 32 + 32) * 2 + scores);
  EXPECT_EQ(BytesOf(unfused, "core_attn, again"), scores);
  // The norm and its result, which the product reads.
  EXPECT_EQ(BytesOf(Made("qkv_linear"), "qkv_linear"), 2 * 64 * 64 * 2);
  // A tensor below the minimum stays: keys and values.
  EXPECT_EQ(BytesOf(Made("core_attn", {"training.offload_min_elements=4096"}), "core_attn"),
            64 * 64 * 2);
  EXPECT_THAT(MovesOf(Made("core_attn", {"training.offload_min_elements=4097"})), IsEmpty());
}

// Three of four layers are away at the peak.
TEST(ModuleOffload, MemoryWithoutWhatLeft) {
  const int64_t all = Activations(ShardedWorkload({"training.framework=megatron"}));
  const Workload some = Made("core_attn");
  EXPECT_EQ(all - Activations(some), 3 * BytesOf(some, "core_attn"));
  const Workload more = Made("core_attn, attn_proj");
  EXPECT_EQ(all - Activations(more), 3 * (BytesOf(more, "core_attn") + BytesOf(more, "attn_proj")));
}

// Each micro-batch offloads: without stages, the next pass to run backward is always the same one.
TEST(ModuleOffload, EachMicrobatchKeepsItsLastLayer) {
  const std::vector<std::string> moves =
      MovesOf(Made("attn_proj, core_attn", {"training.global_batch=32"}));
  EXPECT_EQ(moves.size(), 2 * 18u);
  EXPECT_EQ(std::count(moves.begin(), moves.end(), "attn_proj >3 of 1"), 0);
}

// The first of two stages runs two micro-batches forward before it runs one backward. The first one
// keeps its last group; the second keeps none, and its last group comes back behind the first
// one's.
TEST(ModuleOffload, StagesLoadAheadForTheNextPass) {
  const Overrides stages = {"parallel.pipeline=2", "training.global_batch=24"};
  const Workload w = Made("qkv_linear", stages);
  EXPECT_THAT(MovesOf(w, 0),
              ElementsAre("qkv_linear >0 of 0", "qkv_linear >0 of 1", "qkv_linear >1 of 1",
                          "qkv_linear <0 of 0", "qkv_linear <1 of 1", "qkv_linear >0 of 2",
                          "qkv_linear >1 of 2", "qkv_linear <0 of 1", "qkv_linear <1 of 2",
                          "qkv_linear <0 of 2"));
  EXPECT_THAT(MovesOf(w, 1),
              ElementsAre("qkv_linear >2 of 0", "qkv_linear <2 of 0", "qkv_linear >2 of 1",
                          "qkv_linear <2 of 1", "qkv_linear >2 of 2", "qkv_linear <2 of 2"));
  EXPECT_EQ(Executor(w).Run(), "");
}

// Whatever leaves comes back, once, with stages, chunks and passes that run together.
TEST(ModuleOffload, AllComesBack) {
  const std::string modules = "qkv_linear, core_attn, attn_proj, mlp_norm, expert_fc1, moe_act";
  const std::vector<Overrides> layouts = {
      {},
      {"parallel.pipeline=2", "training.global_batch=32"},
      {"parallel.pipeline=2", "parallel.virtual_pipeline=2", "training.global_batch=32"},
      {"overlap.expert=true", "training.global_batch=32"},
      {"overlap.expert=true", "overlap.delay_weight_gradients=true", "parallel.pipeline=2",
       "parallel.virtual_pipeline=2", "training.global_batch=32", "overlap.p2p=true"}};
  for (const Overrides& layout : layouts) {
    Overrides more = kExperts;
    more.insert(more.end(), layout.begin(), layout.end());
    const Workload w = Made(modules, more);
    EXPECT_EQ(Executor(w).Run(), "");
    for (size_t i = 0; i < w.programs.size(); ++i) {
      std::map<std::string, int> away;
      for (const std::string& move : MovesOf(w, i)) {
        const size_t at = move.find_first_of("<>");
        const std::string group = move.substr(0, at) + move.substr(at + 1);
        away[group] += move[at] == '>' ? 1 : -1;
        EXPECT_THAT(away[group], testing::AnyOf(0, 1)) << move;
      }
      EXPECT_GT(away.size(), 0u);
      for (const auto& [group, count] : away) EXPECT_EQ(count, 0) << group;
    }
    Overrides without = more;
    without.insert(without.begin(), "training.framework=megatron");
    EXPECT_LT(Activations(w), Activations(ShardedWorkload(without)));
  }
}

// Beside the compute stream, a copy follows the pass to which it belongs, and that pass does not
// wait for it.
TEST(ModuleOffload, CopiesBesideCompute) {
  Overrides more = kExperts;
  more.insert(more.end(), {"overlap.expert=true", "training.global_batch=32"});
  const Workload w = Made("mlp_norm", more);
  const Program& p = w.programs[0];
  int stores = 0;
  for (uint32_t i = 0; i < p.ops.size(); ++i) {
    if (p.ops[i].kind == OpKind::kStore) {
      ++stores;
      ASSERT_FALSE(p.dependencies(i).empty());
      const Op& before = p.ops[p.dependencies(i).back()];
      EXPECT_EQ(w.submodules[w.blocks[before.work].submodules.back()].name, "mlp.residual");
      EXPECT_EQ(before.microbatch, p.ops[i].microbatch);
    }
    for (const uint32_t before : p.dependencies(i)) {
      EXPECT_TRUE(p.ops[before].kind != OpKind::kStore || p.ops[i].kind == OpKind::kLoad);
    }
  }
  EXPECT_EQ(stores, 2 * 3);
}

// With the activation inside the products, all that they save is one group: of 128 rows, the inputs
// of both products in MXFP8, 33/32 bytes an element, and what the activation reads.
TEST(ModuleOffload, FusedExpertsAreOneGroup) {
  Overrides more = kExperts;
  more.insert(more.end(),
              {"model.expert_ffn=128", "training.precision=fp8", "training.fp8_recipe=mxfp8",
               "training.moe_grouped_kernel=one", "training.moe_fused_mlp=true"});
  const Workload w = Made("fused_group_mlp", more);
  EXPECT_EQ(BytesOf(w, "fused_group_mlp"), 128 * ((64 + 128) * 33 / 32 + 2 * 128 * 2));
  Overrides without = more;
  without.insert(without.begin(), "training.framework=megatron");
  EXPECT_EQ(Activations(ShardedWorkload(without)) - Activations(w),
            3 * BytesOf(w, "fused_group_mlp"));
  EXPECT_THAT(MovesOf(w), ElementsAre("fused_group_mlp >0 of 0", "fused_group_mlp >1 of 0",
                                      "fused_group_mlp >2 of 0", "fused_group_mlp <2 of 0",
                                      "fused_group_mlp <1 of 0", "fused_group_mlp <0 of 0"));
}

TEST(ModuleOffload, Rules) {
  const auto error = [](const std::string& modules, const Overrides& more = {}) {
    const std::string text = ShardedError(Small(modules, more));
    return text.substr(0, text.find('\n'));
  };
  EXPECT_EQ(error("attn_proj"),
            "offload_modules: 'attn_proj' needs 'core_attn', whose output it reads");
  EXPECT_EQ(error("attn_norm"),
            "offload_modules: 'attn_norm' has no effect without model.kv_lora_rank: Transformer "
            "Engine fuses the norm with the projections, and 'qkv_linear' offloads what both save");
  EXPECT_EQ(error("moe_act"),
            "offload_modules: 'mlp_norm', 'expert_fc1' and 'moe_act' need model.experts");
  EXPECT_EQ(error("fused_group_mlp"),
            "offload_modules: 'fused_group_mlp' needs moe_fused_mlp: true");
  EXPECT_EQ(error("core_attn", {"training.recompute=full"}),
            "'offload_modules' excludes recompute: full; use selective");
  EXPECT_EQ(error("core_attn", {"training.recompute=selective"}),
            "offload_modules: 'core_attn' excludes recompute_modules: [core_attn], which saves "
            "nothing to offload");
  EXPECT_EQ(error("core_attn", {"training.cuda_graphs=[attn]"}),
            "offload_modules: 'attn_norm', 'qkv_linear', 'core_attn' and 'attn_proj' with "
            "cuda_graphs: [attn] are not generated");
  EXPECT_EQ(error("core_attn", {"training.offload_layers=1"}),
            "'offload_modules' excludes offload_layers");
  EXPECT_NE(error("core_atn").find("'core_atn' is not a module to offload; did you mean"),
            std::string::npos);
  const std::string other =
      ShardedError({"training.framework=fsdp", "training.offload_modules=[core_attn]"});
  EXPECT_NE(other.find("'offload_modules' needs framework: megatron"), std::string::npos);
}

}  // namespace
}  // namespace drydock
