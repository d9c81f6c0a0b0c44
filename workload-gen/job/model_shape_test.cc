#include "workload-gen/job/model_shape.h"

#include "workload-gen/testing/job_testing.h"

namespace drydock {
namespace {

const std::vector<std::string> kLatent = {"model.kv_lora_rank=16", "model.q_lora_rank=24",
                                          "model.qk_nope_dim=8", "model.qk_rope_dim=4",
                                          "model.value_dim=6"};
const std::vector<std::string> kExperts = {"model.experts=4", "model.experts_per_token=2",
                                           "parallel.sequence_parallel=true"};

std::vector<std::string> Also(std::vector<std::string> list, const std::vector<std::string>& more) {
  list.insert(list.end(), more.begin(), more.end());
  return list;
}

std::string ErrorOf(const std::vector<std::string>& overrides) {
  const Result<TrainingJob> job = ParseTrainingJob(kTestJob, "test.yaml", overrides);
  return job.ok() ? "" : job.error().message();
}

TEST(ModelShape, LatentAttention) {
  const ModelShape m = TestJob(kLatent).model;
  EXPECT_TRUE(m.attention.is_latent());
  EXPECT_EQ(m.attention.latent.q_rank, 24);
  EXPECT_EQ(m.attention.head_dim, 12);
  EXPECT_EQ(m.attention.query_width(), 8 * 12);
  EXPECT_EQ(m.attention.value_width(), 8 * 6);
  EXPECT_FALSE(TestJob().model.attention.is_latent());
  EXPECT_EQ(TestJob().model.attention.value_width(), 64);
}

TEST(ModelShape, LatentAttentionNeedsAllItsKeys) {
  EXPECT_EQ(ErrorOf({"model.kv_lora_rank=16"}), "'model' lacks the key 'qk_nope_dim'");
  EXPECT_EQ(ErrorOf({"model.value_dim=16"}), "'value_dim' needs kv_lora_rank");
  EXPECT_EQ(ErrorOf(Also(kLatent, {"model.kv_heads=4"})),
            "with kv_lora_rank, each head has its own keys and values; remove kv_heads");
  EXPECT_EQ(ErrorOf(Also(kLatent, {"model.head_dim=12"})), "'head_dim' excludes kv_lora_rank");
  EXPECT_EQ(ErrorOf(Also(kLatent, {"model.qk_norm=true"})),
            "with kv_lora_rank, the latent widths are normalized already; remove qk_norm");
}

TEST(ModelShape, SparseAttention) {
  const std::vector<std::string> sparse =
      Also(kLatent, {"model.bias=false", "parallel.sequence_parallel=true", "model.index_heads=2",
                     "model.index_head_dim=8", "model.index_topk=16"});
  const ModelShape m = TestJob(sparse).model;
  EXPECT_TRUE(m.attention.is_sparse());
  EXPECT_EQ(m.attention.sparse.query_width(), 16);
  EXPECT_EQ(m.attention.sparse.loss, IndexLoss::kSparse);
  EXPECT_FALSE(TestJob(kLatent).model.attention.is_sparse());
  EXPECT_EQ(ErrorOf(Also(kLatent, {"model.index_topk=16"})), "'model' lacks the key 'index_heads'");
  EXPECT_EQ(ErrorOf(Also(sparse, {"model.bias=true"})),
            "'index_topk' needs bias: false: its projections of keys and values are absorbed");
  EXPECT_EQ(ErrorOf(Also(sparse, {"model.causal=false"})), "'index_topk' needs causal: true");
  EXPECT_EQ(ErrorOf(Also(sparse, {"model.window=8"})),
            "'index_topk' excludes window: the indexer picks the keys");
  EXPECT_EQ(ErrorOf(Also(sparse, {"model.index_head_dim=2"})),
            "index_head_dim 2 is less than qk_rope_dim 4, its part with positions");
}

TEST(ModelShape, APatternStatesThePartOfEachLayer) {
  const ModelShape m = TestJob({"model.layer_pattern=M*-MM-*M", "model.mamba_groups=2"}).model;
  EXPECT_EQ(m.mamba.heads, 2 * 64 / 64);
  EXPECT_EQ(m.PartsOf(0).mixer, Mixer::kMamba);
  EXPECT_FALSE(m.PartsOf(0).mlp);
  EXPECT_EQ(m.PartsOf(1).mixer, Mixer::kAttention);
  EXPECT_EQ(m.PartsOf(2).mixer, Mixer::kNone);
  EXPECT_TRUE(m.PartsOf(2).mlp);
  EXPECT_TRUE(m.HasMixer(Mixer::kMamba));
  EXPECT_FALSE(TestJob().model.HasMixer(Mixer::kMamba));
}

TEST(ModelShape, MistakesInPatterns) {
  EXPECT_EQ(ErrorOf({"model.layer_pattern=M*-MM-*"}), "layer_pattern has 7 symbols for 8 layers");
  EXPECT_EQ(ErrorOf({"model.layer_pattern=M*-MM-*G"}),
            "'G' is not a symbol of layer_pattern; valid symbols are M (Mamba-2), * (attention), - "
            "(MLP), E (experts)");
  EXPECT_EQ(ErrorOf({"model.layer_pattern=M*-MM-*E"}), "'E' in layer_pattern needs experts");
  EXPECT_EQ(ErrorOf(Also(kExperts, {"model.layer_pattern=M*-MM-*M"})),
            "experts need an 'E' in layer_pattern");
  EXPECT_EQ(ErrorOf(Also(kExperts, {"model.layer_pattern=M*-MM-*E", "model.moe_every=2",
                                    "model.mamba_groups=2"})),
            "'moe_every' excludes layer_pattern");
  EXPECT_EQ(ErrorOf({"model.layer_pattern=M*-MM-*M", "model.mamba_groups=3"}),
            "mamba_heads 2 is not divisible by mamba_groups 3");
  EXPECT_EQ(ErrorOf({"model.mamba_heads=3"}), "'mamba_heads' needs layer_pattern");
  EXPECT_EQ(ErrorOf({"model.delta_attention_every=4", "model.delta_key_heads=3",
                     "model.delta_value_heads=4"}),
            "delta_value_heads 4 is not divisible by delta_key_heads 3");
}

TEST(ModelShape, Experts) {
  const ModelShape m =
      TestJob(Also(kExperts, {"model.first_dense_layers=2", "model.moe_every=3",
                              "model.expert_ffn=32", "model.shared_expert_ffn=64"}))
          .model;
  EXPECT_EQ(m.moe.ffn, 32);
  EXPECT_EQ(m.moe.shared_ffn, 64);
  EXPECT_EQ(m.mlp.ffn, 256);
  // Of eight layers, those from 2 on with a number divisible by 3.
  EXPECT_EQ(m.expert_layers(), 2);
  EXPECT_FALSE(m.HasExperts(0));
  EXPECT_TRUE(m.HasExperts(3));
  EXPECT_FALSE(m.HasExperts(4));
  EXPECT_EQ(TestJob(kExperts).model.moe.ffn, 256);
  EXPECT_EQ(TestJob().model.expert_layers(), 0);
}

TEST(ModelShape, AGatedModelWithoutDenseLayersNeedsNoFfn) {
  const std::vector<std::string> gated = Also(kExperts, {"model.activation=swiglu"});
  EXPECT_EQ(ErrorOf(gated), "'model' lacks the key 'ffn'");
  EXPECT_EQ(TestJob(Also(gated, {"model.expert_ffn=32"})).model.mlp.ffn, 32);
  EXPECT_EQ(ErrorOf(Also(gated, {"model.expert_ffn=32", "model.first_dense_layers=1"})),
            "'model' lacks the key 'ffn'");
}

TEST(ModelShape, RejectsInvalidExperts) {
  EXPECT_EQ(ErrorOf({"model.expert_ffn=32"}), "'expert_ffn' needs experts");
  EXPECT_EQ(ErrorOf({"model.experts=4"}), "'model' lacks the key 'experts_per_token'");
  EXPECT_EQ(ErrorOf({"model.experts=4", "model.experts_per_token=5"}),
            "experts_per_token 5 is more than experts 4");
  EXPECT_EQ(ErrorOf(Also(kExperts, {"model.first_dense_layers=8"})),
            "none of the 8 layers has experts, by first_dense_layers 8 and moe_every 1");
  EXPECT_EQ(ErrorOf(Also(kExperts, {"model.first_dense_layers=9"})),
            "first_dense_layers 9 is more than layers 8");
  EXPECT_EQ(ErrorOf(Also(kExperts, {"model.moe_every=0"})),
            "'moe_every' is 0; it must be between 1 and 10000");
  EXPECT_EQ(ErrorOf(Also(kExperts, {"model.layers=2000000000"})),
            "'layers' is 2000000000; it must be between 1 and 10000");
  EXPECT_EQ(ErrorOf(Also(kExperts, {"model.shared_expert_gate=true"})),
            "'shared_expert_gate' needs shared_expert_ffn");
}

TEST(ModelShape, Windows) {
  const ModelShape all = TestJob({"model.window=16"}).model;
  EXPECT_TRUE(all.attention.HasWindow(0) && all.attention.HasWindow(5));
  const ModelShape some = TestJob({"model.window=16", "model.full_attention_every=3"}).model;
  EXPECT_TRUE(some.attention.HasWindow(0) && some.attention.HasWindow(1) &&
              some.attention.HasWindow(3));
  EXPECT_FALSE(some.attention.HasWindow(2));
  EXPECT_FALSE(TestJob().model.attention.HasWindow(0));
  EXPECT_EQ(ErrorOf({"model.full_attention_every=2"}), "'full_attention_every' needs window");
  const ModelShape late =
      TestJob({"model.window=16", "model.full_attention_first=5", "model.full_attention_every=3"})
          .model;
  EXPECT_FALSE(late.attention.HasWindow(4) || late.attention.HasWindow(5));
  EXPECT_TRUE(late.attention.HasWindow(6) && late.attention.HasWindow(7));
  EXPECT_EQ(ErrorOf({"model.window=16", "model.full_attention_first=9"}),
            "full_attention_first 9 is more than layers 8");
}

TEST(ModelShape, ChunksAreWindowsThatDoNotSlide) {
  const AttentionLayerShape sliding = TestJob({"model.window=16"}).model.attention;
  const AttentionLayerShape chunked =
      TestJob({"model.window=16", "model.window_kind=chunked"}).model.attention;
  EXPECT_EQ(sliding.KeysSeen(64, /*windowed=*/true, /*halved=*/true), 16 - 16.0 * 16 / (2 * 64));
  EXPECT_EQ(sliding.KeysSeen(64, true, false), 16);
  EXPECT_EQ(sliding.KeysSeen(64, false, true), 32);
  EXPECT_EQ(chunked.KeysSeen(64, true, true), 8) << "four chunks of 16, half of each";
  EXPECT_EQ(chunked.KeysSeen(64, true, false), 16);
  EXPECT_EQ(chunked.KeysSeen(24, true, true), (16.0 * 16 + 8 * 8) / 24 / 2) << "the last is short";
  EXPECT_EQ(chunked.KeysSeen(16, true, true), 8) << "one chunk is a causal sequence";
  EXPECT_EQ(ErrorOf({"model.window_kind=chunked"}), "'window_kind' needs window");
}

TEST(ModelShape, LayersWithoutPositions) {
  const ModelShape m = TestJob({"model.positions=rotary", "model.no_positions_every=4"}).model;
  EXPECT_TRUE(m.PartsOf(0).rotates && m.PartsOf(2).rotates && m.PartsOf(4).rotates);
  EXPECT_FALSE(m.PartsOf(3).rotates || m.PartsOf(7).rotates);
  EXPECT_FALSE(TestJob().model.PartsOf(0).rotates) << "learned positions";
  EXPECT_EQ(ErrorOf({"model.no_positions_every=4"}),
            "'no_positions_every' needs positions: rotary or yarn");
}

TEST(ModelShape, ExpertsInEverySecondLayerFromTheSecond) {
  const ModelShape m = TestJob(Also(kExperts, {"model.moe_every=2", "model.moe_offset=1"})).model;
  EXPECT_FALSE(m.HasExperts(0) || m.HasExperts(2));
  EXPECT_TRUE(m.HasExperts(1) && m.HasExperts(7));
  EXPECT_EQ(ErrorOf(Also(kExperts, {"model.moe_offset=1"})),
            "moe_offset 1 must be below moe_every 1");
}

TEST(ModelShape, LayersWithoutANormBeforeThemHaveOneBehindThem) {
  EXPECT_EQ(ErrorOf({"model.pre_norms=false", "model.post_norms=true"}), "");
  EXPECT_EQ(ErrorOf({"model.pre_norms=false"}),
            "'pre_norms: false' needs post_norms: true; a layer has one of them");
  EXPECT_EQ(ErrorOf(Also(kExperts, {"model.pre_norms=false", "model.post_norms=true"})),
            "'pre_norms: false' is not generated with 'experts'");
}

TEST(ModelShape, MlpsOfAPatternMayDifferInWidth) {
  const std::vector<std::string> pattern = {"model.layer_pattern=-*-*--*-"};
  const ModelShape m = TestJob(Also(pattern, {"model.pattern_ffn=256*2,64*3"})).model;
  EXPECT_EQ(m.PartsOf(0).ffn, 256);
  EXPECT_EQ(m.PartsOf(2).ffn, 256);
  EXPECT_EQ(m.PartsOf(7).ffn, 64);
  EXPECT_EQ(m.PartsOf(1).ffn, 0);
  EXPECT_EQ(m.mlp.ffn, 256) << "the widest, where no ffn is given";
  const auto error = [&](const std::string& widths) {
    return ErrorOf(Also(pattern, {"model.pattern_ffn=" + widths}));
  };
  EXPECT_EQ(error("256*2"), "pattern_ffn has 2 widths for the 5 '-' of layer_pattern");
  EXPECT_EQ(error("256*9999999999"), "pattern_ffn has more widths than the 5 '-' of layer_pattern");
  EXPECT_EQ(error("256*2,,64"),
            "'' is not a width between 1 and 16777216, or one with *n behind it");
  EXPECT_EQ(error("256*0,64"),
            "'256*0' is not a width between 1 and 16777216, or one with *n behind it");
  EXPECT_EQ(ErrorOf({"model.pattern_ffn=256"}), "'pattern_ffn' needs layer_pattern");
}

TEST(ModelShape, Activations) {
  EXPECT_EQ(TestJob({"model.activation=squared-relu"}).model.mlp.activation,
            Activation::kSquaredRelu);
  EXPECT_FALSE(TestJob({"model.activation=relu"}).model.mlp.gated());
  EXPECT_TRUE(TestJob({"model.activation=geglu", "model.ffn=96"}).model.mlp.gated());
  EXPECT_EQ(
      ErrorOf({"model.activation=geglue"}),
      "'geglue' is not a valid activation; did you mean 'geglu'?; valid values are gelu, swiglu, "
      "geglu, squared-relu, relu");
}

TEST(ModelShape, PatchesHaveNoEmbeddingToTie) {
  EXPECT_EQ(ErrorOf({"model.patch_features=768"}), "'patch_features' needs tied_embedding: false");
  EXPECT_EQ(ErrorOf({"model.patch_features=768", "model.tied_embedding=false"}), "");
}

}  // namespace
}  // namespace drydock
