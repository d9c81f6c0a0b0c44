// Compares the programs with counts by hand of the ops that Megatron runs.
#include "workload-gen/megatron/megatron.h"

#include <gmock/gmock.h>

#include <map>

#include "core/schema/testing/submodule_testing.h"
#include "workload-gen/graph/text/workload_text.h"
#include "workload-gen/layout/process_groups.h"
#include "workload-gen/program/program_builder.h"
#include "workload-gen/testing/job_testing.h"

namespace drydock {
namespace {

using Overrides = std::vector<std::string>;

struct Filter {
  int layer = -2;  // any
  int phase = -1;
  int role = -1;
};

std::map<CollectiveType, int> Count(const Workload& w, int class_index, const Filter& f) {
  std::map<CollectiveType, int> counts;
  for (const Op& op : w.programs[static_cast<size_t>(class_index)].ops) {
    if (op.kind != OpKind::kCollective) continue;
    if (f.layer != -2 && op.layer != f.layer) continue;
    if (f.phase >= 0 && static_cast<int>(op.phase) != f.phase) continue;
    if (f.role >= 0 && op.role != f.role) continue;
    ++counts[w.calls[op.work].collective];
  }
  return counts;
}

using Counts = std::map<CollectiveType, int>;
constexpr auto kAr = CollectiveType::kAllReduce;
constexpr auto kAg = CollectiveType::kAllGather;
constexpr auto kRs = CollectiveType::kReduceScatter;

Workload OneMicrobatch(Overrides overrides) {
  overrides.insert(overrides.end(), {"parallel.pipeline=1", "training.global_batch=8"});
  return TestWorkload(overrides);
}

TEST(Megatron, TensorParallelismTakesTwoAllReducesALayerAndPass) {
  const Workload w = OneMicrobatch({});
  EXPECT_EQ(Count(w, 0, {.layer = 3}), (Counts{{kAr, 4}}));
  EXPECT_EQ(Count(w, 0, {.layer = 3, .phase = static_cast<int>(Phase::kForward)}),
            (Counts{{kAr, 2}}));
}

TEST(Megatron, SequenceParallelismTakesSixGathersAndFourScattersALayer) {
  const Workload w = OneMicrobatch({"parallel.sequence_parallel=true"});
  EXPECT_EQ(Count(w, 0, {.layer = 3}), (Counts{{kAg, 6}, {kRs, 4}}));
  EXPECT_EQ(Count(w, 0, {.layer = 3, .phase = static_cast<int>(Phase::kForward)}),
            (Counts{{kAg, 2}, {kRs, 2}}));
  for (const CommCall& call : w.calls) {
    if (call.collective == kAg) {
      EXPECT_EQ(call.count, 2 * 32 * 64);
    }
  }
}

TEST(Megatron, FullRecomputationRepeatsTheForwardsCollectives) {
  const Workload w = OneMicrobatch({"training.recompute=full", "parallel.sequence_parallel=true"});
  EXPECT_EQ(Count(w, 0, {.layer = 3}), (Counts{{kAg, 8}, {kRs, 6}}));
  EXPECT_EQ(Count(w, 0, {.layer = 3, .phase = static_cast<int>(Phase::kRecompute)}),
            (Counts{{kAg, 2}, {kRs, 2}}));
}

TEST(Megatron, SelectiveRecomputationRepeatsTheAttentionCoreAlone) {
  const Workload w =
      OneMicrobatch({"training.recompute=selective", "parallel.sequence_parallel=true"});
  EXPECT_EQ(Count(w, 0, {.phase = static_cast<int>(Phase::kRecompute)}), Counts());
  int blocks = 0;
  for (const Op& op : w.programs[0].ops) {
    if (op.phase != Phase::kRecompute) continue;
    ++blocks;
    const ComputeBlock& block = w.blocks[op.work];
    ASSERT_EQ(block.submodules.size(), 1u);
    EXPECT_TRUE(w.submodules[block.submodules[0]].Is<submodule::Attention>());
  }
  EXPECT_EQ(blocks, 8);
}

int RecomputedLayers(const Overrides& overrides) {
  const Workload w = OneMicrobatch(overrides);
  return Count(w, 0, {.phase = static_cast<int>(Phase::kRecompute)})[kAr] / 2;
}

TEST(Megatron, RecomputationMethods) {
  EXPECT_EQ(RecomputedLayers({"training.recompute=full", "training.recompute_layers=3"}), 8);
  EXPECT_EQ(RecomputedLayers({"training.recompute=full", "training.recompute_layers=3",
                              "training.recompute_method=block"}),
            3);
  EXPECT_EQ(RecomputedLayers({"training.recompute=full", "training.recompute_layers=0",
                              "training.recompute_method=block"}),
            0);
  // Uniform chunks of three over eight layers, from the end: 6..7, 3..5, 0..2.
  const Workload w = OneMicrobatch({"training.recompute=full", "training.recompute_layers=3"});
  std::vector<int> order;
  for (const Op& op : w.programs[0].ops) {
    if (op.phase != Phase::kRecompute) continue;
    if (order.empty() || order.back() != op.layer) order.push_back(op.layer);
  }
  EXPECT_THAT(order, testing::ElementsAre(6, 7, 3, 4, 5, 0, 1, 2));
}

// Korthikanti et al. 2022, section 4.2.2, and Megatron's layers.py.
TEST(Megatron, BackwardCollectivesRunBesideTheWeightGradient) {
  const Workload w = OneMicrobatch({});
  const Program& p = w.programs[0];
  int overlapped = 0;
  for (size_t i = 0; i + 1 < p.ops.size(); ++i) {
    const Op& op = p.ops[i];
    if (op.kind != OpKind::kCollective || op.phase != Phase::kBackward) continue;
    if (w.blocks[p.ops[i + 1].work].name.find(".wgrad") == std::string::npos) continue;
    ++overlapped;
    EXPECT_TRUE(p.dependencies(i + 1).empty());
  }
  EXPECT_EQ(overlapped, 2 * 8 + 1);  // qkv and fc1 of each layer, and the logits
  const Workload plain = OneMicrobatch({"overlap.tensor_backward=false"});
  for (const ComputeBlock& block : plain.blocks) {
    EXPECT_EQ(block.name.find(".wgrad"), std::string::npos) << block.name;
  }
}

TEST(Megatron, EmbeddingAndLossCollectives) {
  // All-reduces outside the layers: in forward one for the embedding and three for the loss, in
  // backward one for the logits. Both ends of the model broadcast twice.
  const Workload w = OneMicrobatch({});
  EXPECT_EQ(Count(w, 0, {.layer = -1, .phase = static_cast<int>(Phase::kForward)}),
            (Counts{{kAr, 4}, {CollectiveType::kBroadcast, 4}}));
  EXPECT_EQ(Count(w, 0, {.layer = -1, .phase = static_cast<int>(Phase::kBackward)}),
            (Counts{{kAr, 1}}));
  const Workload native = OneMicrobatch({"training.cross_entropy_fusion=native"});
  EXPECT_EQ(Count(native, 0, {.layer = -1, .phase = static_cast<int>(Phase::kForward)})[kAr], 3);
  const Workload te = OneMicrobatch({"training.cross_entropy_fusion=te"});
  EXPECT_EQ(Count(te, 0, {.layer = -1, .phase = static_cast<int>(Phase::kForward)}),
            (Counts{{kAr, 1}, {kAg, 1}, {CollectiveType::kBroadcast, 4}}));
}

TEST(Megatron, SequenceParallelEdges) {
  const int forward = static_cast<int>(Phase::kForward);
  const int backward = static_cast<int>(Phase::kBackward);
  // Learned positions: an all-reduce, after which each rank keeps its rows. The head gathers its
  // input.
  const Workload learned = OneMicrobatch({"parallel.sequence_parallel=true"});
  EXPECT_EQ(Count(learned, 0, {.layer = -1, .phase = forward}),
            (Counts{{kAr, 4}, {kAg, 1}, {CollectiveType::kBroadcast, 4}}));
  EXPECT_EQ(Count(learned, 0, {.layer = -1, .phase = backward}), (Counts{{kAg, 2}, {kRs, 1}}));
  const Workload rotary =
      OneMicrobatch({"parallel.sequence_parallel=true", "model.positions=rotary"});
  EXPECT_EQ(Count(rotary, 0, {.layer = -1, .phase = forward}),
            (Counts{{kAr, 3}, {kRs, 1}, {kAg, 1}, {CollectiveType::kBroadcast, 4}}));
}

std::vector<std::string> Tail(const Workload& w, int class_index) {
  std::vector<std::string> lines;
  for (const Op& op : w.programs[static_cast<size_t>(class_index)].ops) {
    if (op.microbatch >= 0 || op.kind == OpKind::kCompute) continue;
    lines.push_back(w.roles[op.role].name + " " + CallText(w.calls[op.work]));
  }
  return lines;
}

TEST(Megatron, TailOfTheStep) {
  // The first stage: one gradient bucket (4 layers of 25184 elements, half of the padded
  // vocabulary, the positions), shared embedding, overflow, norm, step checks. Gradients of fp16
  // stay fp16.
  const Workload w = TestWorkload();
  EXPECT_THAT(Tail(w, 0), testing::ElementsAre("dp all-reduce 135552 x fp16 = 271.1 KB over 2",
                                               "embd all-reduce 32768 x fp16 = 65.54 KB over 2",
                                               "world all-reduce 1 x int32 = 4 B over 8",
                                               "tp-pp all-reduce 1 x fp32 = 4 B max over 4",
                                               "tp-pp all-reduce 1 x fp32 = 4 B over 4",
                                               "tp-pp all-reduce 1 x int32 = 4 B min over 4",
                                               "tp-pp all-reduce 1 x fp32 = 4 B max over 4"));
  // The last stage also reduces the loss.
  EXPECT_EQ(Tail(w, 1).back(), "dp all-reduce 2 x fp32 = 8 B over 2");
}

std::vector<std::string> Gathers(const std::vector<std::string>& overrides) {
  std::vector<std::string> lines;
  for (const std::string& line : Tail(TestWorkload(overrides), 0)) {
    if (line.find("all-gather") != std::string::npos) lines.push_back(line);
  }
  return lines;
}

TEST(Megatron, BothDistributedOptimizersGatherAllParameters) {
  std::vector<std::string> overrides = {
      "model.experts=4",           "model.experts_per_token=2",           "model.bias=false",
      "parallel.tensor=1",         "training.distributed_optimizer=true", "parallel.expert=2",
      "model.tied_embedding=false"};
  const std::vector<std::string> twice = Gathers(overrides);
  ASSERT_EQ(twice.size(), 4u);  // over dp and edp
  EXPECT_EQ(twice[0], twice[2]);
  EXPECT_EQ(twice[1], twice[3]);
  EXPECT_NE(twice[0], twice[1]);
  EXPECT_EQ(Gathers({"training.distributed_optimizer=true", "model.tied_embedding=false"}).size(),
            1u);
  // The first of the two stages has dense layers only.
  std::vector<std::string> dense_stage = overrides;
  dense_stage.push_back("model.first_dense_layers=4");
  const std::vector<std::string> dense = Gathers(dense_stage);
  ASSERT_EQ(dense.size(), 2u);
  EXPECT_EQ(dense[0], dense[1]);
  // Without expert parallelism, one optimizer has all parameters, in the same bucket.
  overrides[5] = "parallel.expert=1";
  EXPECT_EQ(Gathers(overrides).size(), 1u);
}

TEST(Megatron, NormsOfQueriesAndKeysAreSummedOverTensorRanks) {
  // Four layers with two norms of eight columns, each with a bias.
  const std::string call = "tp all-reduce 128 x fp16 = 256 B over 2";
  EXPECT_THAT(Tail(TestWorkload({"model.qk_norm=true"}), 0), testing::Contains(call));
  EXPECT_THAT(Tail(TestWorkload({"model.qk_norm=true", "parallel.tensor=1"}), 0),
              testing::Not(testing::Contains(testing::StartsWith("tp all-reduce"))));
  EXPECT_THAT(Tail(TestWorkload(), 0),
              testing::Not(testing::Contains(testing::StartsWith("tp all-reduce"))));
}

TEST(Megatron, ParametersAreGatheredChunkByChunk) {
  // The embedding makes the first chunk the larger one.
  const std::vector<std::string> lines =
      Gathers({"training.distributed_optimizer=true", "parallel.virtual_pipeline=2",
               "model.tied_embedding=false"});
  ASSERT_EQ(lines.size(), 2u);
  const auto elements = [](const std::string& line) {
    return std::stoll(line.substr(line.find("all-gather ") + 11));
  };
  EXPECT_GT(elements(lines[0]), elements(lines[1]));
}

// Two more reductions of one number, of this rank's tensors: 12 a layer in four layers, the word
// and the position embedding.
TEST(Megatron, LoggedNormsAndZerosCostKernelsAndReductions) {
  const Workload w = TestWorkload({"training.log_zeros=true", "training.log_params_norm=true"});
  const std::vector<std::string> plain = Tail(TestWorkload(), 0), tail = Tail(w, 0);
  ASSERT_EQ(tail.size(), plain.size() + 2);
  EXPECT_EQ(tail[5], "tp-pp all-reduce 1 x fp32 = 4 B over 4") << "zeros, after the norm";
  EXPECT_EQ(tail.back(), "tp-pp all-reduce 1 x fp32 = 4 B over 4") << "norm of parameters";
  const auto tensors_of = [&](const std::string& name) -> int64_t {
    for (const Submodule& s : w.submodules) {
      if (s.name == name) return FieldOf(s, "tensors");
    }
    return -1;
  };
  EXPECT_EQ(tensors_of("optimizer.zeros"), 4 * 12 + 2);
  EXPECT_EQ(tensors_of("parameters.norm"), 4 * 12 + 2);
  EXPECT_EQ(tensors_of("optimizer.adam"), 4 * 12 + 2);
}

// The host reads the loss of each micro-batch before it launches the backward pass.
TEST(Megatron, TheHostReadsTheLossIfGradientsAreChecked) {
  const auto reads = [](const char* check) {
    const Workload w = OneMicrobatch(
        {"training.precision=bf16", std::string("training.check_gradients=") + check});
    int count = 0;
    for (const Op& op : w.programs[0].ops) {
      count += op.host_waits == HostWait::kOpReady && op.phase <= Phase::kBackward ? 1 : 0;
    }
    return count;
  };
  EXPECT_EQ(reads("true"), 1);
  EXPECT_EQ(reads("false"), 0);
}

TEST(Megatron, TailWithDistributedOptimizerAndSequenceParallelism) {
  const Workload w = TestWorkload({"training.distributed_optimizer=true", "training.precision=bf16",
                                   "parallel.sequence_parallel=true", "parallel.pipeline=1",
                                   "training.step_checks=false", "model.tied_embedding=false"});
  const std::vector<std::string> tail = Tail(w, 0);
  ASSERT_EQ(tail.size(), 5u);
  EXPECT_THAT(tail[0], testing::StartsWith("dp reduce-scatter "));
  // Norms (8 layers x 2, and the final one) and row-parallel biases, whole on each tensor rank.
  EXPECT_EQ(tail[1], "tp all-reduce 3200 x fp32 = 12.8 KB over 2");
  EXPECT_EQ(tail[2], "world all-reduce 1 x fp32 = 4 B over 8");
  EXPECT_THAT(tail[3], testing::StartsWith("dp all-gather "));
  EXPECT_EQ(tail[4], "dp all-reduce 2 x fp32 = 8 B over 4");
}

TEST(Megatron, OverlappedReductionStartsInsideTheLastBackward) {
  const Workload w =
      TestWorkload({"parallel.pipeline=1", "overlap.grad_reduce=true",
                    "training.bucket_elements=40000", "training.check_gradients=false"});
  int inside = 0;
  for (const Op& op : w.programs[0].ops) {
    if (op.role != kDataRole || op.kind != OpKind::kCollective || op.microbatch < 0) continue;
    EXPECT_EQ(op.microbatch, 1);  // of two
    ++inside;
  }
  EXPECT_GE(inside, 4);
  // Backward waits for no bucket.
  const Program& p = w.programs[0];
  for (size_t i = 0; i < p.ops.size(); ++i) {
    for (const uint32_t d : p.dependencies(i)) {
      if (p.ops[d].role == kDataRole && p.ops[d].stream == kDataStream) {
        EXPECT_NE(p.ops[i].phase, Phase::kBackward);
      }
    }
  }
}

TEST(Megatron, OverlappedParameterGatherIsOneBucketAhead) {
  const Workload w =
      TestWorkload({"parallel.pipeline=1", "overlap.grad_reduce=true", "overlap.param_gather=true",
                    "training.distributed_optimizer=true", "training.bucket_elements=40000"});
  int gathers = 0, buckets = 0;
  for (const Op& op : w.programs[0].ops) {
    if (op.role != kDataRole || op.kind != OpKind::kCollective) continue;
    if (w.calls[op.work].collective == kRs) ++buckets;
    if (w.calls[op.work].collective != kAg) continue;
    ++gathers;
    EXPECT_EQ(op.phase, Phase::kForward);
    EXPECT_EQ(op.microbatch, 0);
  }
  EXPECT_EQ(gathers, buckets);
  EXPECT_GE(gathers, 5);
}

// The weights that rank 0 quantizes, and their elements, by phase and micro-batch.
std::map<std::pair<Phase, int>, std::pair<int64_t, int64_t>> QuantizedWeights(Overrides more) {
  Overrides overrides = {"training.precision=fp8", "training.fp8_recipe=mxfp8",
                         "training.distributed_optimizer=true", "overlap.grad_reduce=true"};
  overrides.insert(overrides.end(), more.begin(), more.end());
  const Workload w = TestWorkload(overrides);
  std::map<std::pair<Phase, int>, std::pair<int64_t, int64_t>> found;
  for (const Op& op : w.programs[0].ops) {
    if (op.kind != OpKind::kCompute) continue;
    for (const uint32_t number : w.blocks[op.work].submodules) {
      const Submodule& s = w.submodules[number];
      if (s.name != "weights.quantise" && s.name != "gathered.quantise") continue;
      EXPECT_EQ(op.layer, -1) << "in front of the graph of a layer";
      const auto& work = *s.As<submodule::Quantize>();
      auto& [weights, elements] = found[{op.phase, op.microbatch}];
      weights += work.rows;
      elements += work.rows * work.n;
    }
  }
  return found;
}

// 4 layers of 4 weights on a stage, of 12 x 64 x 64 elements, half of them on a rank. Each weight
// that is gathered beside the first forward is quantized there, else behind the gather; without a
// gather in MXFP8, modules quantize.
TEST(Megatron, GatheredWeightsInMxfp8AreQuantizedOneByOne) {
  const std::pair<int64_t, int64_t> each{16, 4 * 12 * 64 * 64 / 2}, once{1, each.second};
  const char* gathered = "training.quantized_param_gather=true";
  using testing::ElementsAre;
  using testing::Pair;
  EXPECT_THAT(QuantizedWeights({gathered, "overlap.param_gather=true"}),
              ElementsAre(Pair(std::pair{Phase::kForward, 0}, each)));
  EXPECT_THAT(QuantizedWeights({gathered, "overlap.param_gather=false"}),
              ElementsAre(Pair(std::pair{Phase::kOptimizer, -1}, each)));
  EXPECT_THAT(QuantizedWeights({"overlap.param_gather=true"}),
              ElementsAre(Pair(std::pair{Phase::kOptimizer, -1}, once)));
}

// The next bucket is on its way before the host quantizes the weights of this one.
TEST(Megatron, TheNextGatherStartsBeforeWeightsAreQuantized) {
  const Workload w = TestWorkload(
      {"training.precision=fp8", "training.fp8_recipe=mxfp8", "training.distributed_optimizer=true",
       "training.quantized_param_gather=true", "overlap.grad_reduce=true",
       "overlap.param_gather=true", "training.bucket_elements=10000"});
  int gathers = 0, quantized = 0;
  for (const Op& op : w.programs[0].ops) {
    if (op.kind == OpKind::kCollective &&
        w.calls[op.work].collective == CollectiveType::kAllGather &&
        w.roles[op.role].dimension == Dimension::kData) {
      ++gathers;
    }
    if (op.kind != OpKind::kCompute ||
        w.submodules[w.blocks[op.work].submodules.front()].name != "gathered.quantise") {
      continue;
    }
    ++quantized;
    EXPECT_GT(gathers, quantized) << "the bucket that is quantized and the next one";
    if (quantized == 3) break;
  }
  EXPECT_EQ(quantized, 3);
}

TEST(Megatron, MessagesBetweenStages) {
  const auto size = [](const Overrides& overrides) {
    const Workload w = TestWorkload(overrides);
    for (const CommCall& call : w.calls) {
      if (call.collective == CollectiveType::kSendRecv) return call.count;
    }
    return int64_t{0};
  };
  const int64_t whole = 2 * 32 * 64;
  EXPECT_EQ(size({}), whole);
  EXPECT_EQ(size({"parallel.sequence_parallel=true"}), whole / 2);
  EXPECT_EQ(size({"training.scatter_gather_p2p=true"}), whole / 2);
  // Sent in parts, each message is gathered over tp at the receiver.
  const Workload parts = TestWorkload({"training.scatter_gather_p2p=true"});
  EXPECT_EQ(Count(parts, 0, {.role = kTensorRole})[kAg], 4);  // gradients
  EXPECT_EQ(Count(parts, 1, {.role = kTensorRole})[kAg], 4);  // activations
}

TEST(Megatron, TablesHoldOnlyUsedSubmodules) {
  const Workload w = TestWorkload({"model.dropout=0", "model.bias=false"});
  std::vector<bool> seen(w.submodules.size());
  for (const ComputeBlock& block : w.blocks) {
    for (const uint32_t s : block.submodules) seen[s] = true;
  }
  EXPECT_THAT(seen, testing::Each(true));
  for (const Submodule& s : w.submodules) EXPECT_GT(s.bytes, Bytes(0)) << s.name;
}

TEST(Megatron, SameInputsSameWorkload) {
  const Workload a = TestWorkload(), b = TestWorkload();
  EXPECT_EQ(TablesText(a), TablesText(b));
  EXPECT_EQ(ProgramText(a, 1), ProgramText(b, 1));
}

TEST(Megatron, TotalsOfTheIteration) {
  const Workload w = TestWorkload();
  EXPECT_EQ(w.totals.tokens, 16 * 32);
  EXPECT_EQ(w.totals.layout, "TP2 PP2 DP2, 4 micro-batches");
  EXPECT_EQ(w.totals.precision, DataType::kFp16);
  EXPECT_EQ(w.class_count, 2);
  EXPECT_THAT(w.class_of_rank, testing::ElementsAre(0, 0, 0, 0, 1, 1, 1, 1));
}

}  // namespace
}  // namespace drydock
