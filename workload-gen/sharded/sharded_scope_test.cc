// "Do fp8, context parallelism, experts, latent attention and a shared embedding run under FSDP and
// DeepSpeed with the FLOPs and bytes of their closed forms?"
#include <gmock/gmock.h>

#include "core/model/calls/grouped_call.h"
#include "core/schema/testing/submodule_testing.h"
#include "workload-gen/testing/sharded_testing.h"
#include "workload-gen/testing/structure_testing.h"
#include "workload-gen/work/model_size.h"

namespace drydock {
namespace {

using testing::HasSubstr;

constexpr auto kAg = CollectiveType::kAllGather;
constexpr auto kRs = CollectiveType::kReduceScatter;
constexpr auto kAr = CollectiveType::kAllReduce;

const Overrides kExperts = {"model.experts=4", "model.experts_per_token=2", "model.expert_ffn=96"};
const Overrides kLatent = {"model.kv_lora_rank=16", "model.q_lora_rank=24", "model.qk_nope_dim=8",
                           "model.qk_rope_dim=8", "model.value_dim=8"};
const Overrides kFsdp = {"training.framework=fsdp"};

Overrides Join(std::initializer_list<Overrides> lists) {
  Overrides all;
  for (const Overrides& list : lists) all.insert(all.end(), list.begin(), list.end());
  return all;
}
Overrides Zero(int stage) {
  return {"training.framework=deepspeed", "zero.stage=" + std::to_string(stage)};
}

// Sums the FLOPs of GEMMs and attention over all ranks.
double GemmFlops(const Workload& w) {
  double flops = 0;
  for (const int c : w.class_of_rank) {
    for (const Op& op : w.programs[static_cast<size_t>(c)].ops) {
      if (op.kind != OpKind::kCompute) continue;
      for (const uint32_t s : w.blocks[op.work].submodules) {
        const Submodule& m = w.submodules[s];
        const bool counts = m.Is<submodule::Linear>() || m.Is<submodule::Attention>() ||
                            m.Is<submodule::GroupedLinear>();
        if (counts) flops += m.flops;
      }
    }
  }
  return flops;
}

int64_t ParametersOf(const Overrides& overrides, const std::string& text = kShardedJob) {
  return ParameterCount(ParseShardedJob(overrides, text)->model);
}

std::string WithoutKeyHeads() {
  std::string text = kShardedJob;
  const std::string line = "  kv_heads: 4\n";
  return text.erase(text.find(line), line.size());
}

TEST(ShardedScopeTest, Fp8RunsAllGemmsButTheHeadsInFp8) {
  const Workload plain = ShardedWorkload(kFsdp), w = ShardedWorkload({"training.precision=fp8"});
  EXPECT_EQ(StructureMistake(w), "");
  EXPECT_EQ(w.totals.precision, DataType::kFp8);
  EXPECT_DOUBLE_EQ(GemmFlops(w), GemmFlops(plain));
  for (const Submodule& s : w.submodules) {
    const auto* linear = s.As<submodule::Linear>();
    if (linear == nullptr) continue;
    const bool fp8 = s.name != "head.logits";
    EXPECT_EQ(s.type, fp8 ? DataType::kFp8 : DataType::kBf16) << s.name;
    EXPECT_EQ(linear->always_turns, fp8 && s.pass == Pass::kBackwardWeight) << s.name;
  }
  // The gathered and reduced elements do not change.
  EXPECT_EQ(ElementsMoved(w, "dp", kAg), ElementsMoved(plain, "dp", kAg));
}

// Elements of a layer that are read for their scales, and elements that are cast.
std::pair<int64_t, int64_t> ReadAndCast(const Workload& w) {
  std::pair<int64_t, int64_t> sums;
  for (const Op& op : w.programs[0].ops) {
    if (op.kind != OpKind::kCompute || op.layer != 1) continue;
    for (const uint32_t i : w.blocks[op.work].submodules) {
      const Submodule& s = w.submodules[i];
      if (s.name.ends_with("-scale")) sums.first += FieldOf(s, "elements");
      if (s.name.ends_with("-cast")) sums.second += FieldOf(s, "rows") * FieldOf(s, "n");
    }
  }
  return sums;
}

constexpr int64_t kTokens = 2 * 32, kWeights = kLayerElements - 2 * 64;
constexpr int64_t kOutputs = 64 + 32 + 32 + 64 + 160 + 160 + 64;

TEST(ShardedScopeTest, Fp8CastsEveryOperandOnceForAScaleOfTheTensor) {
  const int64_t apart = 6 * 64 + 160, shared = 64 + 64 + 64 + 160;  // inputs
  EXPECT_EQ(ReadAndCast(ShardedWorkload({"training.precision=fp8", "training.kernels=unfused"})),
            (std::pair{kWeights + kTokens * (apart + kOutputs),
                       kWeights + kTokens * (apart + kOutputs)}));
  // torch.compile casts a shared input once, and reads weights, the input of wo and the gradient of
  // wv only: element-wise kernels make the other tensors.
  EXPECT_EQ(ReadAndCast(ShardedWorkload({"training.precision=fp8"})),
            (std::pair{kWeights + kTokens * (64 + 32), kWeights + kTokens * (shared + kOutputs)}));
  EXPECT_EQ(ReadAndCast(ShardedWorkload({"training.precision=fp8", "fsdp.fp8_all_gather=true"})),
            (std::pair{kTokens * (64 + 32), kTokens * (shared + kOutputs)}));
}

// Each of the three products casts both operands along its inner dimension; casts along columns
// read the operand twice.
TEST(ShardedScopeTest, ScalesOfRowsCastEveryOperandTwice) {
  const int64_t inputs = 64 + 64 + 64 + 160;
  EXPECT_EQ(ReadAndCast(ShardedWorkload({"training.precision=fp8", "fsdp.fp8_recipe=rowwise"})),
            (std::pair{kWeights + kTokens * (inputs + kOutputs),
                       2 * kWeights + 2 * kTokens * (inputs + kOutputs)}));
}

TEST(ShardedScopeTest, WeightsAreGatheredInFp8AndScaledTogether) {
  const Workload w = ShardedWorkload({"training.precision=fp8", "fsdp.fp8_all_gather=true"});
  int64_t bytes = 0, scales = 0;
  for (const Op& op : w.programs[0].ops) {
    if (op.kind != OpKind::kCollective) continue;
    const CommCall& call = w.calls[op.work];
    if (call.type == DataType::kUint8) bytes += call.count;
    if (call.op == ReduceOp::kMax) scales += call.count;
  }
  EXPECT_EQ(bytes, 2 * 4 * (kWeights + 2 * 2 * 64));  // forward and backward of 4 layers
  EXPECT_EQ(scales, 4 * 7);
}

// Types of the rows that a layer gathers, and the number of largest values that are reduced.
std::pair<std::vector<DataType>, int> GatheredTypes(const Overrides& more) {
  Overrides overrides = {"parallel.tensor=2", "parallel.sequence_parallel=true",
                         "training.global_batch=8", "training.precision=fp8"};
  overrides.insert(overrides.end(), more.begin(), more.end());
  const Workload w = ShardedWorkload(overrides);
  EXPECT_EQ(StructureMistake(w), "");
  std::pair<std::vector<DataType>, int> found;
  for (const Op& op : w.programs[0].ops) {
    if (op.kind != OpKind::kCollective || op.layer != 1) continue;
    const CommCall& call = w.calls[op.work];
    if (w.roles[op.role].name != "tp") continue;
    if (call.collective == kAg) found.first.push_back(call.type);
    found.second += call.op == ReduceOp::kMax ? 1 : 0;
  }
  return found;
}

TEST(ShardedScopeTest, TensorParallelismGathersFp8WithScalesOfTensors) {
  using Types = std::vector<DataType>;
  // 4 inputs, 7 gradients, 7 weights.
  EXPECT_EQ(GatheredTypes({}), (std::pair{Types(4, DataType::kFp8), 18}));
  EXPECT_EQ(GatheredTypes({"fsdp.fp8_all_gather=true"}), (std::pair{Types(4, DataType::kFp8), 11}));
  EXPECT_EQ(GatheredTypes({"fsdp.fp8_recipe=rowwise"}), (std::pair{Types(4, DataType::kBf16), 0}));
}

// Communication of a layer over 4 tensor ranks: copies between GPUs, gathers, reduce-scatters.
std::vector<int> AsyncCalls(const Overrides& more) {
  Overrides overrides = {"parallel.tensor=4", "parallel.sequence_parallel=true",
                         "training.global_batch=4", "fsdp.async_tensor=true"};
  overrides.insert(overrides.end(), more.begin(), more.end());
  const Workload w = ShardedWorkload(overrides);
  EXPECT_EQ(StructureMistake(w), "");
  std::vector<int> calls(3);
  for (const Op& op : w.programs[0].ops) {
    if (!IsCommunication(op.kind) || op.layer != 1 || w.roles[op.role].name != "tp") continue;
    const CommCall& call = w.calls[op.work];
    if (call.collective == CollectiveType::kGrouped) ++calls[0];
    if (call.collective == kAg) ++calls[1];
    if (call.collective == kRs) ++calls[2];
  }
  return calls;
}

// A gather or a reduce-scatter beside a product is three copies. Sums of the gradients of several
// products are reduce-scattered whole; so are inputs that are gathered before they are cast.
TEST(ShardedScopeTest, AsynchronousTensorParallelismCopiesBesidePartsOfProducts) {
  EXPECT_EQ(AsyncCalls({}), (std::vector<int>{6 * 3, 0, 2}));
  EXPECT_EQ(AsyncCalls({"training.precision=fp8"}), (std::vector<int>{6 * 3, 0, 2}));
  EXPECT_EQ(AsyncCalls({"training.recompute=full"}), (std::vector<int>{9 * 3, 0, 2}));
  EXPECT_EQ(AsyncCalls({"training.precision=fp8", "fsdp.fp8_recipe=rowwise"}),
            (std::vector<int>{2 * 3, 4, 2}));
  const Overrides plain = {"parallel.tensor=4", "parallel.sequence_parallel=true",
                           "training.global_batch=4"};
  Overrides async = plain;
  async.push_back("fsdp.async_tensor=true");
  EXPECT_DOUBLE_EQ(GemmFlops(ShardedWorkload(async)), GemmFlops(ShardedWorkload(plain)));
}

TEST(ShardedScopeTest, ContextParallelRanksShareParametersAndSplitTheWork) {
  const Workload one = ShardedWorkload({"parallel.data=8"});
  for (const char* type : {"p2p", "allgather"}) {
    const Workload w =
        ShardedWorkload({"parallel.context=2", "parallel.data=4",
                         std::string("parallel.context_type=") + type, "training.micro_batch=4"});
    EXPECT_EQ(StructureMistake(w), "");
    EXPECT_NEAR(GemmFlops(w) / GemmFlops(one), 1, 1e-9) << type;
    // Parameters are sharded over the ranks of both dimensions.
    EXPECT_EQ(ElementsMoved(w, "dp-cp", kRs), kAllElements);
    for (const Op& op : w.programs[0].ops) {
      if (!IsCommunication(op.kind) || w.roles[op.role].name != "dp-cp") continue;
      EXPECT_EQ(w.calls[op.work].group_size, 8);
    }
  }
}

// Elements that a rank receives from each other rank in layer 2: in bf16 forward and backward, and
// in fp32.
std::vector<int64_t> Exchanged(const std::string& type) {
  const Workload w = ShardedWorkload({"parallel.context=4", "parallel.data=2",
                                      "training.micro_batch=8", "parallel.context_type=" + type});
  EXPECT_EQ(StructureMistake(w), "");
  std::vector<int64_t> elements(3);
  for (const Op& op : w.programs[0].ops) {
    if (!IsCommunication(op.kind) || w.roles[op.role].name != "cp" || op.layer != 2) continue;
    const CommCall& call = w.calls[op.work];
    const bool gathered = call.collective == kAg;
    const int64_t count = gathered ? call.count / 4 * 3 : call.parts.front().count;
    const DataType of = gathered ? call.type : call.parts.front().type;
    elements[of == DataType::kFp32 ? 2 : op.phase == Phase::kForward ? 0 : 1] += count;
  }
  return elements;
}

// Keys and values of t tokens for all 8 query heads of 8. In either form, CP - 1 blocks arrive in
// each pass; the gradients make CP steps.
TEST(ShardedScopeTest, TheRingExchangesKeysAndValuesOfAllHeads) {
  const int64_t one = 8 * 32 / 4 * 2 * 8 * 8;
  EXPECT_EQ(Exchanged("p2p"), (std::vector<int64_t>{3 * one, 3 * one, 4 * one}));
  EXPECT_EQ(Exchanged("allgather"), (std::vector<int64_t>{3 * one, 3 * one, 4 * one}));
}

// Exchanges of the ring that the compute op behind them does not wait for.
int ExchangesBesideCompute(const char* kernels) {
  const Workload w =
      ShardedWorkload({"parallel.context=4", "parallel.data=2", "training.micro_batch=8",
                       "parallel.context_type=p2p", std::string("training.kernels=") + kernels});
  const Program& p = w.programs[0];
  int beside = 0;
  for (size_t i = 0; i + 1 < p.ops.size(); ++i) {
    if (!IsCommunication(p.ops[i].kind) || w.roles[p.ops[i].role].name != "cp") continue;
    if (p.ops[i + 1].kind != OpKind::kCompute) continue;
    bool waits = false;
    for (const uint32_t d : p.dependencies(i + 1)) waits |= d == i;
    beside += waits ? 0 : 1;
  }
  return beside;
}

// A traced collective waits where it begins.
TEST(ShardedScopeTest, OnlyEagerBlocksComputeBesideAnExchange) {
  EXPECT_EQ(ExchangesBesideCompute("fused"), 0);
  EXPECT_GT(ExchangesBesideCompute("unfused"), 0);
}

// Copies of the keys and values of all query heads in a layer, forward and backward: elements over
// those of one copy.
double Packed(const std::string& type, const std::string& kernels) {
  const Workload w =
      ShardedWorkload({"parallel.context=4", "parallel.data=2", "training.micro_batch=8",
                       "parallel.context_type=" + type, "training.kernels=" + kernels});
  const double one = 8 * 32 / 4 * 2 * 8 * 8;
  double elements = 0;
  for (const Op& op : w.programs[0].ops) {
    if (op.kind != OpKind::kCompute || op.layer != 2) continue;
    for (const uint32_t number : w.blocks[op.work].submodules) {
      const Submodule& s = w.submodules[number];
      if (s.name != "attention.merge") continue;
      const auto& add = *s.As<submodule::Add>();
      if (add.summands == 1 && s.pass == Pass::kForward) elements += add.rows * add.n / one;
    }
  }
  return elements;
}

// One copy repeats the heads. A ring packs in front of each of three exchanges, forward and
// backward; a compiler keeps only the copy in front of a gather.
TEST(ShardedScopeTest, ACompilerDropsPackedCopiesThatNothingUses) {
  EXPECT_DOUBLE_EQ(Packed("p2p", "unfused"), 1 + 6);
  EXPECT_DOUBLE_EQ(Packed("p2p", "fused"), 1 + 6);
  EXPECT_DOUBLE_EQ(Packed("allgather", "unfused"), 1 + 6);
  EXPECT_DOUBLE_EQ(Packed("allgather", "fused"), 1 + 2);
}

TEST(ShardedScopeTest, UlyssesExchangesHeads) {
  const Workload w =
      ShardedWorkload(Join({Zero(2),
                            {"parallel.context=4", "parallel.data=2", "parallel.context_type=a2a",
                             "training.micro_batch=8"}}));
  EXPECT_EQ(StructureMistake(w), "");
  int64_t moved = 0;
  for (const auto& [type, count] : CollectivesOf(w, "cp")) {
    EXPECT_EQ(type, CollectiveType::kAllToAll);
    moved += count;
  }
  // Four layers, forward and backward: queries, keys, values and outputs of the rank's tokens.
  EXPECT_EQ(moved, 4 * 2 * (8 * 32 / 4) * (64 + 32 + 32 + 64));
  EXPECT_EQ(ElementsMoved(w, "dp-cp", kAr), kAllElements);
}

TEST(ShardedScopeTest, ATiedHeadUsesTheEmbeddingsWeight) {
  const Overrides tied = {"model.tied_embedding=true"};
  const Workload fsdp = ShardedWorkload(Join({kFsdp, tied}));
  EXPECT_EQ(StructureMistake(fsdp), "");
  // Embedding, norm and head are one group, gathered once and reduced after the embedding.
  const int64_t root = kEmbeddingElements + 64;
  const Collectives found = CollectivesOf(fsdp, "dp");
  EXPECT_EQ(found.front(), (std::pair{kAg, root}));
  EXPECT_EQ(found.back(), (std::pair{kRs, root}));
  EXPECT_EQ(ElementsMoved(fsdp, "dp", kAg), root + 2 * 4 * kLayerElements);
  for (const int stage : {1, 2, 3}) {
    Overrides job = Join({Zero(stage), tied});
    if (stage == 3) job.push_back("zero.param_persistence_threshold=0");
    const Workload w = ShardedWorkload(job);
    EXPECT_EQ(StructureMistake(w), "");
    EXPECT_EQ(ElementsMoved(w, "dp", stage == 3 ? kRs : kAr), kAllElements - kEmbeddingElements)
        << stage;
  }
}

TEST(ShardedScopeTest, LatentAttentionHasTheModelsParameters) {
  for (const Overrides& framework : {kFsdp, Zero(1), Zero(3)}) {
    const Overrides job = Join({framework, kLatent});
    const Workload w = ShardedWorkload(job, 1, 8, WithoutKeyHeads());
    EXPECT_EQ(StructureMistake(w), "");
    const bool scatters = framework.size() == 1 || framework[1] == "zero.stage=3";
    const int64_t reduced = ElementsMoved(w, "dp", scatters ? kRs : kAr);
    EXPECT_NEAR(static_cast<double>(reduced),
                static_cast<double>(ParametersOf(job, WithoutKeyHeads())), 64);
  }
}

// Two ranks hold each of four sets of experts. Experts are sharded over these two, the rest over
// all.
TEST(ShardedScopeTest, ExpertsAreSharedByTheRanksThatHoldThem) {
  const int64_t expert = 3 * 64 * 96;
  for (const Overrides& framework : {kFsdp, Zero(2)}) {
    const Overrides job =
        Join({framework, kExperts, {"parallel.expert=4", "training.moe_aux_loss=false"}});
    const Workload w = ShardedWorkload(job);
    EXPECT_EQ(StructureMistake(w), "");
    const auto type = framework.size() == 1 ? kRs : kAr;
    const int64_t experts = ElementsMoved(w, "edp", type);
    EXPECT_EQ(experts, 4 * expert);  // one expert in each of four layers
    EXPECT_EQ(ElementsMoved(w, "dp", type) + 4 * experts, ParametersOf(job));
  }
}

// Token dispatch and combine move each token's two copies, in forward and backward.
TEST(ShardedScopeTest, DispatchAndCombineMoveTwoCopiesOfEachToken) {
  const Workload w = ShardedWorkload(
      Join({kFsdp, kExperts, {"parallel.expert=4", "training.moe_aux_loss=false"}}));
  int64_t tokens = 0;
  for (const Op& op : w.programs[0].ops) {
    if (!IsCommunication(op.kind) || w.roles[op.role].name != "ep" || op.layer != 0) continue;
    const CommCall& call = w.calls[op.work];
    if (call.collective == CollectiveType::kAllToAll) tokens += call.count;
  }
  EXPECT_EQ(tokens, 2 * (2 * 64 * 2 * 64) + 2 * (64 * 2));
  EXPECT_DOUBLE_EQ(
      GemmFlops(w),
      GemmFlops(ShardedWorkload(Join({kFsdp, kExperts, {"training.moe_aux_loss=false"}}))));
}

TEST(ShardedScopeTest, RejectsUnsupportedFeatures) {
  const auto error = [](std::initializer_list<Overrides> lists) {
    return ShardedError(Join(lists));
  };
  EXPECT_THAT(error({Zero(1), {"training.precision=fp8"}}),
              HasSubstr("DeepSpeed runs no GEMMs in fp8 or NVFP4: precision must be fp16 or bf16"));
  EXPECT_THAT(error({kFsdp, {"training.precision=nvfp4"}}),
              HasSubstr("NVFP4 is not generated for framework fsdp"));
  EXPECT_THAT(error({kFsdp, {"training.precision=fp8", "training.fp8_recipe=mxfp8"}}),
              HasSubstr("'fp8_recipe' is not of framework fsdp; write fsdp.fp8_recipe"));
  EXPECT_THAT(error({Zero(1), {"parallel.context=2", "parallel.data=4"}}),
              HasSubstr("(Ulysses) exchanges heads: context_type must be a2a"));
  EXPECT_THAT(
      error({kFsdp, {"parallel.context=2", "parallel.data=4", "parallel.context_type=a2a"}}),
      HasSubstr("context_type must be p2p or allgather"));
  EXPECT_THAT(error({kFsdp,
                     {"parallel.context=4", "parallel.data=2", "parallel.context_type=a2a+p2p",
                      "parallel.context_heads=2"}}),
              HasSubstr("context_type must be p2p or allgather"));
  EXPECT_THAT(error({Zero(3), kExperts}), HasSubstr("DeepSpeed's experts need ZeRO stage 1 or 2"));
  EXPECT_THAT(error({kFsdp, kExperts, {"parallel.expert=4", "fsdp.version=1"}}),
              HasSubstr("with expert > 1 version must be 2"));
  EXPECT_THAT(error({kFsdp, {"model.tied_embedding=true", "parallel.pipeline=2"}}),
              HasSubstr("with pipeline > 1 tied_embedding must be false"));
}

}  // namespace
}  // namespace drydock
