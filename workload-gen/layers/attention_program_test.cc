// Multi-head latent attention as Megatron splits it, counted by hand.
#include "workload-gen/layers/attention_program.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "workload-gen/graph/text/program_counts.h"
#include "workload-gen/layout/process_groups.h"
#include "workload-gen/testing/job_testing.h"

namespace drydock {
namespace {

using testing::ElementsAre;
using Overrides = std::vector<std::string>;

// TP2 with sequence parallelism: t = 64 rows, 32 of them local.
Workload Latent(Overrides more) {
  Overrides overrides = {"parallel.pipeline=1",     "parallel.sequence_parallel=true",
                         "training.global_batch=8", "model.positions=rotary",
                         "model.bias=false",        "model.dropout=0",
                         "model.kv_lora_rank=16",   "model.qk_nope_dim=8",
                         "model.qk_rope_dim=4",     "model.value_dim=6"};
  overrides.insert(overrides.end(), more.begin(), more.end());
  return TestWorkload(overrides);
}

TEST(AttentionProgram, LatentAttentionGathersNarrowRows) {
  const Workload w = Latent({"model.q_lora_rank=32"});
  const std::string mlp_gather = "tp all-gather 4096 x fp16 = 8.192 KB over 2";
  const std::string scatter = "tp reduce-scatter 4096 x fp16 = 8.192 KB over 2";
  EXPECT_THAT(CallsOfLayer(w, 0, 2, Phase::kForward),
              ElementsAre("tp all-gather 256 x fp16 = 512 B over 2",      // t x qk_rope_dim
                          "tp all-gather 2048 x fp16 = 4.096 KB over 2",  // t x q_lora_rank
                          "tp all-gather 1024 x fp16 = 2.048 KB over 2",  // t x kv_lora_rank
                          scatter, mlp_gather, scatter));
  const std::vector<std::string> backward = CallsOfLayer(w, 0, 2, Phase::kBackward);
  ASSERT_EQ(backward.size(), 3u + 6u);
  EXPECT_THAT(std::vector<std::string>(backward.begin() + 3, backward.end()),
              ElementsAre(mlp_gather,                                         // proj
                          "tp all-gather 1024 x fp16 = 2.048 KB over 2",      // kv-up
                          "tp reduce-scatter 1024 x fp16 = 2.048 KB over 2",  //
                          "tp all-gather 2048 x fp16 = 4.096 KB over 2",      // q-up
                          "tp reduce-scatter 2048 x fp16 = 4.096 KB over 2",  //
                          "tp reduce-scatter 256 x fp16 = 512 B over 2"));
}

TEST(AttentionProgram, LatentLinearLayersHaveTheirWidths) {
  const Workload w = Latent({"model.q_lora_rank=32"});
  std::vector<std::string> shapes;
  for (const Submodule& s : w.submodules) {
    if (s.pass != Pass::kForward || !s.name.starts_with("attention.")) continue;
    if (const auto* linear = s.As<submodule::Linear>()) {
      shapes.push_back(s.name.substr(10) + " " + std::to_string(linear->rows) + "x" +
                       std::to_string(linear->n) + "x" + std::to_string(linear->k));
    }
    if (const auto* attention = s.As<submodule::Attention>()) {
      EXPECT_EQ(attention->head_dim, 12);
      EXPECT_EQ(attention->value_dim, 6);
      EXPECT_EQ(attention->kv_heads, 4);
    }
  }
  EXPECT_THAT(shapes, ElementsAre("q-down 32x32x64", "kv-down 32x20x64", "q-up 64x48x32",
                                  "kv-up 64x56x16", "proj 64x64x24"));
}

TEST(AttentionProgram, QueriesOfFullWidthComeFromTheHiddenRows) {
  const Workload w = Latent({});
  const std::vector<std::string> calls = CallsOfLayer(w, 0, 2, Phase::kForward);
  EXPECT_EQ(calls[1], "tp all-gather 4096 x fp16 = 8.192 KB over 2");
}

TEST(AttentionProgram, RecomputesUpProjections) {
  const Workload w = Latent({"model.q_lora_rank=32", "training.recompute=selective",
                             "training.recompute_modules=[mla_up_proj]"});
  EXPECT_THAT(SubmodulesOfLayer(w, 0, 2, Phase::kRecompute),
              ElementsAre("attention.q-norm", "attention.q-up", "attention.kv-norm",
                          "attention.kv-up", "attention.rotary"));
  EXPECT_EQ(CallsOfLayer(w, 0, 2, Phase::kRecompute).size(), 2u);
}

Workload Sparse(Overrides more) {
  Overrides overrides = {"model.q_lora_rank=32", "model.index_heads=2", "model.index_head_dim=8",
                         "model.index_topk=16"};
  overrides.insert(overrides.end(), more.begin(), more.end());
  return Latent(overrides);
}

// The norms and the all-gather of latent keys lie before what is repeated.
TEST(AttentionProgram, SparseAttentionRepeatsItsUpProjection) {
  const Workload w =
      Sparse({"training.recompute=selective", "training.recompute_modules=[mla_up_proj]"});
  EXPECT_THAT(
      SubmodulesOfLayer(w, 0, 2, Phase::kRecompute),
      ElementsAre("attention.q-up", "attention.absorb", "attention.rotary", "attention.join"));
  EXPECT_THAT(CallsOfLayer(w, 0, 2, Phase::kRecompute),
              ElementsAre("tp all-gather 2048 x fp16 = 4.096 KB over 2"));  // t x q_lora_rank
}

Workload CudnnSparse(Overrides more) {
  Overrides overrides = {"model.kv_lora_rank=512", "training.sparse_attention_kernels=cudnn"};
  overrides.insert(overrides.end(), more.begin(), more.end());
  return Sparse(overrides);
}

// The backward pass leaves out rows that picked no key, whose number the host reads.
TEST(AttentionProgram, TheHostWaitsBeforeCudnnsBackwardOfSparseAttention) {
  const auto waits = [](const Workload& w) {
    return std::any_of(w.programs[0].ops.begin(), w.programs[0].ops.end(), [](const Op& op) {
      return op.layer == 1 && op.phase == Phase::kBackward && op.host_waits == HostWait::kOpReady;
    });
  };
  EXPECT_TRUE(waits(CudnnSparse({})));
  EXPECT_FALSE(waits(CudnnSparse(
      {"parallel.context=2", "parallel.context_type=allgather", "model.sample_length=32"})));
  EXPECT_FALSE(waits(Sparse({})));
}

// cuDNN's kernel of scores runs for whole sequences of which all scores fit 1 GiB: 16,384 tokens of
// one sample, but not of two. The loss of all keys needs all scores.
TEST(AttentionProgram, CudnnScoresKeysInOneKernelOfShortSequencesOnly) {
  const auto by_heads = [](const Overrides& overrides) {
    const Workload w = CudnnSparse(overrides);
    return std::any_of(w.submodules.begin(), w.submodules.end(), [](const Submodule& s) {
      return s.Is<submodule::SparseIndex>() && s.As<submodule::SparseIndex>()->by_heads;
    });
  };
  const std::string one = "training.micro_batch=1", length = "model.sequence=16384";
  EXPECT_FALSE(by_heads({}));
  EXPECT_FALSE(by_heads({one, length}));
  EXPECT_TRUE(by_heads({length}));
  EXPECT_FALSE(by_heads({length, "model.index_loss=dense"}));
  const std::string slices = "parallel.context=2", gathers = "parallel.context_type=allgather";
  EXPECT_TRUE(by_heads({slices, gathers}));
  EXPECT_FALSE(by_heads({slices, gathers, "model.sample_length=32"})) << "one packed sample";
  EXPECT_TRUE(by_heads({"model.sample_length=16"}));
}

// The indexer reads gathered rows, which carry no gradients. Both ranks add up what their heads
// attend to: t = 64 rows of all 32 keys.
TEST(AttentionProgram, SparseAttentionGathersRowsForItsIndexer) {
  const Workload w = Sparse({});
  const std::string target = "tp all-reduce 2048 x fp32 = 8.192 KB over 2";
  const std::vector<std::string> forward = CallsOfLayer(w, 0, 2, Phase::kForward);
  ASSERT_GT(forward.size(), 6u);
  EXPECT_THAT(std::vector<std::string>(forward.begin(), forward.begin() + 6),
              ElementsAre("tp all-gather 256 x fp16 = 512 B over 2",      // t x qk_rope_dim
                          "tp all-gather 2048 x fp16 = 4.096 KB over 2",  // t x q_lora_rank
                          "tp all-gather 1024 x fp16 = 2.048 KB over 2",  // t x kv_lora_rank
                          "tp all-gather 4096 x fp16 = 8.192 KB over 2",  // t x hidden
                          "tp all-gather 2048 x fp16 = 4.096 KB over 2", target));
  const std::vector<std::string> backward = CallsOfLayer(w, 0, 2, Phase::kBackward);
  ASSERT_EQ(backward.size(), 3u + 6u);
  EXPECT_THAT(std::vector<std::string>(backward.begin() + 4, backward.end()),
              ElementsAre(target,                                             // again
                          "tp reduce-scatter 1024 x fp16 = 2.048 KB over 2",  // latent keys
                          "tp all-gather 2048 x fp16 = 4.096 KB over 2",      // q-up
                          "tp reduce-scatter 2048 x fp16 = 4.096 KB over 2",
                          "tp reduce-scatter 256 x fp16 = 512 B over 2"));
}

TEST(AttentionProgram, SparseAttentionAbsorbsTheUpProjection) {
  const Workload w = Sparse({});
  for (const Submodule& s : w.submodules) {
    EXPECT_NE(s.name, "attention.kv-up");
    if (s.name.starts_with("attention.index-") && s.Is<submodule::Linear>()) {
      EXPECT_NE(s.pass, Pass::kBackwardActivation) << s.name << ": its input is detached";
    }
    if (s.name == "attention.absorb" && s.pass == Pass::kForward) {
      const auto& heads = *s.As<submodule::GroupedLinear>();
      EXPECT_THAT((std::vector<int64_t>{heads.rows, heads.n, heads.k, heads.experts}),
                  ElementsAre(64 * 4, 16, 8, 4));
    }
    const auto* core = s.As<submodule::SparseAttention>();
    if (core == nullptr) continue;
    EXPECT_THAT((std::vector<int64_t>{core->rows, core->keys, core->heads, core->head_dim,
                                      core->value_dim, core->top_k}),
                ElementsAre(64, 32, 4, 20, 16, 16));
  }
}

bool Has(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// A layer that is repeated runs without autograd first, where no loss is computed.
TEST(AttentionProgram, ARepeatedLayerComputesTheLossOfItsIndexerOnce) {
  const Workload w = Sparse({"training.recompute=full"});
  EXPECT_FALSE(Has(SubmodulesOfLayer(w, 0, 2, Phase::kForward), "attention.index-target"));
  EXPECT_TRUE(Has(SubmodulesOfLayer(w, 0, 2, Phase::kForward), "attention.index"));
  EXPECT_TRUE(Has(SubmodulesOfLayer(w, 0, 2, Phase::kRecompute), "attention.index-target"));
}

// Of the four layers of the first stage, the first two are repeated.
TEST(AttentionProgram, LayersThatABlockLeavesOutComputeTheLossOfTheirIndexerAtOnce) {
  const Workload w = Sparse({"training.recompute=full", "training.recompute_method=block",
                             "training.recompute_layers=2"});
  for (const int layer : {0, 1, 2, 3}) {
    const bool repeated = layer < 2;
    EXPECT_EQ(Has(SubmodulesOfLayer(w, 0, layer, Phase::kForward), "attention.index-target"),
              !repeated)
        << layer;
    EXPECT_EQ(Has(SubmodulesOfLayer(w, 0, layer, Phase::kRecompute), "attention.index-target"),
              repeated)
        << layer;
  }
}

// Without autograd, the scores of long sequences are not needed whole, so PyTorch computes them in
// pieces. The repeated pass keeps them for the loss.
TEST(AttentionProgram, TheFirstPassOfARepeatedLayerScoresInPieces) {
  const auto by_heads = [](const Workload& w, Phase phase) {
    std::string text;
    for (const Op& op : w.programs[0].ops) {
      if (op.kind != OpKind::kCompute || op.layer != 1 || op.microbatch != 0) continue;
      if (op.phase != phase) continue;
      for (const uint32_t s : w.blocks[op.work].submodules) {
        const auto* index = w.submodules[s].As<submodule::SparseIndex>();
        if (index == nullptr || w.submodules[s].pass != Pass::kForward) continue;
        text += index->by_heads ? "pieces" : "whole";
      }
    }
    return text;
  };
  for (const char* dense : {"training.recompute=full", "training.recompute_modules=[core_attn]"}) {
    Overrides long_one = {"model.index_loss=dense", "model.sequence=16384"};
    if (std::string(dense).ends_with("]")) long_one.emplace_back("training.recompute=selective");
    long_one.emplace_back(dense);
    const Workload w = CudnnSparse(long_one);
    EXPECT_EQ(by_heads(w, Phase::kForward), "pieces") << dense;
    EXPECT_EQ(by_heads(w, Phase::kRecompute), "whole") << dense;
  }
  const Workload once = CudnnSparse({"model.index_loss=dense", "model.sequence=16384"});
  EXPECT_EQ(by_heads(once, Phase::kForward), "whole");
}

// Kernels score the keys of neighboring samples, too, and mask them; only cuDNN's slices of context
// parallelism are taken apart. A query picks keys of its own sample, in a list of 16 places.
TEST(AttentionProgram, PackedSamplesAreScoredAsOneSequence) {
  const auto shape = [](const Workload& w) {
    for (const Submodule& s : w.submodules) {
      const auto* index = s.As<submodule::SparseIndex>();
      if (index == nullptr || s.pass != Pass::kForward) continue;
      return std::vector<int64_t>{index->rows,          index->keys,
                                  index->sequences(),   index->samples,
                                  index->most_picked(), static_cast<int64_t>(2 * index->seen())};
    }
    return std::vector<int64_t>{};
  };
  const std::string packed = "model.sample_length=8";
  EXPECT_THAT(shape(Sparse({})), ElementsAre(64, 32, 2, 0, 16, 33));
  EXPECT_THAT(shape(Sparse({packed})), ElementsAre(64, 32, 2, 4, 16, 9));
  EXPECT_THAT(shape(CudnnSparse({packed})), ElementsAre(64, 32, 2, 4, 16, 9));
  const std::string slices = "parallel.context=2", gathers = "parallel.context_type=allgather";
  EXPECT_THAT(shape(Sparse({packed, slices, gathers})), ElementsAre(32, 32, 2, 4, 16, 9));
  EXPECT_THAT(shape(CudnnSparse({packed, slices, gathers})), ElementsAre(32, 8, 8, 0, 8, 9));
  // The tensor ranks add up targets of all keys: 64 rows of 32.
  EXPECT_TRUE(Has(CallsOfLayer(Sparse({packed}), 0, 2, Phase::kForward),
                  "tp all-reduce 2048 x fp32 = 8.192 KB over 2"));
}

TEST(AttentionProgram, AnIndexerThatLearnsNothingHasNoBackward) {
  const Workload w = Sparse({"model.index_loss=none"});
  for (const std::string& name : SubmodulesOfLayer(w, 0, 2, Phase::kBackward)) {
    EXPECT_FALSE(name.starts_with("attention.index")) << name;
  }
}

// Context parallelism gathers 32 rows of 20 latent columns and of the indexer's 8, and scatters
// their gradients.
TEST(AttentionProgram, ContextParallelismGathersLatentKeys) {
  const Workload w = Sparse({"parallel.context=2", "parallel.context_type=allgather"});
  std::vector<std::string> context;
  for (const Phase phase : {Phase::kForward, Phase::kBackward}) {
    for (const std::string& call : CallsOfLayer(w, 0, 2, phase)) {
      if (call.starts_with("cp ")) context.push_back(call);
    }
  }
  EXPECT_THAT(context, ElementsAre("cp all-gather 1280 x fp16 = 2.56 KB over 2",
                                   "cp all-gather 512 x fp16 = 1.024 KB over 2",
                                   "cp reduce-scatter 1280 x fp16 = 2.56 KB over 2",
                                   "cp reduce-scatter 512 x fp16 = 1.024 KB over 2"));
}

TEST(AttentionProgram, NormsQueriesAndKeys) {
  const Workload w = TestWorkload({"model.qk_norm=true", "model.kv_heads=4"});
  int rows = 0;
  for (const Submodule& s : w.submodules) {
    if (s.pass != Pass::kForward) continue;
    if (s.name == "attention.q-norm" || s.name == "attention.k-norm") {
      rows += static_cast<int>(s.As<submodule::Norm>()->rows);
    }
  }
  EXPECT_EQ(rows, 64 * (4 + 2));
}

// The squares of each of 64 rows are summed in fp32, of queries and of keys.
TEST(AttentionProgram, RanksAddUpTheSquaresOfAllHeads) {
  const auto calls = [](const char* kind, Phase phase) {
    const Workload w =
        TestWorkload({"parallel.pipeline=1", "training.global_batch=8", "model.positions=rotary",
                      "model.qk_norm=true", std::string("model.qk_norm_kind=") + kind});
    const std::vector<std::string> all = CallsOfLayer(w, 0, 2, phase);
    return std::count(all.begin(), all.end(), "tp all-reduce 128 x fp16 = 256 B over 2");
  };
  EXPECT_EQ(calls("whole", Phase::kForward), 2);
  EXPECT_EQ(calls("whole", Phase::kBackward), 2);
  EXPECT_EQ(calls("head", Phase::kForward), 0);
}

// Two heads of keys on four ranks: the output of qkv is gathered whole.
TEST(AttentionProgram, RanksShareAKeyHead) {
  const Workload w = TestWorkload({"parallel.tensor=4", "parallel.pipeline=1", "model.kv_heads=2",
                                   "parallel.sequence_parallel=true", "training.global_batch=4"});
  // t = 64 rows of 64 + 2 x 16.
  EXPECT_EQ(CallsOfLayer(w, 0, 2, Phase::kForward)[1],
            "tp all-gather 6144 x fp16 = 12.29 KB over 4");
  const std::vector<std::string> backward = CallsOfLayer(w, 0, 2, Phase::kBackward);
  EXPECT_EQ(backward[backward.size() - 3], "tp reduce-scatter 6144 x fp16 = 12.29 KB over 4");
  for (const Submodule& s : w.submodules) {
    const auto* attention = s.As<submodule::Attention>();
    if (attention == nullptr) continue;
    EXPECT_EQ(attention->heads, 2);
    EXPECT_EQ(attention->kv_heads, 1);
  }
}

// The GEMMs of all layers run in fp8, the head's does not. Scales are reduced after each pass of a
// chunk.
TEST(AttentionProgram, Fp8) {
  const Workload w = TestWorkload({"training.precision=fp8", "parallel.pipeline=1"});
  for (const Submodule& s : w.submodules) {
    const bool linear = s.Is<submodule::Linear>();
    EXPECT_EQ(s.type == DataType::kFp8, linear && s.name != "head.logits") << s.name;
  }
  std::vector<std::string> scales;
  for (const Op& op : w.programs[0].ops) {
    if (op.kind == OpKind::kCompute || op.role != kStageRole) continue;
    if (op.microbatch == 0) scales.push_back(CallText(w.calls[op.work]));
  }
  // 8 layers x 4 GEMMs x 3 tensors forward, 2 backward.
  EXPECT_THAT(scales, ElementsAre("all-reduce 96 x fp32 = 384 B max over 8",
                                  "all-reduce 64 x fp32 = 256 B max over 8"));
}

}  // namespace
}  // namespace drydock
