// "Do low-rank adapters train alone, beside frozen layers, with Megatron-Bridge's products and
// collectives?"
#include <gmock/gmock.h>

#include <map>

#include "workload-gen/memory/rank_memory.h"
#include "workload-gen/testing/tensor_overlap_testing.h"
#include "workload-gen/work/model_size.h"

namespace drydock {
namespace {

// Of a layer of micro-batch 0 in a phase: products "name pass" and collectives "name bytes".
std::multiset<std::string> WorkOf(const Workload& w, int layer, Phase phase) {
  std::multiset<std::string> found;
  for (const Op& op : OnlyProgram(w).ops) {
    if (op.layer != layer || op.microbatch != 0 || op.phase != phase) continue;
    if (op.kind == OpKind::kCompute) {
      for (const uint32_t s : w.blocks[op.work].submodules) {
        const Submodule& m = w.submodules[s];
        if (m.Is<submodule::Linear>()) {
          found.insert(m.name + " " + PassNames()[static_cast<size_t>(m.pass)]);
        }
      }
    } else {
      const CommCall& call = w.calls[op.work];
      found.insert(CollectiveTypeNames()[static_cast<size_t>(call.collective)] + " " +
                   std::to_string(call.bytes().count()));
    }
  }
  return found;
}

Overrides Lora(Overrides more) {
  more.insert(more.begin(), {"model.lora_rank=8", "model.dropout=0", "model.bias=false"});
  return Split(more);
}

TEST(Adapters, OnlyTheyHaveWeightGradients) {
  const Workload w = TestWorkload(Lora({"model.lora_targets=[linear_qkv,linear_fc2]"}));
  int trained = 0;
  for (const Submodule& s : w.submodules) {
    if (s.pass != Pass::kBackwardWeight) continue;
    EXPECT_THAT(s.name, testing::HasSubstr(".adapter-"));
    ++trained;
  }
  EXPECT_EQ(trained, 4);
  // The table of the embedding is frozen too: no gradient passes the first layer.
  for (const Submodule& s : w.submodules) {
    EXPECT_FALSE(s.Is<submodule::Embedding>() && s.pass == Pass::kBackward);
  }
}

// t = 64 rows, h = 64, four ranks, 2 B. A frozen column-parallel layer gathers no input in
// backward.
TEST(Adapters, CollectivesOfBothKindsOfLayers) {
  constexpr int kWhole = 64 * 64 * 2, kNarrow = 64 * 8 * 2;
  const std::string whole = std::to_string(kWhole), narrow = std::to_string(kNarrow);
  const auto added = [&](const std::string& target, Phase phase, const Overrides& more) {
    Overrides with = {"model.lora_targets=[" + target + "]"};
    with.insert(with.end(), more.begin(), more.end());
    const auto found = WorkOf(TestWorkload(Lora(with)), 3, phase);
    std::multiset<std::string> collectives;
    for (const std::string& one : found) {
      if (one.find('.') == std::string::npos) collectives.insert(one);
    }
    return collectives;
  };
  using Set = std::multiset<std::string>;
  const Set forward = {"all-gather " + whole, "all-gather " + whole, "reduce-scatter " + whole,
                       "reduce-scatter " + whole};
  const Set backward = forward;  // gathers of two output gradients, two sums of input gradients
  const auto plus = [](Set set, const Set& more) {
    set.insert(more.begin(), more.end());
    return set;
  };
  EXPECT_EQ(added("linear_qkv", Phase::kForward, {}), plus(forward, {"all-gather " + narrow}));
  EXPECT_EQ(added("linear_qkv", Phase::kBackward, {}), plus(backward, {"all-reduce " + narrow}));
  EXPECT_EQ(added("linear_proj", Phase::kForward, {}),
            plus(forward, {"all-reduce " + narrow, "all-gather " + whole}));
  EXPECT_EQ(added("linear_proj", Phase::kBackward, {}),
            plus(backward, {"all-reduce " + narrow, "all-gather " + whole}));
  const Overrides exchanged = {"model.lora_all_to_all=true"};
  const std::string part = "all-to-all " + std::to_string(kWhole / kRanks);
  EXPECT_EQ(added("linear_proj", Phase::kForward, exchanged),
            plus(forward, {"all-reduce " + narrow, part}));
  EXPECT_EQ(added("linear_proj", Phase::kBackward, exchanged),
            plus(backward, {"all-reduce " + narrow, part}));
}

TEST(Adapters, ProductsOfALayer) {
  const Workload w = TestWorkload(Lora({"model.lora_targets=[linear_proj]"}));
  const auto backward = WorkOf(w, 3, Phase::kBackward);
  for (const char* product :
       {"attention.qkv dgrad", "attention.proj dgrad", "attention.proj.adapter-in dgrad",
        "attention.proj.adapter-in wgrad", "attention.proj.adapter-out dgrad",
        "attention.proj.adapter-out wgrad", "mlp.fc1 dgrad", "mlp.fc2 dgrad"}) {
    EXPECT_EQ(backward.count(product), 1u) << product;
  }
}

int64_t Part(const Workload& w, const std::string& name) {
  for (const MemoryPart& part : w.memory[0]) {
    if (part.name == name) return part.bytes.count();
  }
  ADD_FAILURE() << name;
  return 0;
}

// Gradients and optimizer states belong to adapters alone; frozen products save no input.
TEST(Adapters, Memory) {
  const Overrides targets = {"model.lora_targets=[linear_qkv]", "training.gradient_type=fp32"};
  const Workload w = TestWorkload(Lora(targets));
  const int64_t trained = 8 * 8 * (64 + 3 * 64) / kRanks;  // 8 layers of rank 8
  EXPECT_EQ(Part(w, "gradients"), 4 * trained);
  EXPECT_EQ(Part(w, "optimizer states"), 12 * trained);
  const Workload all = TestWorkload(Split({"model.dropout=0", "model.bias=false"}));
  EXPECT_EQ(Part(w, "parameters"), Part(all, "parameters") + 2 * trained);
  EXPECT_LT(Part(w, "activations"), Part(all, "activations"));
}

TEST(Adapters, ParametersAndFlops) {
  const TrainingJob lora = TestJob({"model.lora_rank=8"}), plain = TestJob();
  const int64_t adapters = 8 * 8 * (64 + 192 + 64 + 64 + 64 + 256 + 256 + 64);
  EXPECT_EQ(ParameterCount(lora.model), ParameterCount(plain.model) + adapters);
  EXPECT_EQ(TrainedParameterCount(lora.model), adapters);
  EXPECT_EQ(TrainedParameterCount(plain.model), ParameterCount(plain.model));
  const double tokens = 16 * 32;
  const double weights = 8.0 * 12 * 64 * 64 + 64 * 1000;
  EXPECT_DOUBLE_EQ(FlopsOfIteration(lora).model,
                   FlopsOfIteration(plain).model + 2 * tokens * (3.0 * adapters - weights));
}

// Attention stays inside samples, of which a whole number fills the sequence.
TEST(Adapters, PackedSamples) {
  const TrainingJob job = TestJob({"model.sample_length=10"});
  EXPECT_EQ(job.model.samples(), 3);
  EXPECT_EQ(job.model.attended(), 10);
  const Workload w = TestWorkload({"model.sample_length=8"});
  bool found = false;
  for (const Submodule& s : w.submodules) {
    const auto* attention = s.As<submodule::Attention>();
    if (attention == nullptr) continue;
    EXPECT_EQ(attention->batch, 2 * 4);
    EXPECT_EQ(attention->sequence, 8);
    found = true;
  }
  EXPECT_TRUE(found);
}

std::string ErrorOf(const Overrides& overrides) {
  const Result<TrainingJob> job = ParseTrainingJob(kTestJob, "test.yaml", overrides);
  return job.ok() ? "" : job.error().message();
}

TEST(Adapters, Mistakes) {
  EXPECT_EQ(ErrorOf({"model.lora_rank=7"}), "lora_rank 7 is not divisible by tensor 2");
  EXPECT_EQ(
      ErrorOf({"model.lora_rank=8", "model.experts=4", "model.experts_per_token=2"}),
      "adapters are not generated with 'experts'; remove 'lora_rank' to train all parameters");
  EXPECT_EQ(ErrorOf({"model.lora_rank=8", "model.lora_targets=[linear_kqv]"}),
            "'linear_kqv' is not a layer with an adapter; did you mean 'linear_qkv'?; valid values "
            "are linear_qkv, linear_proj, linear_fc1, linear_fc2");
  EXPECT_EQ(ErrorOf({"model.lora_rank=8", "model.lora_all_to_all=true"}),
            "'lora_all_to_all' needs parallel.sequence_parallel");
  EXPECT_EQ(ErrorOf({"model.sample_length=64"}), "sample_length 64 is more than sequence 32");
}

}  // namespace
}  // namespace drydock
