// Layers of experts as Megatron's dispatchers run them, counted by hand.
#include "workload-gen/layers/expert_program.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>

#include "core/schema/testing/submodule_testing.h"
#include "workload-gen/graph/text/program_counts.h"
#include "workload-gen/layout/process_groups.h"
#include "workload-gen/testing/job_testing.h"

namespace drydock {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::Not;
using Overrides = std::vector<std::string>;

// 8 GPUs: TP2 DP4, EP4 with whole experts on each rank. n = 32 local tokens of width 64, two
// copies each.
Workload Mixture(Overrides more) {
  Overrides overrides = {
      "model.bias=false",          "model.dropout=0",         "model.experts=8",
      "model.experts_per_token=2", "model.expert_ffn=96",     "training.precision=bf16",
      "training.global_batch=8",   "parallel.pipeline=1",     "parallel.sequence_parallel=true",
      "parallel.expert=4",         "parallel.expert_tensor=1"};
  overrides.insert(overrides.end(), more.begin(), more.end());
  return TestWorkload(overrides);
}

constexpr const char* kGather = "tp all-gather 4096 x bf16 = 8.192 KB over 2";
constexpr const char* kScatter = "tp reduce-scatter 4096 x bf16 = 8.192 KB over 2";

TEST(ExpertProgram, AllToAllWithoutDropping) {
  const Workload w = Mixture({});
  EXPECT_THAT(CallsOfLayer(w, 0, 1, Phase::kForward),
              ElementsAre(kGather, kScatter, "tp-cp all-reduce 8 x int64 = 64 B over 2",
                          "tp-ep all-gather 32 x int64 = 256 B over 4",
                          "ep all-to-all 4096 x bf16 = 8.192 KB over 4",
                          "ep all-to-all 64 x bf16 = 128 B over 4",
                          "ep all-to-all 4096 x bf16 = 8.192 KB over 4"));
  EXPECT_THAT(
      CallsOfLayer(w, 0, 1, Phase::kBackward),
      ElementsAre("ep all-to-all 4096 x bf16 = 8.192 KB over 4",
                  "ep all-to-all 64 x bf16 = 128 B over 4",
                  "ep all-to-all 4096 x bf16 = 8.192 KB over 4", kGather, kGather, kScatter));
  EXPECT_THAT(SubmodulesOfLayer(w, 0, 1, Phase::kForward),
              ElementsAre("attention.norm", "attention.qkv", "attention.core", "attention.proj",
                          "attention.residual", "mlp.norm", "moe.router", "moe.top-k",
                          "moe.permute", "moe.sort", "moe.fc1", "moe.activation", "moe.fc2",
                          "moe.sort", "moe.unpermute", "mlp.residual"));
}

// Tokens of width 64 travel with 16 values each.
TEST(ExpertProgram, LatentExpertsExchangeNarrowTokens) {
  const Workload w = Mixture({"model.expert_latent=16", "training.moe_aux_loss=false"});
  EXPECT_THAT(CallsOfLayer(w, 0, 1, Phase::kForward),
              ElementsAre(kGather, kScatter, "tp-ep all-gather 32 x int64 = 256 B over 4",
                          "ep all-to-all 1024 x bf16 = 2.048 KB over 4",
                          "ep all-to-all 64 x bf16 = 128 B over 4",
                          "ep all-to-all 1024 x bf16 = 2.048 KB over 4"));
  const std::vector<std::string> forward = SubmodulesOfLayer(w, 0, 1, Phase::kForward);
  EXPECT_THAT(std::vector<std::string>(forward.begin() + 6, forward.end()),
              ElementsAre("moe.router", "moe.top-k", "moe.latent-down", "moe.permute", "moe.sort",
                          "moe.fc1", "moe.activation", "moe.fc2", "moe.sort", "moe.unpermute",
                          "moe.latent-up", "mlp.residual"));
  const std::vector<std::string> backward = SubmodulesOfLayer(w, 0, 1, Phase::kBackward);
  EXPECT_THAT(std::vector<std::string>(backward.begin(), backward.begin() + 3),
              ElementsAre("moe.latent-up", "moe.latent-up", "moe.unpermute"));
  for (const Submodule& s : w.submodules) {
    if (s.name == "moe.fc1" && s.pass == Pass::kForward) {
      EXPECT_EQ(s.As<submodule::GroupedLinear>()->k, 16);
    }
  }
}

// Two local experts: the GEMM adds the bias of fc1; two operators for each expert add that of fc2.
TEST(ExpertProgram, TheSecondBiasOfExpertsIsAddedForEachExpert) {
  const Workload w = Mixture({"model.bias=true"});
  const std::vector<std::string> forward = SubmodulesOfLayer(w, 0, 1, Phase::kForward);
  EXPECT_EQ(std::count(forward.begin(), forward.end(), "moe.bias-weight"), 2);
  EXPECT_EQ(std::count(forward.begin(), forward.end(), "moe.bias-add"), 2);
  EXPECT_EQ(std::count(forward.begin(), forward.end(), "moe.bias-join"), 1);
  const std::vector<std::string> backward = SubmodulesOfLayer(w, 0, 1, Phase::kBackward);
  EXPECT_EQ(std::count(backward.begin(), backward.end(), "moe.bias-sum"), 4);
  EXPECT_EQ(std::count(backward.begin(), backward.end(), "moe.bias-join"), 1);
}

// HybridEP hands on probabilities in fp32: what they touch has four bytes an element, and casts
// stand around the whole.
TEST(ExpertProgram, ProbabilitiesInFp32WidenTheBiasOfExperts) {
  const Workload w = Mixture({"model.bias=true", "training.moe_dispatcher=hybridep"});
  const std::vector<std::string> forward = SubmodulesOfLayer(w, 0, 1, Phase::kForward);
  EXPECT_EQ(std::count(forward.begin(), forward.end(), "moe.bias-cast"), 1);
  const std::vector<std::string> backward = SubmodulesOfLayer(w, 0, 1, Phase::kBackward);
  EXPECT_EQ(std::count(backward.begin(), backward.end(), "moe.bias-cast"), 1);
  EXPECT_EQ(std::count(backward.begin(), backward.end(), "moe.bias-narrow"), 2);
  for (const Submodule& s : w.submodules) {
    if (s.name == "moe.bias-sum") {
      EXPECT_EQ(s.type, DataType::kFp32);
    }
  }
}

// Products in fp8 need multiples of rows, which the router, the capacity or HybridEP may ensure.
TEST(ExpertProgram, RowsOfExpertsArePaddedForFp8) {
  const auto pads = [](const Overrides& more, Phase phase) {
    Overrides overrides = {"training.kernels=fused"};
    overrides.insert(overrides.end(), more.begin(), more.end());
    std::vector<std::string> found;
    for (const std::string& name : SubmodulesOfLayer(Mixture(overrides), 0, 1, phase)) {
      if (name == "moe.pad" || name == "moe.unpad") found.push_back(name);
    }
    return found;
  };
  const Overrides fp8 = {"training.precision=fp8", "training.fp8_recipe=mxfp8"};
  EXPECT_THAT(pads(fp8, Phase::kForward), ElementsAre("moe.pad", "moe.unpad"));
  EXPECT_THAT(pads(fp8, Phase::kBackward), ElementsAre("moe.unpad", "moe.pad"));
  EXPECT_THAT(pads({}, Phase::kForward), ElementsAre());
  for (const Overrides& more : std::vector<Overrides>{
           {"training.moe_router_padding=true"},
           {"training.moe_dispatcher=hybridep"},
           {"training.moe_capacity_factor=1", "training.moe_pad_to_capacity=true"},
           {"training.moe_grouped_gemm=false"}}) {
    Overrides all = fp8;
    all.insert(all.end(), more.begin(), more.end());
    EXPECT_THAT(pads(all, Phase::kForward), ElementsAre()) << more[0];
  }
}

TEST(ExpertProgram, ClampsRunBeforeTheActivation) {
  const Workload w = Mixture({"model.activation=geglu", "model.activation_clamp=7"});
  for (const Submodule& s : w.submodules) {
    if (s.name == "moe.activation") {
      EXPECT_TRUE(s.As<submodule::Activation>()->clamped);
    }
    if (s.name == "moe.clamp") {
      EXPECT_EQ(s.As<submodule::Add>()->n, 2 * 96);
    }
  }
  const std::vector<std::string> forward = SubmodulesOfLayer(w, 0, 1, Phase::kForward);
  const auto fc1 = std::find(forward.begin(), forward.end(), "moe.fc1");
  ASSERT_GT(forward.end() - fc1, 4);
  EXPECT_THAT(std::vector<std::string>(fc1, fc1 + 5),
              ElementsAre("moe.fc1", "moe.clamp", "moe.clamp-join", "moe.activation", "moe.fc2"));
}

TEST(ExpertProgram, GroupedGemmHasOneRowPerReceivedCopy) {
  const Workload w = Mixture({});
  for (const Submodule& s : w.submodules) {
    if (s.name != "moe.fc1" || s.pass != Pass::kForward) continue;
    const auto* grouped = s.As<submodule::GroupedLinear>();
    ASSERT_NE(grouped, nullptr);
    EXPECT_EQ(grouped->rows, 64);  // as many as are sent, on average
    EXPECT_EQ(grouped->n, 96);
    EXPECT_EQ(grouped->k, 64);
    EXPECT_EQ(grouped->experts, 2);
  }
}

TEST(ExpertProgram, PaddedToCapacityRanksExchangeNoCounts) {
  const Workload w = Mixture({"training.moe_capacity_factor=1.25",
                              "training.moe_pad_to_capacity=true", "training.moe_aux_loss=false"});
  // Capacity: ceil(64 / 8 * 1.25) = 10 rows an expert.
  EXPECT_THAT(CallsOfLayer(w, 0, 1, Phase::kForward),
              ElementsAre(kGather, kScatter, "ep all-to-all 5120 x bf16 = 10.24 KB over 4",
                          "ep all-to-all 80 x bf16 = 160 B over 4",
                          "ep all-to-all 5120 x bf16 = 10.24 KB over 4"));
}

TEST(ExpertProgram, SplitExpertsGatherTheirTokens) {
  const Workload w = Mixture({"parallel.expert_tensor=2", "training.moe_aux_loss=false"});
  EXPECT_THAT(CallsOfLayer(w, 0, 1, Phase::kForward),
              ElementsAre(kGather, kScatter, "tp-ep all-gather 64 x int64 = 512 B over 8",
                          "ep all-to-all 4096 x bf16 = 8.192 KB over 4",
                          "ep all-to-all 64 x bf16 = 128 B over 4",
                          "etp all-gather 8192 x bf16 = 16.38 KB over 2",
                          "etp all-gather 128 x bf16 = 256 B over 2",
                          "etp reduce-scatter 8192 x bf16 = 16.38 KB over 2",
                          "ep all-to-all 4096 x bf16 = 8.192 KB over 4"));
}

TEST(ExpertProgram, AllGatherDispatch) {
  const Workload w = Mixture({"training.moe_dispatcher=allgather", "training.moe_aux_loss=false"});
  EXPECT_THAT(CallsOfLayer(w, 0, 1, Phase::kForward),
              ElementsAre(kGather, kScatter, "tp-ep all-gather 1024 x uint8 = 1.024 KB over 4",
                          "tp-ep all-gather 1024 x bf16 = 2.048 KB over 4",
                          "tp-ep all-gather 8192 x bf16 = 16.38 KB over 4",
                          "tp-ep reduce-scatter 8192 x bf16 = 16.38 KB over 4"));
  EXPECT_THAT(CallsOfLayer(w, 0, 1, Phase::kBackward),
              ElementsAre("tp-ep all-gather 8192 x bf16 = 16.38 KB over 4",
                          "tp-ep reduce-scatter 8192 x bf16 = 16.38 KB over 4",
                          "tp-ep reduce-scatter 1024 x bf16 = 2.048 KB over 4", kGather, kGather,
                          kScatter));
}

bool HostReads(const Workload& w) {
  return std::any_of(w.programs[0].ops.begin(), w.programs[0].ops.end(), [](const Op& op) {
    return op.layer == 1 && op.phase == Phase::kForward && op.host_waits == HostWait::kOpReady;
  });
}

// A quick GeGLU makes a tensor of a number on the GPU, and PyTorch synchronizes for that. With the
// whole capacity, nothing else waits.
TEST(ExpertProgram, TheHostWaitsBeforeAQuickGeglu) {
  const auto waits = [](const std::string& activation, const std::string& more) {
    return HostReads(Mixture({"training.moe_capacity_factor=1", "training.moe_pad_to_capacity=true",
                              "model.activation=" + activation, more}));
  };
  EXPECT_FALSE(waits("swiglu", "training.kernels=fused"));
  EXPECT_TRUE(waits("geglu", "training.kernels=fused"));
  EXPECT_FALSE(waits("geglu", "training.kernels=unfused"));
  EXPECT_FALSE(waits("geglu", "training.cuda_graphs=layers"));
}

// All ranks learn which experts each token picked. The host waits for the number of tokens unless
// it is fixed or stays on the device.
TEST(ExpertProgram, HybridEpGathersThePicks) {
  const std::string hybrid = "training.moe_dispatcher=hybridep";
  const Workload w = Mixture({hybrid, "training.moe_aux_loss=false"});
  EXPECT_THAT(CallsOfLayer(w, 0, 1, Phase::kForward),
              ElementsAre(kGather, kScatter, "tp-ep all-gather 1024 x uint8 = 1.024 KB over 4",
                          HasSubstr("tp-ep all-to-all-v"), HasSubstr("tp-ep all-to-all-v")));
  EXPECT_TRUE(HostReads(w));
  EXPECT_FALSE(HostReads(
      Mixture({hybrid, "training.moe_capacity_factor=1", "training.moe_pad_to_capacity=true"})));
  EXPECT_FALSE(HostReads(
      Mixture({hybrid, "training.moe_counts=device", "training.moe_grouped_kernel=one"})));
}

// HybridEP's copies of a layer, as "name pass: rows x columns".
std::vector<std::string> HybridEpKernels(int hosts, int gpus) {
  Overrides overrides = {"model.bias=false",         "model.dropout=0",
                         "model.experts=8",          "model.experts_per_token=2",
                         "model.expert_ffn=96",      "training.precision=bf16",
                         "training.global_batch=8",  "parallel.pipeline=1",
                         "parallel.expert=8",        "parallel.sequence_parallel=true",
                         "parallel.expert_tensor=1", "training.moe_dispatcher=hybridep"};
  const Workload w = TestWorkload(overrides, hosts, gpus);
  std::vector<std::string> found;
  for (const Op& op : w.programs[0].ops) {
    if (op.kind != OpKind::kCompute || op.layer != 1 || op.microbatch != 0) continue;
    for (const uint32_t number : w.blocks[op.work].submodules) {
      const Submodule& s = w.submodules[number];
      if (s.name != "moe.scan" && s.name != "moe.stage") continue;
      const auto& add = *s.As<submodule::Add>();
      EXPECT_EQ(add.summands, 1);
      EXPECT_EQ(s.type, s.name == "moe.scan" ? DataType::kUint8 : DataType::kBf16);
      found.push_back(fmt::format("{} {}: {} x {}", s.name,
                                  PassNames()[static_cast<size_t>(s.pass)], add.rows, add.n));
    }
  }
  return found;
}

// 32 tokens of each of 8 ranks; their map has a column for each of 8 experts. A rank reads the
// columns of its own host. Between hosts, tokens of 64 values and 8 probabilities of 4 bytes are
// copied, and backward gradients of 64 values.
TEST(ExpertProgram, HybridEpScansTheMapAndCopiesWhatCrossesHosts) {
  EXPECT_THAT(HybridEpKernels(1, 8), ElementsAre("moe.scan fwd: 256 x 8"));
  EXPECT_THAT(HybridEpKernels(2, 4), ElementsAre("moe.scan fwd: 256 x 4", "moe.stage fwd: 32 x 80",
                                                 "moe.stage bwd: 32 x 64"));
}

// 15 tokens of width 64 for each of 4 ranks. Forward, the dispatch carries probabilities, and in
// backward the combine their gradients: HybridEP's in fp32 for all 8 experts, which are near;
// DeepEP's for 2 experts, with indices or without.
TEST(ExpertProgram, LibrariesExchangeProbabilitiesOnce) {
  const auto elements = [](const std::string& dispatcher, Phase phase) {
    const Workload w = Mixture({"training.moe_dispatcher=" + dispatcher});
    std::vector<int64_t> found;
    for (const Op& op : w.programs[0].ops) {
      if (op.kind != OpKind::kCollective || op.layer != 1 || op.phase != phase) continue;
      const CommCall& call = w.calls[op.work];
      if (call.collective == CollectiveType::kAllToAllV) found.push_back(call.count);
    }
    return found;
  };
  constexpr int64_t kRows = 4 * 15;
  EXPECT_THAT(elements("hybridep", Phase::kForward), ElementsAre(kRows * (64 + 16), kRows * 64));
  EXPECT_THAT(elements("hybridep", Phase::kBackward), ElementsAre(kRows * 64, kRows * (64 + 16)));
  EXPECT_THAT(elements("flex", Phase::kForward), ElementsAre(kRows * (64 + 12), kRows * 64));
  EXPECT_THAT(elements("flex", Phase::kBackward), ElementsAre(kRows * 64, kRows * (64 + 4)));
}

TEST(ExpertProgram, SharedExpertsAreATensorParallelMlp) {
  const Overrides shared = {"model.shared_expert_ffn=128", "training.moe_aux_loss=false",
                            "training.moe_dispatcher=flex"};
  const Workload w = Mixture(shared);
  EXPECT_THAT(
      CallsOfLayer(w, 0, 1, Phase::kForward),
      ElementsAre(kGather, kScatter, kGather, kScatter, "tp-ep all-to-all 12 x int32 = 48 B over 4",
                  HasSubstr("all-to-all-v"), HasSubstr("all-to-all-v")));
  // With the overlap, the first half of the shared expert runs during token dispatch, the second
  // half during token combine.
  Overrides beside = shared;
  beside.push_back("overlap.shared_expert=true");
  const Workload o = Mixture(beside);
  EXPECT_THAT(CallsOfLayer(o, 0, 1, Phase::kForward),
              ElementsAre(kGather, kScatter, kGather, "tp-ep all-to-all 12 x int32 = 48 B over 4",
                          HasSubstr("all-to-all-v"), HasSubstr("all-to-all-v"), kScatter));
  EXPECT_THAT(SubmodulesOfLayer(o, 0, 1, Phase::kForward),
              IsSupersetOf({"shared.fc1", "shared.fc2", "shared.add"}));
  const Program& p = o.programs[0];
  int beside_exchange = 0;
  for (size_t i = 0; i + 1 < p.ops.size(); ++i) {
    if (p.ops[i].kind != OpKind::kCollective || p.ops[i].layer != 1) continue;
    if (o.calls[p.ops[i].work].collective != CollectiveType::kAllToAllV) continue;
    if (p.ops[i].phase != Phase::kForward || p.ops[i + 1].kind != OpKind::kCompute) continue;
    ++beside_exchange;
    for (const uint32_t d : p.dependencies(i + 1)) EXPECT_NE(d, i);
  }
  EXPECT_EQ(beside_exchange, 2);
}

TEST(ExpertProgram, DenseLayersStayDense) {
  const Workload w = Mixture({"model.first_dense_layers=1", "model.moe_every=2"});
  for (int layer = 0; layer < 8; ++layer) {
    const std::vector<std::string> names = SubmodulesOfLayer(w, 0, layer, Phase::kForward);
    const bool experts = layer >= 1 && layer % 2 == 0;
    EXPECT_EQ(std::count(names.begin(), names.end(), "moe.router"), experts ? 1 : 0);
    EXPECT_EQ(std::count(names.begin(), names.end(), "mlp.fc1"), experts ? 0 : 1);
  }
}

TEST(ExpertProgram, ABusyRankHasASeparateProgram) {
  const Workload w = Mixture({"training.moe_imbalance=2"});
  EXPECT_EQ(w.class_count, 2);
  EXPECT_THAT(w.class_of_rank, ElementsAre(0, 1, 1, 1, 0, 1, 1, 1));
  int64_t rows[2] = {0, 0};
  for (int c = 0; c < 2; ++c) {
    for (const Op& op : w.programs[static_cast<size_t>(c)].ops) {
      if (op.kind != OpKind::kCompute) continue;
      for (const uint32_t s : w.blocks[op.work].submodules) {
        if (w.submodules[s].name != "moe.fc1") continue;
        rows[c] = FieldOf(w.submodules[s], "rows");
      }
    }
  }
  EXPECT_EQ(rows[0], 128);     // twice the mean
  EXPECT_EQ(rows[1], 11 * 4);  // a third of the rest from each of four ranks, rounded up
}

// Expert gradients are summed over the ranks that hold the same experts, in a separate buffer.
TEST(ExpertProgram, GradientsOfExpertsHaveTheirOwnBuffer) {
  const Workload w = Mixture({"training.distributed_optimizer=true"});
  std::vector<std::string> tail;
  for (const Op& op : w.programs[0].ops) {
    if (op.kind != OpKind::kCollective || op.phase != Phase::kGradientSync) continue;
    tail.push_back(w.roles[op.role].name + " " + CallText(w.calls[op.work]));
  }
  // 8 layers x 2 experts x 2 matrices of 64 x 96, over 8 / 4 ranks.
  EXPECT_THAT(tail, Contains("edp reduce-scatter 196608 x fp32 = 786.4 KB over 2"));
  EXPECT_THAT(tail, Contains(HasSubstr("dp reduce-scatter ")));
}

TEST(ExpertProgram, ReducesRouterBiasesOnceAStep) {
  const Workload w = Mixture({"model.router_bias=true", "model.first_dense_layers=3"});
  int count = 0;
  for (const Op& op : w.programs[0].ops) {
    if (op.kind == OpKind::kCompute || op.role != kStageRole) continue;
    EXPECT_EQ(CallText(w.calls[op.work]), "all-reduce 40 x fp32 = 160 B over 8");
    ++count;
  }
  EXPECT_EQ(count, 1);
}

TEST(ExpertProgram, RecomputedModules) {
  const auto again = [](const char* modules, Overrides more = {}) {
    more.insert(more.end(), {"training.recompute=selective", "model.shared_expert_ffn=64",
                             std::string("training.recompute_modules=") + modules});
    return SubmodulesOfLayer(Mixture(more), 0, 1, Phase::kRecompute);
  };
  EXPECT_THAT(again("[moe_act]"), ElementsAre("moe.activation"));
  EXPECT_THAT(again("[shared_experts]"),
              ElementsAre("shared.fc1", "shared.activation", "shared.fc2"));
  // Transformer Engine fuses the norm before attention with the product behind it.
  EXPECT_THAT(again("[layernorm]"), ElementsAre("mlp.norm"));
  EXPECT_THAT(again("[layernorm]", {"training.kernels=unfused"}),
              ElementsAre("mlp.norm", "attention.norm"));
  // The norm's result leaves a graph that holds the router, but not the permutation.
  EXPECT_THAT(again("[layernorm, moe_act]",
                    {"training.cuda_graphs=[moe_router]", "training.kernels=unfused"}),
              ElementsAre("moe.activation", "attention.norm"));
  const char* both = "training.cuda_graphs=[moe_router, moe_preprocess]";
  EXPECT_THAT(again("[layernorm]", {both}), ElementsAre("mlp.norm"));
  // It also leaves through other dispatchers, and to shared experts beside them. Megatron-Core's
  // own graphs can repeat it.
  for (const char* setting : {"training.moe_dispatcher=flex", "overlap.shared_expert=true"}) {
    const Overrides outside = {both, setting, "training.kernels=unfused"};
    EXPECT_THAT(again("[layernorm, moe_act]", outside),
                ElementsAre("moe.activation", "attention.norm"))
        << setting;
    Overrides local = outside;
    local.emplace_back("training.cuda_graph_impl=local");
    EXPECT_THAT(again("[layernorm, moe_act]", local),
                ElementsAre("mlp.norm", "moe.activation", "attention.norm"))
        << setting;
  }
  EXPECT_EQ(again("[moe]").size(), 13u);
}

// The ops of layer 1's pass over the first micro-batch, by their part in a graph: first, rest,
// none.
// '!' precedes an op before which the host waits.
std::string GraphsOf(const Workload& w, bool backward) {
  std::string text;
  for (const Op& op : w.programs[0].ops) {
    if (op.layer != 1 || op.microbatch != 0 || (op.phase != Phase::kForward) != backward) continue;
    if (op.host_waits != HostWait::kNothing) text += '!';
    text += ".[="[static_cast<size_t>(op.graph)];
  }
  return text;
}

TEST(ExpertProgram, GraphsOfTheRouterEndBeforeTheDispatch) {
  const auto graphs = [](const char* value, bool backward) {
    return GraphsOf(Mixture({std::string("training.cuda_graphs=") + value}), backward);
  };
  // Norm, gather, qkv to proj, scatter, residual to top-k, two counts, permute; two exchanges,
  // experts, one exchange, the rest.
  EXPECT_EQ(graphs("none", false), ".......!......");
  EXPECT_EQ(graphs("[attn]", false), "[====...!......");
  EXPECT_EQ(graphs("[moe_router]", false), ".....[=.!......");
  EXPECT_EQ(graphs("[attn, moe_router]", false), "[=====.!......");
  EXPECT_EQ(graphs("[attn, moe_router, moe_preprocess]", false), "[=======!.....");
  EXPECT_EQ(graphs("[attn, moe_router, moe_preprocess]", true), ".....[=======");
}

TEST(ExpertProgram, GraphsCopyTheirInputs) {
  const Workload w = Mixture({"training.cuda_graphs=[moe_router, moe_preprocess]"});
  EXPECT_THAT(SubmodulesOfLayer(w, 0, 1, Phase::kForward), Contains("graph.inputs").Times(1));
  // The residual and two permuted copies of 32 tokens.
  for (const Submodule& s : w.submodules) {
    const auto* copy = s.As<submodule::Add>();
    if (s.name == "graph.gradients" && copy->rows != 32) {
      EXPECT_EQ(copy->rows, 3 * 32);
    }
  }
  EXPECT_THAT(SubmodulesOfLayer(w, 0, 1, Phase::kBackward), Contains("graph.gradients").Times(1));
}

// DeepEP's kernels of low latency sort and sum up tokens themselves, and nobody counts them before.
// A message has 16 bytes more than its token; a combine has none.
TEST(ExpertProgram, LowLatencyNeedsNoCountsAndNoPermutation) {
  const Workload w = Mixture({"training.moe_dispatcher=flex", "training.moe_deepep=low-latency",
                              "training.moe_grouped_kernel=one", "training.moe_aux_loss=false",
                              "model.hidden=2048", "training.precision=fp8"});
  const auto exchange = [](int64_t width) {
    return fmt::format("tp-ep all-to-all-v {} x bf16 = {} over 4", 64 * width,
                       ToString(Bytes(64 * width * 2)));
  };
  const std::vector<std::string> forward = CallsOfLayer(w, 0, 1, Phase::kForward);
  const std::vector<std::string> backward = CallsOfLayer(w, 0, 1, Phase::kBackward);
  ASSERT_GE(forward.size(), 2u);
  EXPECT_EQ(forward[forward.size() - 2], exchange(2048 + 8));
  EXPECT_EQ(forward.back(), exchange(2048));
  EXPECT_EQ(backward[0], exchange(2048 + 8)) << "the gradients of a combine are dispatched";
  EXPECT_EQ(backward[1], exchange(2048));
  EXPECT_THAT(forward, Not(Contains(HasSubstr("tp-ep all-to-all 12 x int32"))));
  for (const CommCall& call : w.calls) {
    const bool exchange = call.collective == CollectiveType::kAllToAllV;
    EXPECT_EQ(call.buffers, exchange ? BufferKind::kDeepEpLowLatency : BufferKind::kPlain);
  }
  EXPECT_THAT(SubmodulesOfLayer(w, 0, 1, Phase::kForward),
              ElementsAre("attention.norm", "attention.qkv", "attention.core", "attention.proj",
                          "attention.residual", "mlp.norm", "moe.router", "moe.top-k", "moe.fc1",
                          "moe.activation", "moe.fc2", "mlp.residual"));
  for (const Op& op : w.programs[0].ops) {
    if (op.layer == 1) {
      EXPECT_EQ(op.host_waits, HostWait::kNothing);
    }
  }
}

}  // namespace
}  // namespace drydock
