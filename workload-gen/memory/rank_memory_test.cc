// Compares the activations of a rank with the closed forms of Korthikanti et al. 2022
// (arXiv:2205.05198), equations 1 to 5: bytes per layer and micro-batch, in units of s b h.
#include "workload-gen/memory/rank_memory.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "core/model/memory_total.h"
#include "workload-gen/memory/activation_memory.h"
#include "workload-gen/memory/saved_tensors.h"
#include "workload-gen/memory/working_tensors.h"
#include "workload-gen/testing/sharded_testing.h"

namespace drydock {
namespace {

// s 32, b 2, h 64, a 8. Tensor parallelism, where a test uses it, has two ranks.
constexpr double kSbh = 32 * 2 * 64;
constexpr double kScores = 5.0 * 8 * 32 / 64;  // 5 a s / h

Workload Gpt(Overrides more, int pipeline = 1) {
  more.insert(more.end(), {"training.kernels=unfused", "model.attention_dropout=0.1",
                           "parallel.pipeline=" + std::to_string(pipeline)});
  return TestWorkload(more);
}

double LayerBytes(const Overrides& overrides, int tensor, bool split) {
  const Workload w = Gpt(overrides);
  ActivationRules rules;
  rules.tensor = tensor;
  rules.saves_split_rows = split;
  return static_cast<double>(WalkActivations(w, w.programs[0], rules).of_layer.count()) / kSbh;
}

// The first pipeline stage holds most. Its curve rises with each forward of the warm-up, ends with
// the optimizer's step, and peaks at what PyTorch reports.
TEST(RankMemory, TheCurvePeaksAtWhatPyTorchReports) {
  const TrainingJob job = TestJob({});
  MemoryCurve curve;
  const Workload w = MakeFramework(FrameworkKind::kMegatron)
                         ->Build(job, TestLayout(job), TestTopology(1, 8), {.curve = &curve});
  const auto fullest = static_cast<size_t>(curve.class_index);
  EXPECT_EQ(curve.class_index, JudgeMemory(w)->class_index);
  ASSERT_EQ(curve.allocated.size(), w.programs[fullest].ops.size());
  EXPECT_EQ(*std::max_element(curve.allocated.begin(), curve.allocated.end()),
            w.pytorch[fullest].allocated);
  const Bytes states = curve.allocated.back();  // no activations are left
  EXPECT_LT(states, curve.allocated[curve.allocated.size() / 2]);
  for (const Bytes bytes : curve.allocated) EXPECT_GE(bytes, states);
}

TEST(RankMemory, KorthikantiWithoutParallelism) {
  EXPECT_DOUBLE_EQ(LayerBytes({"parallel.tensor=1"}, 1, false), 34 + kScores);
}

TEST(RankMemory, KorthikantiWithTensorParallelism) {
  EXPECT_DOUBLE_EQ(LayerBytes({}, 2, false), 10 + 24 / 2.0 + kScores / 2);
}

TEST(RankMemory, KorthikantiWithSequenceParallelism) {
  EXPECT_DOUBLE_EQ(LayerBytes({"parallel.sequence_parallel=true"}, 2, true),
                   34 / 2.0 + kScores / 2);
}

TEST(RankMemory, KorthikantiWithSelectiveRecomputation) {
  EXPECT_DOUBLE_EQ(
      LayerBytes({"parallel.sequence_parallel=true", "training.recompute=selective"}, 2, true),
      34 / 2.0);
}

TEST(RankMemory, KorthikantiWithFullRecomputation) {
  EXPECT_DOUBLE_EQ(LayerBytes({"parallel.tensor=1", "training.recompute=full"}, 1, false), 2);
}

// PyTorch's softmax keeps its result in fp32 beside the cast one, and the mask: 4 a s / h and s /
// (b h) more.
TEST(RankMemory, PlainSoftmaxKeepsProbabilitiesInFp32) {
  EXPECT_DOUBLE_EQ(LayerBytes({"parallel.tensor=1", "training.softmax_fusion=false"}, 1, false),
                   34 + kScores + 4.0 * 8 * 32 / 64 + 32.0 / (2 * 64));
}

// Norms whose results Megatron drops: 4 s b h of the 34, which come back one by one.
TEST(RankMemory, RepeatedNormsDropWhatTheyWrote) {
  const Overrides norms = {"parallel.tensor=1", "training.recompute=selective",
                           "training.recompute_modules=[layernorm]"};
  EXPECT_DOUBLE_EQ(LayerBytes(norms, 1, false), 34 + kScores - 4);
}

int64_t Activations(const Workload& w, int class_index) {
  for (const MemoryPart& part : w.memory[static_cast<size_t>(class_index)]) {
    if (part.name == "activations") return part.bytes.count();
  }
  return -1;
}

// Eight layers on four stages: stage r holds min(P - r, M) micro-batches of L / P layers at once.
// The first stage holds as much as a rank without a pipeline.
TEST(RankMemory, MicrobatchesInFlightOf1F1B) {
  const Overrides four = {"parallel.tensor=2", "parallel.data=1", "training.global_batch=16",
                          "model.tied_embedding=false"};
  const Workload w = Gpt(four, 4);
  ASSERT_EQ(w.class_count, 4);
  const double layer = (10 + 24 / 2.0 + kScores / 2) * kSbh;
  EXPECT_DOUBLE_EQ(static_cast<double>(Activations(w, 1)), 3 * 2 * layer);
  EXPECT_DOUBLE_EQ(static_cast<double>(Activations(w, 2)), 2 * 2 * layer);
  EXPECT_GE(static_cast<double>(Activations(w, 0)), 4 * 2 * layer);
  // With two micro-batches in all, at most two are in flight on a stage.
  Overrides two = four;
  two[2] = "training.global_batch=4";
  EXPECT_DOUBLE_EQ(static_cast<double>(Activations(Gpt(two, 4), 1)), 2 * 2 * layer);
}

// With full recomputation, a stage holds each layer's input and all tensors of one layer.
TEST(RankMemory, FullRecomputationHoldsOneLayerWhole) {
  const Overrides four = {"parallel.tensor=2", "parallel.data=1", "training.global_batch=16",
                          "training.recompute=full", "model.tied_embedding=false"};
  const double layer = (10 + 24 / 2.0 + kScores / 2) * kSbh;
  EXPECT_DOUBLE_EQ(static_cast<double>(Activations(Gpt(four, 4), 1)),
                   3 * 2 * 2 * kSbh + layer - 2 * kSbh);
}

// Two layers recomputed together save one input and restore all tensors before their backward.
TEST(RankMemory, LayersRecomputedTogetherKeepOneInput) {
  const Overrides four = {"parallel.tensor=2",           "parallel.data=1",
                          "training.global_batch=16",    "training.recompute=full",
                          "training.recompute_layers=2", "model.tied_embedding=false"};
  const double layer = (10 + 24 / 2.0 + kScores / 2) * kSbh;
  EXPECT_DOUBLE_EQ(static_cast<double>(Activations(Gpt(four, 4), 1)),
                   3 * 2 * kSbh + 2 * layer - 2 * kSbh);
}

int64_t Part(const Workload& w, const std::string& name) {
  for (const MemoryPart& part : w.memory[0]) {
    if (part.name == name) return part.bytes.count();
  }
  ADD_FAILURE() << name;
  return 0;
}

TEST(RankMemory, StatesOfEachFramework) {
  const Workload fsdp = ShardedWorkload({});
  const int64_t share = kAllElements / 8;
  EXPECT_EQ(Part(fsdp, "parameters"), 4 * share);
  EXPECT_EQ(Part(fsdp, "optimizer states"), 8 * share);
  const auto zero = [](int stage) {
    return ShardedWorkload({"training.framework=deepspeed", "zero.stage=" + std::to_string(stage)});
  };
  EXPECT_EQ(Part(zero(1), "parameters"), 2 * kAllElements);
  EXPECT_EQ(Part(zero(2), "optimizer states"), 12 * share);
  EXPECT_EQ(Part(zero(3), "parameters"), 2 * share);
  EXPECT_EQ(Part(zero(3), "gradients"), 2 * share);
  // Megatron: 16 bytes per parameter, 2 more for fp32 gradients; DP2 shards half of them.
  const Workload plain = TestWorkload({"training.gradient_type=fp32"});
  const int64_t elements = Part(plain, "parameters") / 2;
  EXPECT_EQ(Part(plain, "gradients"), 4 * elements);
  EXPECT_EQ(Part(TestWorkload(), "gradients"), 2 * elements);  // gradients stay in fp16
  EXPECT_EQ(Part(plain, "optimizer states"), 12 * elements);
  const Workload shared = TestWorkload({"training.distributed_optimizer=true"});
  EXPECT_EQ(Part(shared, "optimizer states"), 6 * (Part(shared, "parameters") / 2));
}

// Rows of 2 x 1024 tokens and eager kernels: the loss is the fullest moment.
Workload AtTheLoss(Overrides more) {
  more.insert(more.end(), {"training.kernels=unfused", "model.sequence=1024"});
  return ShardedWorkload(more);
}

// The logarithm of the softmax, its gradient, and that of the logits, in fp32; compiled, the logits
// and their gradient in bf16. The activation of each layer keeps one tensor more, and no gradient
// of a residual lives beside the loss.
TEST(RankMemory, TensorsOfTheLossOfPyTorch) {
  constexpr int64_t kLogits = 2 * 1024 * 1000, kGate = 2 * 1024 * 160 * 2;
  const auto held = [](const char* kernels) {
    const Workload w =
        ShardedWorkload({"model.sequence=1024", std::string("training.kernels=") + kernels});
    return Part(w, "activations") + Part(w, "working tensors");
  };
  EXPECT_EQ(held("unfused") - held("fused"), (12 - 4) * kLogits + 4 * kGate);
}

// At the loss, FSDP holds the head whole, and the gradients of earlier micro-batches.
TEST(RankMemory, FsdpHoldsWhatTheHostHasGathered) {
  const Workload one = AtTheLoss({});
  EXPECT_EQ(Part(one, "gathered parameters"), 2 * kHeadElements);
  EXPECT_EQ(Part(one, "gradients"), 0);
  EXPECT_EQ(Part(one, "gradient buffers"), 0);
  const Workload two = AtTheLoss({"training.global_batch=32"});
  EXPECT_EQ(Part(two, "gradients"), 4 * kAllElements / 8);
  // Parameters that stay gathered: all of them.
  EXPECT_EQ(Part(AtTheLoss({"fsdp.reshard_after_forward=never"}), "gathered parameters"),
            2 * kAllElements);
}

// In a layer's backward, FSDP2 holds the layer whole, the flat buffer of the next, the input of the
// reduction before, and the layer's own gradients, the fullest moment in front of its first norm.
TEST(RankMemory, FsdpHoldsTwoLayersInBackward) {
  const Workload w = ShardedWorkload({"model.vocab=8", "model.sequence=2", "model.layers=8"});
  EXPECT_EQ(Part(w, "gathered parameters"), 2 * 2 * kLayerElements);
  EXPECT_EQ(Part(w, "gradient buffers"), (4 + 2) * kLayerElements - 2 * 64);
}

// Stages 1 and 2 have whole buckets in backward, stage 3 always. Stage 1 sums whole gradients,
// stage 2 those of parameters of which the rank updates a part.
TEST(RankMemory, ZeroHoldsBucketsAndSums) {
  const auto zero = [](const std::string& stage) {
    return AtTheLoss({"training.framework=deepspeed", "training.global_batch=32",
                      "zero.reduce_bucket_size=1000", "zero.stage=" + stage});
  };
  EXPECT_EQ(Part(zero("1"), "gradients"), 2 * kAllElements);
  EXPECT_EQ(Part(zero("1"), "gradient buffers"), 2 * 1000);
  EXPECT_EQ(Part(zero("2"), "gradient buffers"), 0);
  // A rank's share lies in the embedding and the first layer's attention, or around the head.
  EXPECT_GT(Part(zero("2"), "gradients"), 2 * kEmbeddingElements);
  EXPECT_LT(Part(zero("2"), "gradients"), 2 * (kEmbeddingElements + kLayerElements));
  EXPECT_EQ(Part(zero("3"), "gradient buffers"), 2 * 1000);
  // Nothing is large enough to be sharded again.
  EXPECT_EQ(Part(zero("3"), "gathered parameters"), 2 * kAllElements);
  const Workload large =
      ShardedWorkload({"training.framework=deepspeed", "zero.stage=2", "zero.overlap_comm=true"});
  EXPECT_GE(Part(large, "gradient buffers"), 2 * 2 * int64_t{500000000});
}

// A small Llama under Megatron: 8 KB a row of 2 x 32 tokens, 64 wide, in bf16.
Workload Llama(Overrides more) {
  more.insert(more.begin(), {"training.framework=megatron", "parallel.data=1"});
  return ShardedWorkload(more, /*hosts=*/1, /*gpus=*/1);
}
constexpr int64_t kRows = 64, kWide = kRows * 64 * 2, kFfn = kRows * 160 * 2;

// Transformer Engine keeps a tensor for each shape of weights: qkv, proj, fc1, fc2; Megatron one
// for the head. Without fusion, there is none.
TEST(RankMemory, OneWeightGradientForEachShape) {
  const int64_t shapes = 2 * (64 * 128 + 64 * 64 + 3 * 64 * 160 + 1000 * 64);
  const Overrides none = {"memory.cublas_workspace=0 B", "memory.te_workspace=0 B"};
  EXPECT_EQ(Part(Llama(none), "library buffers"), shapes);
  Overrides apart = none;
  apart.push_back("training.gradient_accumulation_fusion=false");
  EXPECT_EQ(Part(Llama(apart), "library buffers"), 0);
  // Megatron-Core's own modules share a buffer of 2 x 8 x 32 x 32 scores, and have no workspace.
  Overrides unfused = {"training.kernels=unfused", "memory.cublas_workspace=0 B"};
  EXPECT_EQ(Part(Llama(unfused), "library buffers") - Part(Llama(apart), "library buffers"),
            2 * 2 * 8 * 32 * 32);
  // Two workspaces of PyTorch, one of Transformer Engine, on a GPU before Hopper.
  constexpr int64_t kMiB = 1 << 20;
  EXPECT_EQ(Part(Llama({}), "library buffers"), shapes + 2 * (8 * kMiB + kMiB / 8) + 4 * kMiB);
}

// Each rank holds fp8 copies of its linear weights, and their transposes.
TEST(RankMemory, WeightsInFp8) {
  EXPECT_EQ(Part(Llama({"training.precision=fp8"}), "fp8 weights"), 2 * 4 * (kLayerElements - 128));
}

// The loss holds logits and, in fp32, the softmax, compiled twice; that of Transformer Engine has
// only the gradient of the logits.
TEST(RankMemory, TensorsOfTheLoss) {
  const auto held = [](const std::string& fusion) {
    const Workload w = Llama({"training.cross_entropy_fusion=" + fusion, "model.layers=1"});
    return Part(w, "activations") + Part(w, "working tensors");
  };
  constexpr int64_t kLogits = kRows * 1000;
  EXPECT_EQ(held("native") - held("none"), 4 * kLogits);
  // The gradient of the logits meets the gradient of the head's input.
  EXPECT_EQ(held("none") - held("te"), 4 * kLogits - kWide);
}

// The fullest moment of backward is the gated activation: gradients of its result and of its two
// inputs live beside that of the residual; the input of fc2 is free.
TEST(RankMemory, BackwardOfAGatedActivation) {
  const Workload w = Llama({"training.cross_entropy_fusion=te", "model.vocab=8", "model.layers=8"});
  // At that moment, what the head saved is free too: logits and the rows around the final norm.
  const int64_t free = kFfn + 2 * kWide + kRows * 8 * 2;
  EXPECT_EQ(Part(w, "working tensors"), 3 * kFfn + kWide - free);
}

// Layers that are repeated whole keep their input, however many norms they have.
TEST(RankMemory, FullRecomputationKeepsNoInputOfANorm) {
  const auto activations = [](const char* norms) {
    return Activations(ShardedWorkload({"training.framework=megatron", "training.recompute=full",
                                        "model.layers=8", std::string("model.qk_norm=") + norms},
                                       1, 1),
                       0);
  };
  const auto layer = [](const char* norms) {
    return Activations(ShardedWorkload({"training.framework=megatron", "training.recompute=full",
                                        "model.layers=1", std::string("model.qk_norm=") + norms},
                                       1, 1),
                       0);
  };
  EXPECT_EQ(activations("true") - layer("true"), activations("false") - layer("false"));
}

// The result of the experts' activation, which the second product reads, comes back expert by
// expert: 64 rows to 2 of 4 experts, 160 wide.
TEST(RankMemory, RepeatedActivationsOfExpertsDropWhatTheyWrote) {
  const auto layer = [](const std::string& modules) {
    const Workload w = ShardedWorkload(
        {"training.framework=megatron", "model.experts=4", "model.experts_per_token=2",
         "training.recompute=selective", "training.recompute_modules=" + modules},
        1, 1);
    return WalkActivations(w, w.programs[0], {}).of_layer.count();
  };
  EXPECT_EQ(layer("[core_attn]") - layer("[core_attn, moe_act]"), 2 * kFfn);
}

// Attention saves queries, keys and values once, in however many steps it runs.
TEST(RankMemory, StepsOfAttentionShareTheirInputs) {
  const auto layer = [](int context, const std::string& type) {
    std::vector<std::string> overrides = {"training.framework=megatron",
                                          "parallel.context=" + std::to_string(context),
                                          "parallel.context_type=" + type, "parallel.data=1"};
    if (type == "a2a+p2p") overrides.emplace_back("parallel.context_heads=2");
    const Workload w = ShardedWorkload(overrides, /*hosts=*/1, /*gpus=*/context);
    return WalkActivations(w, w.programs[0], {}).of_layer.count() * context;
  };
  EXPECT_EQ(layer(4, "p2p"), layer(1, "p2p"));
  EXPECT_EQ(layer(4, "a2a+p2p"), layer(1, "p2p"));
}

// Fused, the places of the picks and a sum for each row and head; unfused, queries and keys in fp32
// and squares of probabilities.
TEST(RankMemory, SparseAttentionKeepsSquaresOnlyUnfused) {
  Submodule s;
  s.work = submodule::SparseAttention{
      {.rows = 4096, .keys = 4096, .heads = 16, .head_dim = 576, .top_k = 2048, .fused = true},
      512};
  const auto internal = [&] { return SavedBy(s, LossTensors()).internal.count(); };
  EXPECT_EQ(internal(), 4 * 4096 * (2048 + 16));
  std::get<submodule::SparseAttention>(s.work).fused = false;
  EXPECT_EQ(internal(), 4 * 4096 * 576 * (16 + 1) + (4 + 2) * 16 * int64_t{4096} * 4096);
}

// Two sequences of 2048 keys have as many keys as queries. cuDNN saves the picks with attention,
// and TileLang with the indexer, too.
TEST(RankMemory, SparseAttentionSavesTheKeysOfEachSequenceAndPicksOnce) {
  const submodule::SparseWork shape = {
      .rows = 4096, .keys = 2048, .heads = 16, .head_dim = 64, .top_k = 512, .batch = 2};
  Submodule attention, index;
  attention.work = submodule::SparseAttention{shape, 64};
  EXPECT_EQ(SavedBy(attention, LossTensors()).inputs.count(), 2 * 4096 * 64 * (16 + 1));
  index.work = submodule::SparseIndex{shape};
  EXPECT_EQ(SavedBy(index, LossTensors()).inputs.count(), 2 * 4096 * (16 * (64 + 1) + 64));
  auto& fused = std::get<submodule::SparseIndex>(index.work);
  fused.fused = true;
  EXPECT_EQ(SavedBy(index, LossTensors()).internal.count(), 0);
  fused.tilelang = true;
  EXPECT_EQ(SavedBy(index, LossTensors()).internal.count(), 4 * 4096 * 512);
}

constexpr int64_t kGiB = int64_t{1} << 30;

Submodule Indexer(int64_t rows, int64_t keys) {
  Submodule s;
  s.work = submodule::SparseIndex{
      {.rows = rows, .keys = keys, .heads = 64, .head_dim = 128, .top_k = 2048, .fused = true}};
  return s;
}

// 8192 queries of 131,072 keys in four pieces of 1 GiB of scores: three copies of a piece.
TEST(RankMemory, ScoresOfOneHeadAfterAnotherExistInPieces) {
  Submodule s = Indexer(8192, 131072);
  std::get<submodule::SparseIndex>(s.work).by_heads = true;
  EXPECT_EQ(TotalOf(WorkingForward(s, {})), 3 * kGiB);
}

// Scores in fp32, and two 32-bit buffers for as many rows as fit in 2 GiB: all 4096 rows, and 8192
// of 32,768. The slices of one packed sample are scored in pieces of 1 GiB, those of two are not.
TEST(RankMemory, CudnnsSelectionHasTwoBuffersBesideTheScores) {
  EXPECT_EQ(TotalOf(WorkingForward(Indexer(4096, 4096), {})), 12 * 4096 * 4096);
  EXPECT_EQ(TotalOf(WorkingForward(Indexer(32768, 32768), {})), 4 * kGiB + 2 * kGiB);
  Submodule slices = Indexer(8192, 131072);
  EXPECT_EQ(TotalOf(WorkingForward(slices, {})), 1 * kGiB + 2 * kGiB);
  std::get<submodule::SparseIndex>(slices.work).batch = 2;
  EXPECT_EQ(TotalOf(WorkingForward(slices, {})), 4 * kGiB + 2 * kGiB);
}

// TileLang's scores exist for 8192 queries of one sequence at a time, and PyTorch's picks of them
// have 16 bytes.
TEST(RankMemory, TileLangScoresPiecesOfASequence) {
  const auto bytes = [](int64_t rows, int64_t keys, int64_t batch) {
    Submodule s = Indexer(rows, keys);
    auto& index = std::get<submodule::SparseIndex>(s.work);
    index.tilelang = true;
    index.batch = batch;
    return TotalOf(WorkingForward(s, {}));
  };
  EXPECT_EQ(bytes(8192, 4096, 2), 4096 * (4 * 4096 + 16 * 2048));
  EXPECT_EQ(bytes(32768, 32768, 1), int64_t{8192} * (4 * 32768 + 16 * 2048));
}

// The loss of all 4096 keys has three pieces of scores of all heads beside the indexer's; of
// 32,768 keys, eight squares in fp32 and a mask are more.
TEST(RankMemory, CudnnsLossOfAllKeysHoldsSquares) {
  const auto bytes = [](int64_t rows, int64_t heads) {
    Submodule s;
    s.work = submodule::SparseTarget{{.rows = rows,
                                      .keys = rows,
                                      .heads = heads,
                                      .head_dim = 576,
                                      .top_k = 2048,
                                      .fused = true}};
    return TotalOf(WorkingForward(s, {}));
  };
  EXPECT_EQ(bytes(4096, 128), 4 * 4096 * 4096 + 3 * kGiB);
  EXPECT_EQ(bytes(4096, 8), 4 * 4096 * 4096 * (1 + 2 * 8));
  EXPECT_EQ(bytes(32768, 128), 33 * kGiB);
}

// Two copies of queries, output and its gradient with 64 heads, and of the picks.
TEST(RankMemory, SkippedRowsAreCopiedBeforeTheBackwardOfSparseAttention) {
  Submodule s;
  s.work = submodule::SparseAttention{
      {.rows = 4096, .keys = 4096, .heads = 16, .head_dim = 576, .top_k = 2048, .fused = true},
      512};
  const int64_t without = TotalOf(WorkingBackward(s, {}));
  std::get<submodule::SparseAttention>(s.work).skips_rows = true;
  EXPECT_EQ(TotalOf(WorkingBackward(s, {})) - without,
            2 * int64_t{4096} * (2 * 64 * (576 + 2 * 512) + 4 * 2048));
}

// The first pass of a repeated layer has another submodule for its scores; the layer keeps its
// input only. 16,384 rows of 2 sequences and 64 columns in 16 bits.
TEST(RankMemory, ARepeatedLayerOfSparseAttentionKeepsItsInputOnly) {
  const Overrides job = {"parallel.tensor=1",       "parallel.pipeline=1",
                         "model.bias=false",        "model.positions=rotary",
                         "model.kv_lora_rank=512",  "model.q_lora_rank=24",
                         "model.qk_nope_dim=8",     "model.qk_rope_dim=4",
                         "model.value_dim=6",       "model.index_heads=2",
                         "model.index_head_dim=8",  "model.index_topk=16",
                         "model.index_loss=dense",  "training.sparse_attention_kernels=cudnn",
                         "training.recompute=full", "model.sequence=16384",
                         "model.layers=2"};
  const Workload w = TestWorkload(job);
  const bool pieces = std::any_of(w.submodules.begin(), w.submodules.end(), [](const Submodule& s) {
    return s.Is<submodule::SparseIndex>() && s.As<submodule::SparseIndex>()->by_heads;
  });
  EXPECT_TRUE(pieces);
  EXPECT_EQ(WalkActivations(w, w.programs[0], {}).of_layer.count(), 2 * 2 * 16384 * 64);
}

double SparseBytes(const Overrides& more) {
  Overrides all = {"parallel.tensor=1",      "model.bias=false",     "model.positions=rotary",
                   "model.kv_lora_rank=16",  "model.q_lora_rank=24", "model.qk_nope_dim=8",
                   "model.qk_rope_dim=4",    "model.value_dim=6",    "model.index_heads=2",
                   "model.index_head_dim=8", "model.index_topk=16"};
  all.insert(all.end(), more.begin(), more.end());
  return LayerBytes(all, 1, false) * kSbh;
}

// 64 queries of 2 heads of 8 columns and a weight each, and 64 keys of 2 samples, in 16 bits.
TEST(RankMemory, AnIndexerThatLearnsKeepsItsInputs) {
  EXPECT_DOUBLE_EQ(SparseBytes({"model.index_loss=dense"}) - SparseBytes({"model.index_loss=none"}),
                   2 * (64 * 2 * (8 + 1) + 64 * 8));
}

// Of what is gathered, only the inputs of q-up and fc1 may be saved in split rows: the absorbed
// queries were never gathered, and the indexer's linears keep what they gather.
TEST(RankMemory, SparseAttentionSavesSplitRowsOfColumnLinearsOnly) {
  const auto bytes = [](bool split) {
    return LayerBytes({"parallel.sequence_parallel=true", "model.bias=false",
                       "model.positions=rotary", "model.kv_lora_rank=16", "model.q_lora_rank=24",
                       "model.qk_nope_dim=8", "model.qk_rope_dim=4", "model.value_dim=6",
                       "model.index_heads=2", "model.index_head_dim=8", "model.index_topk=16"},
                      2, split) *
           kSbh;
  };
  EXPECT_DOUBLE_EQ(bytes(false) - bytes(true), 2 * 64 * (24 + 64) / 2.0);
}

// What mla_up_proj saves: 64 rows of 8 heads of queries with 20 columns, and of their 8 columns
// before they are absorbed. It keeps the latent keys instead of the joined ones. A repeated core
// (core_attn) would keep the same queries.
TEST(RankMemory, RepeatedPartsOfSparseAttentionKeepWhatTheyStartFrom) {
  const auto bytes = [](const std::string& modules) {
    return SparseBytes({"training.recompute=selective", "training.recompute_modules=" + modules});
  };
  const int64_t dropped = 2 * 64 * 8 * (20 + 8);
  EXPECT_DOUBLE_EQ(SparseBytes({}) - bytes("[mla_up_proj]"), dropped);
  EXPECT_DOUBLE_EQ(bytes("[core_attn]") - bytes("[core_attn, mla_up_proj]"), dropped);
}

TEST(RankMemory, VerdictNamesTheFullestRanks) {
  Workload w = Gpt({}, 2);
  w.topology.gpus[0].memory = Bytes(1000000000);
  const std::optional<MemoryVerdict> verdict = JudgeMemory(w);
  ASSERT_TRUE(verdict.has_value());
  EXPECT_FALSE(verdict->fits());  // context and communicators alone exceed the limit
  EXPECT_THAT(MemoryText(w), testing::HasSubstr("of 1.0 GB: does NOT fit (parameters "));
  w.topology.gpus[0].memory = Bytes(80000000000);
  EXPECT_THAT(MemoryText(w), testing::HasSubstr(" GB of 80.0 GB: fits"));
  w.memory.clear();
  EXPECT_FALSE(JudgeMemory(w).has_value());
}

TEST(RankMemory, AssumptionsAreTheUsers) {
  const Workload w = ShardedWorkload(
      {"memory.cuda_context=1 GB", "memory.nccl_communicator=0 B", "memory.fragmentation=0.5"});
  EXPECT_EQ(Part(w, "cuda context"), 1000000000);
  EXPECT_EQ(Part(w, "nccl"), 0);
  EXPECT_GT(Part(w, "fragmentation"), 0);
  // Eight layers of one graph each, two micro-batches of one pipeline stage; both share the graphs.
  const Workload graphs =
      TestWorkload({"parallel.pipeline=1", "training.recompute=none", "training.cuda_graphs=layers",
                    "memory.cuda_graph_launch=64 KiB"});
  const Workload twice =
      TestWorkload({"parallel.pipeline=1", "training.recompute=none", "training.global_batch=32",
                    "training.cuda_graphs=layers", "memory.cuda_graph_launch=64 KiB"});
  EXPECT_GT(Part(graphs, "cuda graphs"), 8 * 2 * 10 * 65536);
  EXPECT_EQ(Part(graphs, "cuda graphs"), Part(twice, "cuda graphs"));
  EXPECT_THAT(ShardedError({"memory.fragmentation=1.5"}),
              testing::HasSubstr("it must be at least 0 and below 1"));
}

// Weights that adapters leave frozen: their 16-bit copies are gone where weights are stored in the
// format of their products. qkv, proj, fc1 and fc2 of 8 layers have 12 h^2 elements each.
TEST(RankMemory, FrozenWeightsMayBeStoredInFp8) {
  const auto parameters = [](const char* stored) {
    const Workload w = TestWorkload(
        {"parallel.tensor=1", "parallel.pipeline=1", "training.precision=fp8", "model.lora_rank=4",
         "model.lora_targets=[linear_qkv]", "training.distributed_optimizer=true",
         std::string("training.quantized_param_gather=") + stored});
    for (const MemoryPart& part : w.memory[0]) {
      if (part.name == "parameters") return part.bytes.count();
    }
    return int64_t{-1};
  };
  EXPECT_EQ(parameters("false") - parameters("true"), 2 * 8 * 12 * 64 * 64);
}

// SwiGLU's input is the largest tensor of an MLP: 2 x ffn x rows. Kept in fp8, it has half of the
// bytes.
TEST(RankMemory, ActivationsMayKeepTheirInputInFp8) {
  const auto activations = [](const char* fp8) {
    return Activations(
        TestWorkload({"parallel.tensor=1", "parallel.pipeline=1", "model.activation=swiglu",
                      "model.ffn=256", std::string("training.fp8_activation_input=") + fp8}),
        0);
  };
  const int64_t ffn = 4 * 64, rows = 32 * 2;
  EXPECT_EQ(activations("false") - activations("true"), 8 * 2 * ffn * rows);
}

// Buffers of the GPU's own and fragmentation are none of PyTorch's tensors, and the allocator
// reserves whole segments.
TEST(RankMemory, PyTorchCountsItsTensorsAndItsSegments) {
  const Workload w = Gpt({"memory.fragmentation=0.1", "memory.cuda_context=1 GiB"});
  ASSERT_EQ(w.pytorch.size(), w.memory.size());
  for (size_t c = 0; c < w.memory.size(); ++c) {
    Bytes allocated;
    for (const MemoryPart& part : w.memory[c]) {
      const bool counted =
          part.name != "nccl" && part.name != "cuda context" && part.name != "fragmentation";
      if (counted) allocated += part.bytes;
    }
    EXPECT_EQ(w.pytorch[c].allocated, allocated);
    EXPECT_GT(w.pytorch[c].reserved, allocated);
    EXPECT_EQ(w.pytorch[c].reserved.count() % (2 << 20), 0) << "segments are multiples of 2 MiB";
  }
}

// Two buffers to send from, two to receive in, with a place for each of 32 tokens on each of 8
// experts, and 8 bytes of counts for each expert in each.
TEST(RankMemory, LowLatencyHasAPlaceForEachTokenOnEachExpert) {
  const Overrides experts = {"model.bias=false",
                             "model.hidden=2048",
                             "model.experts=8",
                             "model.experts_per_token=2",
                             "model.expert_ffn=96",
                             "training.precision=bf16",
                             "training.global_batch=8",
                             "parallel.pipeline=1",
                             "parallel.sequence_parallel=true",
                             "parallel.expert=4",
                             "parallel.expert_tensor=1",
                             "training.moe_dispatcher=flex",
                             "training.moe_grouped_kernel=one"};
  Overrides low = experts;
  low.push_back("training.moe_deepep=low-latency");
  const int64_t message = 4 * 16 + 2 * 2048;  // 16 scales of 128 values, two of 16 bits each
  EXPECT_EQ(Part(TestWorkload(low), "deepep buffers"), 2 * (2 * 8 * 32 * message + 8 * 8));
  const Workload normal = TestWorkload(experts);
  for (const MemoryPart& part : normal.memory[0]) {
    EXPECT_NE(part.name, "deepep buffers");
  }
}

}  // namespace
}  // namespace drydock
