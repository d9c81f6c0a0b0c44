// Jobs with experts, context parallelism and uneven stages, of random layouts: all their programs
// end, and their parameters match the closed form.
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "workload-gen/layout/process_groups.h"
#include "workload-gen/routing/token_routing.h"
#include "workload-gen/testing/job_testing.h"
#include "workload-gen/testing/structure_testing.h"
#include "workload-gen/work/model_size.h"
#include "workload-gen/work/transformer.h"

namespace drydock {
namespace {

using Overrides = std::vector<std::string>;

struct Draw {
  Overrides overrides;
  int hosts = 1;
  static constexpr int kGpus = 8;
};

class Drawer {
 public:
  explicit Drawer(int seed) : random_(static_cast<uint32_t>(seed)) {}

  Draw Next() {
    Draw draw;
    const int tensor = Pick({1, 2, 4}), context = Pick({1, 1, 2, 4});
    const int pipeline = Pick({1, 2, 4}), chunks = pipeline > 1 ? Pick({1, 2}) : 1;
    const int replica = tensor * context * pipeline;
    int data = Pick({1, 2, 4});
    while (replica * data % Draw::kGpus != 0) data *= 2;
    draw.hosts = replica * data / Draw::kGpus;
    const int microbatches = chunks > 1 ? pipeline * Pick({1, 2}) : Pick({1, 2, 5});
    const bool ends = Coin() && pipeline > 1;
    const bool optimizer = Coin(), reduce = Coin();
    draw.overrides = {Set("parallel.tensor", tensor),
                      Set("parallel.context", context),
                      Set("parallel.pipeline", pipeline),
                      Set("parallel.virtual_pipeline", chunks),
                      Set("parallel.data", data),
                      Flag("parallel.sequence_parallel", tensor > 1),
                      Flag("parallel.account_for_embedding", ends),
                      Flag("parallel.account_for_loss", ends),
                      Set("model.layers", pipeline * chunks * Pick({2, 3}) - (ends ? 2 : 0)),
                      Set("training.micro_batch", 2),
                      Set("training.global_batch", 2 * data * microbatches),
                      Flag("training.distributed_optimizer", optimizer),
                      Flag("overlap.grad_reduce", reduce),
                      Flag("overlap.param_gather", optimizer && reduce && Coin()),
                      Flag("overlap.p2p", Coin()),
                      Set("training.bucket_elements", 20000),
                      "model.bias=false",
                      "model.dropout=0"};
    const bool fp8 = Coin();
    Add(&draw, std::string("training.precision=") + (fp8 ? "fp8" : "bf16"));
    delayed_ = fp8 && Coin();
    if (fp8 && !delayed_) Add(&draw, "training.fp8_recipe=tensorwise");
    const char* types[] = {"p2p", "a2a", "allgather"};
    const bool exchange = context * tensor <= 8;
    Add(&draw, std::string("parallel.context_type=") + types[Pick({0, exchange ? 1 : 0, 2})]);
    AddAttention(&draw);
    AddExperts(&draw, tensor, replica * data / pipeline);
    AddRecompute(&draw);
    if (Coin()) Add(&draw, "model.positions=rotary");
    if (draw.overrides.back() == "model.positions=rotary")
      Add(&draw, Set("model.mtp_layers", Pick({0, 1, 2})));
    return draw;
  }

 private:
  int Pick(std::initializer_list<int> values) {
    return *(values.begin() + random_() % values.size());
  }
  bool Coin() { return random_() % 2 == 0; }
  static void Add(Draw* draw, const std::string& line) { draw->overrides.push_back(line); }

  void AddAttention(Draw* draw) {
    latent_ = Coin();
    if (!latent_) return Add(draw, Flag("model.qk_norm", Coin()));
    for (const char* line : {"model.kv_lora_rank=16", "model.qk_nope_dim=8", "model.qk_rope_dim=4",
                             "model.value_dim=8", "model.positions=rotary"}) {
      Add(draw, line);
    }
    if (Coin()) Add(draw, "model.q_lora_rank=32");
  }

  // `ranks`: the number of ranks of a stage.
  void AddExperts(Draw* draw, int tensor, int ranks) {
    const int split = Coin() ? tensor : 1;
    int expert = Pick({1, 2, 4, 8});
    while (ranks % (expert * split) != 0) expert /= 2;
    const char* dispatchers[] = {"alltoall", "allgather", "flex"};
    const int dispatcher = Pick({0, 0, 1, 2}), first = Pick({0, 1});
    for (const std::string& line :
         {Set("model.experts", 16), Set("model.experts_per_token", Pick({1, 2, 3})),
          Set("model.expert_ffn", 32), Set("model.first_dense_layers", first),
          Set("model.moe_every", first == 0 ? Pick({1, 2}) : 1), Flag("model.router_bias", Coin()),
          Set("parallel.expert", expert), Set("parallel.expert_tensor", split),
          Flag("training.moe_grouped_gemm", Coin()), Flag("training.moe_aux_loss", Coin()),
          std::string("training.moe_dispatcher=") + dispatchers[dispatcher]}) {
      Add(draw, line);
    }
    shared_ = Coin();
    if (shared_) Add(draw, "model.shared_expert_ffn=64");
    overlaps_ = shared_ && Coin();
    if (shared_) Add(draw, Flag("overlap.shared_expert", overlaps_));
    if (dispatcher != 0) return;
    if (expert > 1 && Coin()) Add(draw, "training.moe_imbalance=1.5");
    if (Coin()) Add(draw, "training.moe_capacity_factor=1.25");
    if (draw->overrides.back().ends_with("1.25")) {
      Add(draw, Flag("training.moe_pad_to_capacity", Coin()));
    }
  }

  void AddRecompute(Draw* draw) {
    const char* kinds[] = {"none", "selective", "full"};
    const char* kind = kinds[Pick({0, 1, 2})];
    Add(draw, std::string("training.recompute=") + kind);
    if (kind != kinds[1]) return;
    const char* modules[] = {"[core_attn", "[layernorm, moe_act", "[mlp, moe"};
    std::string list = modules[Pick({0, delayed_ ? 2 : 1, 2})];
    if (shared_ && !overlaps_ && Coin()) list += ", shared_experts";
    if (latent_ && Coin()) list += ", mla_up_proj";
    Add(draw, "training.recompute_modules=" + list + "]");
  }

  std::mt19937 random_;
  // Of the current job.
  bool shared_ = false, latent_ = false, overlaps_ = false, delayed_ = false;
};

TEST(WorkloadExperts, HoldsForRandomLayouts) {
  Drawer drawer(6);
  for (int round = 0; round < 200 && !testing::Test::HasFailure(); ++round) {
    const Draw draw = drawer.Next();
    SCOPED_TRACE(testing::PrintToString(draw.overrides));
    EXPECT_EQ(StructureMistake(TestWorkload(draw.overrides, draw.hosts, Draw::kGpus)), "");
  }
}

// The same jobs with overlap.expert, if its rules allow it.
TEST(WorkloadExperts, AnyJobWithCombinedPassesRuns) {
  Drawer drawer(23);
  int run = 0;
  for (int round = 0; round < 600 && run < 80 && !testing::Test::HasFailure(); ++round) {
    Draw draw = drawer.Next();
    draw.overrides.insert(draw.overrides.end(),
                          {"overlap.expert=true", "overlap.shared_expert=false",
                           Flag("overlap.delay_weight_gradients", round % 2 == 0)});
    if (!ParseTrainingJob(kTestJob, "test.yaml", draw.overrides).ok()) continue;
    SCOPED_TRACE(testing::PrintToString(draw.overrides));
    EXPECT_EQ(StructureMistake(TestWorkload(draw.overrides, draw.hosts, Draw::kGpus)), "");
    ++run;
  }
  EXPECT_EQ(run, 80);
}

// All ranks together hold each parameter of the model once for each rank that shares it.
TEST(WorkloadExperts, RankParametersAddUpToTheModel) {
  Drawer drawer(17);
  for (int round = 0; round < 100; ++round) {
    Draw draw = drawer.Next();
    draw.overrides.insert(draw.overrides.end(), {"model.vocab=4096", "model.tied_embedding=false"});
    SCOPED_TRACE(testing::PrintToString(draw.overrides));
    const TrainingJob job = TestJob(draw.overrides);
    const ParallelLayout layout = TestLayout(job, draw.hosts, Draw::kGpus);
    double sum = 0;
    for (int stage = 0; stage < layout.pipeline; ++stage) {
      for (int chunk = 0; chunk < layout.chunks; ++chunk) {
        for (const Parameter& p : ChunkParameters(job, layout, stage, chunk)) {
          // Megatron marks a replicated parameter only where sequence parallelism splits rows.
          const bool again = p.kind == ParameterKind::kWordEmbedding && stage > 0;
          if (again) continue;  // of the MTP layers
          const bool whole = p.sequence_parallel || p.kind == ParameterKind::kPositionEmbedding;
          const bool expert =
              p.kind >= ParameterKind::kExpertFc1Weight && p.kind <= ParameterKind::kExpertFc2Bias;
          const int holders =
              expert ? layout.expert_data() : layout.gradient_ranks() * (whole ? layout.tensor : 1);
          sum += static_cast<double>(p.elements) * (layout.world() / layout.pipeline) / holders;
        }
      }
    }
    // The router's bias has no gradient, so the list of parameters omits it.
    const ModelShape& m = job.model;
    const int routers = m.expert_layers() + (m.HasExperts(m.layers - 1) ? m.mtp_layers : 0);
    const int64_t biases = m.moe.router_bias ? int64_t{routers} * m.moe.experts : 0;
    EXPECT_EQ(sum + static_cast<double>(biases), static_cast<double>(ParameterCount(job.model)));
  }
}

}  // namespace
}  // namespace drydock
