// "Which tensors are quantized, gathered and transposed in fp8?" Linear layers of Transformer
// Engine under sequence parallelism, with and without overlap.tensor.
#include <gmock/gmock.h>

#include <map>
#include <set>

#include "core/schema/testing/submodule_testing.h"
#include "workload-gen/testing/structure_testing.h"
#include "workload-gen/testing/tensor_overlap_testing.h"

namespace drydock {
namespace {

using testing::ElementsAre;

// Returns the bytes of the calls of one layer in micro-batch 0, by data type and collective.
std::map<std::string, int64_t> BytesByType(const Workload& w, Phase phase) {
  std::map<std::string, int64_t> bytes;
  for (const Op& op : OnlyProgram(w).ops) {
    if (op.layer != 3 || op.microbatch != 0 || op.phase != phase) continue;
    if (op.kind != OpKind::kCollective) continue;
    const CommCall& call = w.calls[op.work];
    const DataType type = call.parts.empty() ? call.type : call.parts[0].type;
    bytes[DataTypeNames()[static_cast<size_t>(type)] + " " +
          CollectiveTypeNames()[static_cast<size_t>(call.collective)]] += call.bytes().count();
  }
  return bytes;
}

// All-gathers carry fp8, half of the bytes of bf16, with userbuffers and with NCCL; reductions
// carry bf16.
TEST(Fp8Linear, GathersFp8AndSumsBf16) {
  const int64_t whole = 64 * 64;  // elements of t x h
  const Workload apart = WithoutOverlap({"training.precision=fp8"});
  EXPECT_THAT(BytesByType(apart, Phase::kForward),
              ElementsAre(std::pair("bf16 reduce-scatter", 2 * 2 * whole),
                          std::pair("fp8 all-gather", 2 * whole)));
  EXPECT_THAT(BytesByType(apart, Phase::kBackward),
              ElementsAre(std::pair("bf16 reduce-scatter", 2 * 2 * whole),
                          std::pair("fp8 all-gather", 4 * whole)));
  const Workload overlapped = Overlapped({"training.precision=fp8"});
  EXPECT_THAT(BytesByType(overlapped, Phase::kForward),
              ElementsAre(std::pair("bf16 reduce-scatter", 2 * 2 * whole),
                          std::pair("fp8 grouped", 2 * (kRanks - 1) * whole)));
  EXPECT_THAT(BytesByType(overlapped, Phase::kBackward),
              ElementsAre(std::pair("bf16 reduce-scatter", 2 * 2 * whole),
                          std::pair("fp8 all-gather", 2 * whole),
                          std::pair("fp8 grouped", 2 * (kRanks - 1) * whole)));
}

// MXFP8 has a byte of scale for 32 elements. Forward gathers two inputs along their rows. Backward
// gathers them along their columns, and two gradients both ways: 2 + 2 x 2 of t x h elements. There
// is no reduction of scales.
TEST(Fp8Linear, GathersTheDirectionsOfMxfp8WithTheirScales) {
  const int64_t whole = 64 * 64, scaled = whole * 33 / 32;
  const Workload w = WithoutOverlap({"training.precision=fp8", "training.fp8_recipe=mxfp8"});
  EXPECT_EQ(StructureMistake(w), "");
  EXPECT_THAT(BytesByType(w, Phase::kForward),
              ElementsAre(std::pair("bf16 reduce-scatter", 2 * 2 * whole),
                          std::pair("fp8 all-gather", 2 * scaled)));
  EXPECT_THAT(BytesByType(w, Phase::kBackward),
              ElementsAre(std::pair("bf16 reduce-scatter", 2 * 2 * whole),
                          std::pair("fp8 all-gather", 6 * scaled)));
  for (const Op& op : OnlyProgram(w).ops) {
    const bool call = op.kind == OpKind::kCollective && op.layer >= 0;
    EXPECT_FALSE(call && w.calls[op.work].op == ReduceOp::kMax);
  }
}

// With scales of whole tensors from their largest values, the ranks agree on the scale of each
// tensor that they gather: two forward, two backward.
TEST(Fp8Linear, TensorRanksAgreeOnScalesTheyDoNotKnow) {
  for (const Overrides& format :
       {Overrides{"training.precision=fp8", "training.fp8_recipe=tensorwise"},
        Overrides{"training.precision=nvfp4"}}) {
    SCOPED_TRACE(format.back());
    const Workload w = WithoutOverlap(format);
    EXPECT_EQ(StructureMistake(w), "");
    int maxima = 0;
    for (const Op& op : OnlyProgram(w).ops) {
      if (op.layer != 3 || op.microbatch != 0 || op.kind != OpKind::kCollective) continue;
      const CommCall& call = w.calls[op.work];
      maxima += call.op == ReduceOp::kMax && call.count == 1 ? 1 : 0;
    }
    EXPECT_EQ(maxima, 4);
  }
}

// Layers at both ends compute in bf16, the others in the format; the head always computes in bf16.
TEST(Fp8Linear, EndsStayInBf16) {
  const Workload w = WithoutOverlap({"training.precision=nvfp4", "training.bf16_layers_at_start=1",
                                     "training.bf16_layers_at_end=2"});
  std::map<int, std::set<DataType>> types;
  for (const Op& op : OnlyProgram(w).ops) {
    if (op.kind != OpKind::kCompute || op.layer < 0) continue;
    for (const uint32_t index : w.blocks[op.work].submodules) {
      const Submodule& s = w.submodules[index];
      if (s.Is<submodule::Linear>()) types[op.layer].insert(s.type);
    }
  }
  ASSERT_EQ(types.size(), 8u);
  for (const auto& [layer, found] : types) {
    const bool half = layer < 1 || layer >= 6;
    EXPECT_EQ(found, std::set<DataType>{half ? DataType::kBf16 : DataType::kNvfp4}) << layer;
  }
}

// Formats of the linear layers, by name.
std::map<std::string, std::set<DataType>> FormatsOf(const Workload& w) {
  std::map<std::string, std::set<DataType>> formats;
  for (const Submodule& s : w.submodules) {
    if (s.Is<submodule::Linear>()) formats[s.name].insert(s.type);
  }
  return formats;
}

// As with a file of --te-precision-config-file: single layers stay in bf16 or run in MXFP8. What
// sequence parallelism gathers for them has their format.
TEST(Fp8Linear, SingleLinearsHaveFormatsOfTheirOwn) {
  const Workload w = WithoutOverlap(
      {"training.precision=nvfp4", "training.bf16_linears=[qkv]", "training.mxfp8_linears=[proj]"});
  EXPECT_EQ(StructureMistake(w), "");
  const auto formats = FormatsOf(w);
  EXPECT_EQ(formats.at("attention.qkv"), std::set<DataType>{DataType::kBf16});
  EXPECT_EQ(formats.at("attention.proj"), std::set<DataType>{DataType::kMxfp8});
  EXPECT_EQ(formats.at("mlp.fc1"), std::set<DataType>{DataType::kNvfp4});
  const auto gathered = [](const Workload& from) {
    std::multiset<std::pair<DataType, int64_t>> calls;
    for (const CommCall& call : from.calls) {
      if (call.collective == CollectiveType::kAllGather) calls.emplace(call.type, call.count);
    }
    return calls;
  };
  EXPECT_NE(gathered(w), gathered(WithoutOverlap({"training.precision=nvfp4"})));
}

// Weights of linear layers travel in fp8, everything else in bf16; MXFP8 travels in bf16.
TEST(Fp8Linear, ParametersAreGatheredAsTheyAreStored) {
  const auto gathered = [](Overrides more) {
    more.insert(more.end(), {"training.distributed_optimizer=true", "parallel.data=2",
                             "training.quantized_param_gather=true", "training.precision=fp8"});
    const Workload w = WithoutOverlap(more);
    int64_t bytes = 0;
    for (const Op& op : OnlyProgram(w).ops) {
      if (op.kind != OpKind::kCollective || op.phase != Phase::kOptimizer) continue;
      const CommCall& call = w.calls[op.work];
      if (call.collective == CollectiveType::kAllGather) bytes += call.bytes().count();
    }
    return bytes;
  };
  const int64_t fp8 = gathered({}), bf16 = gathered({"training.fp8_recipe=mxfp8"});
  // qkv, proj, fc1 and fc2 of 8 layers on 4 ranks: 12 h^2 / 4 elements each.
  EXPECT_EQ(bf16 - fp8, 8 * 12 * 64 * 64 / 4);
}

// Elements of a layer that are quantized with and without their transposes, and elements that GEMMs
// transpose later.
struct Quantized {
  int64_t with_transpose = 0, without_transpose = 0, transposed = 0;
  bool operator==(const Quantized&) const = default;
};
Quantized QuantizedOf(const Workload& w, Phase phase) {
  Quantized all;
  for (const Op& op : OnlyProgram(w).ops) {
    if (op.layer != 3 || op.microbatch != 0 || op.phase != phase) continue;
    if (op.kind != OpKind::kCompute) continue;
    for (const uint32_t index : w.blocks[op.work].submodules) {
      const Submodule& s = w.submodules[index];
      if (const auto* quantize = s.As<submodule::Quantize>()) {
        (quantize->without_transpose ? all.without_transpose : all.with_transpose) +=
            quantize->rows * quantize->n;
      }
      const auto* linear = s.As<submodule::Linear>();
      if (linear == nullptr || s.type != DataType::kFp8) continue;
      const int64_t input = linear->rows * linear->k, output = linear->rows * linear->n;
      if (s.pass == Pass::kForward && !linear->fp8_input) all.with_transpose += input;
      if (s.pass == Pass::kBackwardActivation && !linear->fp8_gradient)
        all.with_transpose += output;
      if (s.pass != Pass::kBackwardWeight) continue;
      all.transposed += linear->fp8_input ? input : 0;
      all.transposed += linear->fp8_gradient ? output : 0;
    }
  }
  return all;
}
void PrintTo(const Quantized& q, std::ostream* out) {
  *out << q.with_transpose << " with transpose, " << q.without_transpose << " without, "
       << q.transposed << " transposed later";
}

// t = 64 rows of h = 64 on 4 ranks. The norms write fp8; inputs of proj and fc2 are quantized (t x
// h / 4 and t x h). Backward quantizes the gradients of proj and fc2 before they are gathered (t /
// 4 x h each), and those of qkv (t x 3 h / 4) and fc1 (t x h) with their transposes. It transposes
// the gathered inputs of qkv and fc1, and the gathered gradients of proj and fc2.
TEST(Fp8Linear, OverlapDoesNotChangeWhatIsQuantized) {
  const int64_t whole = 64 * 64;
  for (const char* more : {"overlap.tensor=false", "overlap.tensor=true"}) {
    SCOPED_TRACE(more);
    const Workload w = WithoutOverlap({"training.precision=fp8", more});
    EXPECT_EQ(QuantizedOf(w, Phase::kForward), (Quantized{whole / 4 + whole, 0, 0}));
    EXPECT_EQ(QuantizedOf(w, Phase::kBackward),
              (Quantized{3 * whole / 4 + whole, 2 * whole / 4, 4 * whole}));
  }
}

// Transformer Engine adds a weight's gradient into the main gradient of any type.
TEST(Fp8Linear, AccumulatesInto16BitGradients) {
  for (const bool half : {false, true}) {
    SCOPED_TRACE(half);
    const Workload w =
        WithoutOverlap({"training.precision=fp8",
                        std::string("training.gradient_type=") + (half ? "bf16" : "fp32")});
    for (const Submodule& s : w.submodules) {
      const auto* linear = s.As<submodule::Linear>();
      if (linear == nullptr || s.pass != Pass::kBackwardWeight) continue;
      EXPECT_EQ(linear->accumulate_half, half);
      EXPECT_EQ(linear->accumulate_fp32, !half);
    }
  }
  const Workload apart = WithoutOverlap(
      {"training.gradient_type=bf16", "training.gradient_accumulation_fusion=false"});
  for (const Submodule& s : apart.submodules) {
    EXPECT_FALSE(FieldOf(s, "accumulate_half"));
  }
}

// The loss reduces one more maximum over tp.
TEST(Fp8Linear, TpOnlyAmaxRedReducesOverTensorRanks) {
  const auto maxima = [](const char* tensor_only) {
    const Workload w = WithoutOverlap(
        {"training.precision=fp8", std::string("training.tp_only_amax_red=") + tensor_only});
    EXPECT_EQ(StructureMistake(w), "");
    std::map<std::string, int> of;
    for (const Op& op : OnlyProgram(w).ops) {
      if (op.phase != Phase::kForward && op.phase != Phase::kBackward) continue;
      if (op.kind != OpKind::kCollective || w.calls[op.work].op != ReduceOp::kMax) continue;
      ++of[w.roles[op.role].name];
    }
    return of;
  };
  std::map<std::string, int> all = maxima("false"), tensor = maxima("true");
  EXPECT_GT(all["tp-dp-cp"], 0);
  EXPECT_EQ(tensor["tp-dp-cp"], 0);
  EXPECT_EQ(tensor["tp"], all["tp"] + all["tp-dp-cp"]);
}

// Without a norm in front, a shared expert's input is quantized before it is gathered.
TEST(Fp8Linear, QuantizesSharedExpertInputBeforeTheGather) {
  const Workload w =
      Overlapped({"training.precision=fp8", "model.architecture=llama", "model.ffn=128",
                  "model.experts=4", "model.expert_ffn=64", "model.experts_per_token=2",
                  "model.shared_expert_ffn=64", "parallel.expert_tensor=1", "parallel.expert=2"});
  EXPECT_EQ(StructureMistake(w), "");
  int found = 0;
  for (const Submodule& s : w.submodules) {
    if (s.name != "shared.fc1.cast") continue;
    ++found;
    const auto* quantize = s.As<submodule::Quantize>();
    ASSERT_NE(quantize, nullptr);
    EXPECT_EQ(quantize->rows, 64 / kRanks);
    EXPECT_TRUE(quantize->without_transpose);
  }
  EXPECT_EQ(found, 1);
}

// With fused operations, the activation quantizes what the products of an MLP read: the input of
// fc2 and the output gradient of fc1. It searches with scales that it does not know, and does
// nothing in NVFP4.
TEST(Fp8Linear, FusedActivationQuantizes) {
  struct Found {
    bool activation = false, input = false, gradient = false;
    bool search_input = false, search_gradient = false;
  };
  const auto found = [](const Overrides& format) {
    Overrides all = {"training.fused_ops=true", "parallel.tensor=1",
                     "parallel.sequence_parallel=false"};
    all.insert(all.end(), format.begin(), format.end());
    Found f;
    for (const Submodule& s : TestWorkload(all).submodules) {
      const auto* linear = s.As<submodule::Linear>();
      if (s.name == "mlp.activation") f.activation |= s.As<submodule::Activation>()->quantizes;
      if (s.name == "mlp.fc2" && s.pass == Pass::kForward) {
        f.input = linear->fp8_input;
        f.search_input = linear->search_input;
      }
      if (s.name == "mlp.fc1" && s.pass == Pass::kBackwardActivation) {
        f.gradient = linear->fp8_gradient;
        f.search_gradient = linear->search_gradient;
      }
    }
    return f;
  };
  for (const char* recipe : {"delayed", "mxfp8"}) {
    const Found f = found({"training.precision=fp8", std::string("training.fp8_recipe=") + recipe});
    EXPECT_TRUE(f.activation && f.input && f.gradient) << recipe;
  }
  const Found tensorwise = found({"training.precision=fp8", "training.fp8_recipe=tensorwise"});
  EXPECT_FALSE(tensorwise.activation || tensorwise.input || tensorwise.gradient);
  EXPECT_FALSE(tensorwise.search_input || tensorwise.search_gradient);
}

// The products of experts run the activation: fc1 forward, the input gradient of fc2 backward. The
// products that read what it writes do not quantize. As much is saved.
TEST(Fp8Linear, ProductsOfExpertsRunTheActivation) {
  const Overrides experts = {"model.experts=8",
                             "model.experts_per_token=2",
                             "model.expert_ffn=64",
                             "model.activation=swiglu",
                             "model.bias=false",
                             "training.precision=fp8",
                             "training.fp8_recipe=mxfp8",
                             "training.moe_grouped_kernel=one",
                             "parallel.sequence_parallel=true",
                             "parallel.expert_tensor=1"};
  Overrides more = experts;
  more.emplace_back("training.moe_fused_mlp=true");
  const Workload apart = TestWorkload(experts), fused = TestWorkload(more);
  std::map<std::string, std::string> found;
  for (const Submodule& s : fused.submodules) {
    EXPECT_NE(s.name, "moe.activation");
    const auto* product = s.As<submodule::GroupedLinear>();
    if (product == nullptr) continue;
    std::string& flags = found[s.name + " " + PassNames()[static_cast<size_t>(s.pass)]];
    if (product->fp8_input) flags += "input ";
    if (product->fp8_gradient) flags += "gradient ";
    if (product->fused) flags += product->gated ? "activation" : "not gated";
  }
  EXPECT_EQ(found["moe.fc1 fwd"], "activation");
  EXPECT_EQ(found["moe.fc2 fwd"], "input ");
  EXPECT_EQ(found["moe.fc2 dgrad"], "activation");
  EXPECT_EQ(found["moe.fc1 dgrad"], "gradient ");
  EXPECT_EQ(found["moe.fc1 wgrad"] + found["moe.fc2 wgrad"], "");
  EXPECT_EQ(fused.memory[0][7].name, "activations");
  EXPECT_EQ(fused.memory[0][7].bytes, apart.memory[0][7].bytes);
  EXPECT_EQ(StructureMistake(fused), "");
}

}  // namespace
}  // namespace drydock
