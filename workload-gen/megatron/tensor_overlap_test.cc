// "Does overlap.tensor run the same GEMMs and move the same bytes as without it, in parts ordered
// as in Transformer Engine?"
#include <gmock/gmock.h>

#include <map>

#include "core/model/calls/grouped_call.h"
#include "core/schema/testing/submodule_testing.h"
#include "workload-gen/job/layout_rules.h"
#include "workload-gen/layout/process_groups.h"
#include "workload-gen/megatron/megatron_scope.h"
#include "workload-gen/program/program_builder.h"
#include "workload-gen/testing/structure_testing.h"
#include "workload-gen/testing/tensor_overlap_testing.h"

namespace drydock {
namespace {

using testing::ElementsAre;
bool IsUserBuffers(const CommCall& call) {
  return call.buffers == BufferKind::kUserBuffers ||
         (!call.parts.empty() && call.parts[0].buffers == BufferKind::kUserBuffers);
}

// Counts each linear submodule, and each kind of call that does not use NCCL, of a layer of
// micro-batch 0 in a phase.
std::map<std::string, int> WorkOfLayer(const Workload& w, Phase phase) {
  std::map<std::string, int> counts;
  for (const Op& op : OnlyProgram(w).ops) {
    if (op.layer != 3 || op.microbatch != 0 || op.phase != phase) continue;
    if (op.kind == OpKind::kCompute) {
      for (const uint32_t s : w.blocks[op.work].submodules) {
        const Submodule& m = w.submodules[s];
        if (!m.Is<submodule::Linear>()) continue;
        ++counts[m.name + " " + PassNames()[static_cast<size_t>(m.pass)]];
      }
    } else if (IsUserBuffers(w.calls[op.work])) {
      ++counts[CollectiveTypeNames()[static_cast<size_t>(w.calls[op.work].collective)]];
    }
  }
  return counts;
}

// Sums the FLOPs except those of quantization, which is a separate submodule only before a GEMM in
// parts.
double Flops(const Workload& w) {
  double flops = 0;
  for (const Op& op : OnlyProgram(w).ops) {
    if (op.kind != OpKind::kCompute) continue;
    for (const uint32_t index : w.blocks[op.work].submodules) {
      const Submodule& s = w.submodules[index];
      if (!s.Is<submodule::Quantize>()) flops += s.flops;
    }
  }
  return flops;
}

// Returns the bytes that a rank sends in a role, by rings or directly: n - 1 parts of n.
int64_t BytesSent(const Workload& w, Role role) {
  int64_t sum = 0;
  for (const Op& op : OnlyProgram(w).ops) {
    if (op.kind != OpKind::kCollective || op.role != role) continue;
    const CommCall& call = w.calls[op.work];
    const int64_t bytes = call.bytes().count(), n = call.group_size;
    if (call.collective == CollectiveType::kGrouped) {
      sum += bytes / n;  // a step of the ring
    } else {
      sum += bytes * (n - 1) / n * (call.collective == CollectiveType::kAllReduce ? 2 : 1);
    }
  }
  return sum;
}

TEST(TensorOverlap, GemmsAndCallsOfALayer) {
  const Workload w = Overlapped();
  EXPECT_THAT(
      WorkOfLayer(w, Phase::kForward),
      ElementsAre(std::pair("attention.proj fwd", 4), std::pair("attention.qkv fwd", kRanks),
                  std::pair("grouped", 2 * (kRanks - 1)), std::pair("mlp.fc1 fwd", kRanks),
                  std::pair("mlp.fc2 fwd", 4), std::pair("reduce-scatter", 2 * 4)));
  EXPECT_THAT(WorkOfLayer(w, Phase::kBackward),
              ElementsAre(std::pair("all-gather", 2), std::pair("attention.proj dgrad", kRanks),
                          std::pair("attention.proj wgrad", 1), std::pair("attention.qkv dgrad", 1),
                          std::pair("attention.qkv wgrad", 1),
                          std::pair("grouped", 2 * (kRanks - 1)), std::pair("mlp.fc1 dgrad", 1),
                          std::pair("mlp.fc1 wgrad", 1), std::pair("mlp.fc2 dgrad", kRanks),
                          std::pair("mlp.fc2 wgrad", 1), std::pair("reduce-scatter", 2)));
}

// Of t = 64 rows, h = 64: a part has the rows of a rank, or a quarter of the columns.
TEST(TensorOverlap, ShapesOfParts) {
  std::map<std::string, std::vector<int64_t>> least;
  for (const Submodule& s : Overlapped().submodules) {
    const auto* linear = s.As<submodule::Linear>();
    if (linear == nullptr || s.pass != Pass::kForward) continue;
    least[s.name] = {linear->rows, linear->n, linear->k};  // the part comes after the whole
  }
  EXPECT_THAT(least["attention.qkv"], ElementsAre(64 / kRanks, 3 * 64 / kRanks, 64));
  EXPECT_THAT(least["mlp.fc1"], ElementsAre(64 / kRanks, 256 / kRanks, 64));
  EXPECT_THAT(least["attention.proj"], ElementsAre(64, 64 / 4, 64 / kRanks));
  EXPECT_THAT(least["mlp.fc2"], ElementsAre(64, 64 / 4, 256 / kRanks));
}

TEST(TensorOverlap, TheSameWorkAsWithout) {
  for (const char* more :
       {"training.recompute=none", "training.recompute=full", "overlap.tensor_gather=false",
        "overlap.tensor_scatter=false", "training.precision=fp8"}) {
    const Workload apart = WithoutOverlap({more}), overlapped = Overlapped({more});
    EXPECT_DOUBLE_EQ(Flops(overlapped), Flops(apart)) << more;
    EXPECT_EQ(BytesSent(overlapped, kTensorRole), BytesSent(apart, kTensorRole)) << more;
    EXPECT_EQ(BytesSent(overlapped, kDataRole), BytesSent(apart, kDataRole)) << more;
    EXPECT_EQ(overlapped.totals.hardware_flops, apart.totals.hardware_flops) << more;
    for (size_t part = 0; part < apart.memory[0].size(); ++part) {
      if (apart.memory[0][part].name != "activations") continue;
      EXPECT_EQ(overlapped.memory[0][part].bytes, apart.memory[0][part].bytes) << more;
    }
  }
}

TEST(TensorOverlap, EveryRankEnds) {
  for (const char* more :
       {"overlap.p2p=false", "training.recompute=selective", "training.cuda_graphs=layers",
        "parallel.pipeline=2", "overlap.tensor_backward=false", "training.precision=fp8",
        "overlap.tensor_scatter_fc2=ring"}) {
    SCOPED_TRACE(more);
    EXPECT_EQ(StructureMistake(Overlapped({more})), "");
  }
}

// The ops of layer 3's first GEMM in forward, and of the ring before it.
struct Ring {
  std::vector<uint32_t> gemms, steps;
};
Ring FirstRing(const Workload& w) {
  Ring ring;
  for (uint32_t id = 0; id < OnlyProgram(w).ops.size(); ++id) {
    const Op& op = OnlyProgram(w).ops[id];
    if (op.layer != 3 || op.microbatch != 0 || op.phase != Phase::kForward) continue;
    const bool gemm = op.kind == OpKind::kCompute &&
                      w.submodules[w.blocks[op.work].submodules[0]].name == "attention.qkv";
    if (gemm) ring.gemms.push_back(id);
    if (op.kind == OpKind::kCollective && ring.steps.size() < kRanks - 1) ring.steps.push_back(id);
  }
  return ring;
}

std::vector<uint32_t> Dependencies(const Workload& w, uint32_t op) {
  const auto all = OnlyProgram(w).dependencies(op);
  return {all.begin(), all.end()};
}

// Each step follows the previous step on its stream; the first waits for the op before the layer.
// Each GEMM waits for its rows. No step waits for a GEMM.
TEST(TensorOverlap, RingStepsWaitForNoGemm) {
  const Workload w = Overlapped();
  const Ring ring = FirstRing(w);
  ASSERT_EQ(ring.gemms.size(), static_cast<size_t>(kRanks));
  ASSERT_EQ(ring.steps.size(), static_cast<size_t>(kRanks - 1));
  EXPECT_THAT(Dependencies(w, ring.gemms[0]), ElementsAre());
  EXPECT_THAT(Dependencies(w, ring.steps[0]), ElementsAre(ring.gemms[0] - 1));
  EXPECT_EQ(OnlyProgram(w).ops[ring.gemms[0] - 1].kind, OpKind::kCompute) << "the norm before it";
  for (size_t i = 1; i < kRanks; ++i) {
    EXPECT_THAT(Dependencies(w, ring.gemms[i]), ElementsAre(ring.steps[i - 1]));
    EXPECT_EQ(OnlyProgram(w).ops[ring.steps[i - 1]].stream, kTensorStream);
    EXPECT_EQ(OnlyProgram(w).ops[ring.gemms[i]].graph, GraphPart::kLoop);
  }
  for (size_t i = 1; i < ring.steps.size(); ++i) {
    EXPECT_THAT(Dependencies(w, ring.steps[i]), ElementsAre());
  }
  EXPECT_EQ(OnlyProgram(w).ops[ring.gemms[0]].graph, GraphPart::kNone) << "Python launches it";
}

// Each reduce-scatter waits only for its GEMM. The next op waits for the last reduce-scatter.
TEST(TensorOverlap, ReduceScattersOverlapTheNextGemm) {
  const Workload w = Overlapped();
  std::vector<uint32_t> gemms, scatters;
  uint32_t next = 0;
  for (uint32_t id = 0; id < OnlyProgram(w).ops.size() && next == 0; ++id) {
    const Op& op = OnlyProgram(w).ops[id];
    if (op.layer != 3 || op.microbatch != 0 || op.phase != Phase::kForward) continue;
    const bool compute = op.kind == OpKind::kCompute;
    if (compute && w.submodules[w.blocks[op.work].submodules[0]].name == "attention.proj") {
      gemms.push_back(id);
    } else if (compute && !gemms.empty()) {
      next = id;
    } else if (!compute && !gemms.empty()) {
      scatters.push_back(id);
    }
  }
  ASSERT_EQ(gemms.size(), 4u);
  ASSERT_EQ(scatters.size(), 4u);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_THAT(Dependencies(w, scatters[i]), ElementsAre(gemms[i]));
    EXPECT_THAT(Dependencies(w, gemms[i]), ElementsAre());
  }
  EXPECT_THAT(Dependencies(w, next), ElementsAre(scatters[3]));
}

TEST(TensorOverlap, EachFormCanBeTurnedOff) {
  const auto counts = [](const char* off, Phase phase) {
    return WorkOfLayer(Overlapped({std::string("overlap.") + off + "=false"}), phase);
  };
  EXPECT_EQ(counts("tensor_gather", Phase::kForward).count("grouped"), 0u);
  EXPECT_EQ(counts("tensor_gather", Phase::kForward)["mlp.fc1 fwd"], 1);
  EXPECT_EQ(counts("tensor_gather", Phase::kBackward)["mlp.fc2 dgrad"], 1);
  EXPECT_EQ(counts("tensor_scatter", Phase::kForward).count("reduce-scatter"), 0u);
  EXPECT_EQ(counts("tensor_scatter", Phase::kForward)["mlp.fc2 fwd"], 1);
  EXPECT_EQ(counts("tensor_bulk_dgrad", Phase::kBackward).count("all-gather"), 0u);
  EXPECT_EQ(counts("tensor_bulk_wgrad", Phase::kBackward).count("reduce-scatter"), 0u);
}

// Each part of fc2's rows is sent to the rank that owns these rows, one rank further each time; the
// last part is this rank's own. The rank then sums the parts that it received.
TEST(TensorOverlap, PartsOfTheRowsGoToTheirRanks) {
  const Workload w = Overlapped({"overlap.tensor_scatter_fc2=ring"});
  std::vector<int> peers;
  std::vector<uint32_t> gemms, sends;
  uint32_t sum = 0;
  for (uint32_t id = 0; id < OnlyProgram(w).ops.size(); ++id) {
    const Op& op = OnlyProgram(w).ops[id];
    if (op.layer != 3 || op.microbatch != 0 || op.phase != Phase::kForward) continue;
    if (op.kind != OpKind::kCompute) {
      if (gemms.empty()) continue;
      sends.push_back(id);
      const CommCall& call = w.calls[op.work];
      ASSERT_EQ(call.parts.size(), static_cast<size_t>(kRanks));
      peers.push_back(call.parts[0].peer);
      EXPECT_EQ(call.parts[0].buffers, BufferKind::kUserBuffers);
      EXPECT_EQ(call.parts[0].bytes(), Bytes(64 / kRanks * 64 * 2));
      continue;
    }
    const Submodule& first = w.submodules[w.blocks[op.work].submodules[0]];
    if (first.name == "mlp.fc2") {
      EXPECT_EQ(FieldOf(first, "rows"), 64 / kRanks);
      gemms.push_back(id);
    }
    if (first.name == "mlp.fc2.sum") {
      sum = id;
      EXPECT_EQ(FieldOf(first, "rows"), 64 / kRanks);
      EXPECT_EQ(first.bytes.count(), 64 / kRanks * 64 * (kRanks + 1) * 2)
          << "each part is read once";
    }
  }
  EXPECT_THAT(peers, ElementsAre(1, 2, 3));
  ASSERT_EQ(gemms.size(), static_cast<size_t>(kRanks));
  ASSERT_EQ(sends.size(), static_cast<size_t>(kRanks - 1));
  for (size_t i = 0; i < sends.size(); ++i) {
    EXPECT_THAT(Dependencies(w, sends[i]), ElementsAre(gemms[i]));
    EXPECT_THAT(Dependencies(w, gemms[i]), ElementsAre());
  }
  EXPECT_THAT(Dependencies(w, sum), ElementsAre(sends.back()));
  EXPECT_EQ(OnlyProgram(w).ops[sum].graph, GraphPart::kLoop);
}

// Megatron names four buffers; other GEMMs keep NCCL's calls.
TEST(TensorOverlap, GemmsOfLatentAttentionAndExpertsUseNccl) {
  const Overrides latent = {"model.architecture=llama",  "model.ffn=128",
                            "model.kv_lora_rank=16",     "model.qk_nope_dim=8",
                            "model.qk_rope_dim=8",       "model.value_dim=8",
                            "model.experts=4",           "model.expert_ffn=64",
                            "model.experts_per_token=2", "model.shared_expert_ffn=64",
                            "parallel.expert_tensor=1",  "parallel.expert=2"};
  const Workload w = Overlapped(latent);
  EXPECT_THAT(
      WorkOfLayer(w, Phase::kForward),
      ElementsAre(std::pair("attention.kv-down fwd", 1), std::pair("attention.kv-up fwd", 1),
                  std::pair("attention.proj fwd", 4), std::pair("attention.q-up fwd", 1),
                  std::pair("grouped", kRanks - 1), std::pair("reduce-scatter", 8),
                  std::pair("shared.fc1 fwd", kRanks), std::pair("shared.fc2 fwd", 4)));
  Overrides beside = latent;
  beside.emplace_back("overlap.shared_expert=true");
  EXPECT_EQ(WorkOfLayer(Overlapped(beside), Phase::kForward)["shared.fc1 fwd"], 1);
}

std::string Refused(const Overrides& more, int gpus) {
  Overrides overrides = Split(more);
  overrides.emplace_back("overlap.tensor=true");
  const Result<TrainingJob> job = ParseTrainingJob(kTestJob, "test.yaml", overrides);
  if (!job.ok()) return job.error().message();
  Diagnostics diagnostics;
  CheckDegrees(*job, TestTopology(8, gpus), &diagnostics);
  if (const Status status = diagnostics.ToStatus(); !status.ok()) return status.error().message();
  const Status scope = CheckMegatronScope(*job);
  return scope.ok() ? "" : scope.error().message();
}

TEST(TensorOverlap, ChecksItsRequirements) {
  EXPECT_EQ(Refused({}, 8), "");
  EXPECT_EQ(Refused({"parallel.sequence_parallel=false"}, 8),
            "'tensor' needs parallel.sequence_parallel");
  EXPECT_EQ(Refused({"training.kernels=unfused"}, 8),
            "'tensor' needs training.kernels fused: it is Transformer Engine's");
  EXPECT_EQ(
      Refused({}, 6),
      "'tensor' needs every tensor-parallel group inside a host; tensor 4 does not divide the "
      "6 GPUs of a box host");
  EXPECT_EQ(Refused({"model.hidden=66", "model.heads=11", "parallel.tensor=11", "model.sequence=33",
                     "model.ffn=264"},
                    11),
            "hidden 66 is not divisible by the 4 parts of 'tensor_scatter'");
  EXPECT_EQ(Refused({"training.precision=fp8"}, 8), "");
  const Overrides delayed = {"model.architecture=llama", "model.ffn=128",
                             "model.experts=4",          "model.experts_per_token=2",
                             "parallel.expert_tensor=1", "parallel.expert=2",
                             "overlap.expert=true",      "overlap.delay_weight_gradients=true"};
  EXPECT_EQ(Refused(delayed, 8),
            "'tensor' with delay_weight_gradients needs tensor_bulk_wgrad: false");
  Overrides kept = delayed;
  kept.emplace_back("overlap.tensor_bulk_wgrad=false");
  EXPECT_EQ(Refused(kept, 8), "");
  EXPECT_EQ(StructureMistake(Overlapped(kept)), "");
}

}  // namespace
}  // namespace drydock
