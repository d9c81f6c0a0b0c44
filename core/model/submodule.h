// A submodule: the smallest piece of a model that compute-sim times, such as the forward product of
// a linear layer, or one norm. Submodule holds what every kind has (name, pass, type, costs) and
// the struct of its kind, which holds the extents and flags that only this kind has.
//
// Rows are the tokens that the rank's kernel sees: t, or t / TP. Plain data.
#ifndef DRYDOCK_CORE_MODEL_SUBMODULE_H_
#define DRYDOCK_CORE_MODEL_SUBMODULE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "core/base/units.h"
#include "core/model/gpu.h"

namespace drydock {

enum class Pass : uint8_t { kForward, kBackwardActivation, kBackwardWeight, kBackward, kNone };
const std::vector<std::string>& PassNames();  // "fwd", "dgrad", "wgrad", "bwd", "-"

namespace submodule {

// What a field means to code that reads a submodule field by field (ForEachField).
enum class Field : uint8_t {
  kExtent,          // must be above 0
  kOptionalExtent,  // 0: unspecified; the comment of the field states the default
  kFlag,
  kAccountFlag,  // kept for accounts; kernels do not depend on it
};

// Each struct below has
//   kName    the name of its kind in artefacts, messages and lists of submodules;
//   Fields   calls visit(Field, name, field) for each field. The name is the field's name in
//            artefacts and in lists of submodules, which may differ from the C++ member's.

// A rows x n x k product forward; the gradient of the input is a rows x k x n product, the gradient
// of the weight an n x k x rows product.
struct Linear {
  static constexpr std::string_view kName = "linear";
  int64_t rows = 0, n = 0, k = 0;
  bool fused = false;            // the product adds the bias itself
  bool bias = false;             // of the product, not of a later kernel
  bool accumulate_fp32 = false;  // the weight's gradient is added into an fp32 main gradient
  bool accumulate_half = false;  // the weight's gradient is added into one of 16 bits
  // In fp8 or NVFP4, if other kernels have quantized an operand: the submodule does not quantize
  // the operand but turns it for the weight's gradient, if it came without its transpose.
  bool fp8_input = false, fp8_gradient = false;
  // The submodule searches the operand for its largest value before it quantizes the operand.
  bool search_input = false, search_gradient = false;
  // The framework turns fp8 operands on every GPU, also where products take any layout.
  bool always_turns = false;
  // Fp8 operands have a scale for each row: PyTorch's product of CUTLASS, without promotion.
  bool row_scales = false;

  static void Fields(auto& s, auto&& visit) {
    visit(Field::kExtent, "rows", s.rows);
    visit(Field::kExtent, "n", s.n);
    visit(Field::kExtent, "k", s.k);
    visit(Field::kFlag, "fused", s.fused);
    visit(Field::kFlag, "bias", s.bias);
    visit(Field::kFlag, "accumulate_fp32", s.accumulate_fp32);
    visit(Field::kFlag, "accumulate_half", s.accumulate_half);
    visit(Field::kFlag, "fp8_input", s.fp8_input);
    visit(Field::kFlag, "fp8_gradient", s.fp8_gradient);
    visit(Field::kFlag, "search_input", s.search_input);
    visit(Field::kFlag, "search_gradient", s.search_gradient);
    visit(Field::kFlag, "always_turns", s.always_turns);
    visit(Field::kFlag, "row_scales", s.row_scales);
  }
};

// Core attention of `heads` query heads and `kv_heads` key heads.
struct Attention {
  static constexpr std::string_view kName = "attention";
  int64_t batch = 0, sequence = 0, heads = 0, kv_heads = 0, head_dim = 0;
  int64_t kv_sequence = 0;  // keys, where their number differs from `sequence`; 0: `sequence`
  int64_t value_dim = 0;    // of a value's head, where it differs from `head_dim`; 0: `head_dim`
  bool causal = false;      // the last query sees all keys
  bool fused = false;       // FlashAttention
  bool dropout = false;
  bool plain_softmax = false;  // not fused: no kernel of Megatron for scale, mask and softmax

  // Whether the softmax consists of PyTorch's operators, in fp32. Megatron's kernel works on four
  // rows of scores at a time, and takes no other number of heads and queries (is_kernel_available
  // of fused_softmax.py).
  bool composes_softmax() const {
    return !fused && (plain_softmax || (batch * heads) % 4 != 0 || sequence % 4 != 0);
  }
  int64_t keys() const { return kv_sequence > 0 ? kv_sequence : sequence; }
  int64_t value_width() const { return value_dim > 0 ? value_dim : head_dim; }

  static void Fields(auto& s, auto&& visit) {
    visit(Field::kExtent, "batch", s.batch);
    visit(Field::kExtent, "sequence", s.sequence);
    visit(Field::kExtent, "heads", s.heads);
    visit(Field::kExtent, "kv_heads", s.kv_heads);
    visit(Field::kExtent, "head_dim", s.head_dim);
    visit(Field::kOptionalExtent, "kv_sequence", s.kv_sequence);
    visit(Field::kOptionalExtent, "value_dim", s.value_dim);
    visit(Field::kFlag, "causal", s.causal);
    visit(Field::kFlag, "fused", s.fused);
    visit(Field::kFlag, "dropout", s.dropout);
    visit(Field::kFlag, "plain_softmax", s.plain_softmax);
  }
};

// A layer norm, or an RMS norm, over rows x n.
struct Norm {
  static constexpr std::string_view kName = "norm";
  int64_t rows = 0, n = 0;
  bool fused = false, rms = false, bias = false;

  static void Fields(auto& s, auto&& visit) {
    visit(Field::kExtent, "rows", s.rows);
    visit(Field::kExtent, "n", s.n);
    visit(Field::kFlag, "fused", s.fused);
    visit(Field::kFlag, "rms", s.rms);
    visit(Field::kAccountFlag, "bias", s.bias);
  }
};

// The end of a residual branch: rows x n.
struct BiasDropoutAdd {
  static constexpr std::string_view kName = "bias-dropout-add";
  int64_t rows = 0, n = 0;
  bool bias = false, dropout = false;

  static void Fields(auto& s, auto&& visit) {
    visit(Field::kExtent, "rows", s.rows);
    visit(Field::kExtent, "n", s.n);
    visit(Field::kFlag, "bias", s.bias);
    visit(Field::kFlag, "dropout", s.dropout);
  }
};

// GELU, or SwiGLU where gated: rows x n outputs.
struct Activation {
  static constexpr std::string_view kName = "activation";
  int64_t rows = 0, n = 0;
  bool gated = false, bias = false;
  // The kernels write what the linear layers beside them read, already quantized: forward the input
  // of the next, backward the output gradient of the one before.
  bool quantizes = false;
  bool fp8_input = false;  // backward has the input in fp8
  bool clamped = false;    // backward, other kernels follow: the input is clamped before

  static void Fields(auto& s, auto&& visit) {
    visit(Field::kExtent, "rows", s.rows);
    visit(Field::kExtent, "n", s.n);
    visit(Field::kFlag, "gated", s.gated);
    visit(Field::kFlag, "bias", s.bias);
    visit(Field::kFlag, "quantizes", s.quantizes);
    visit(Field::kAccountFlag, "fp8_input", s.fp8_input);
    visit(Field::kFlag, "clamped", s.clamped);
  }
};

// A rotary position embedding over rows x n.
struct Rotary {
  static constexpr std::string_view kName = "rotary";
  int64_t rows = 0, n = 0;
  bool fused = false;

  static void Fields(auto& s, auto&& visit) {
    visit(Field::kExtent, "rows", s.rows);
    visit(Field::kExtent, "n", s.n);
    visit(Field::kFlag, "fused", s.fused);
  }
};

// A lookup of rows x n in a table of k rows. `bias`: learned positions are added.
struct Embedding {
  static constexpr std::string_view kName = "embedding";
  int64_t rows = 0, n = 0, k = 0;
  bool bias = false, dropout = false;
  bool accumulate_fp32 = false;  // the table's main gradient is fp32

  static void Fields(auto& s, auto&& visit) {
    visit(Field::kExtent, "rows", s.rows);
    visit(Field::kExtent, "n", s.n);
    visit(Field::kExtent, "k", s.k);
    visit(Field::kFlag, "bias", s.bias);
    visit(Field::kFlag, "dropout", s.dropout);
    visit(Field::kAccountFlag, "accumulate_fp32", s.accumulate_fp32);
  }
};

// The loss over this rank's rows x n logits.
struct CrossEntropy {
  static constexpr std::string_view kName = "cross-entropy";
  int64_t rows = 0, n = 0;
  bool fused = false;

  static void Fields(auto& s, auto&& visit) {
    visit(Field::kExtent, "rows", s.rows);
    visit(Field::kExtent, "n", s.n);
    visit(Field::kFlag, "fused", s.fused);
  }
};

// Passes over a flat buffer of parameters or gradients.
struct FlatBuffer {
  int64_t elements = 0;
  int64_t tensors = 0;  // that the buffer consists of; only the host's loops depend on it

  static void Fields(auto& s, auto&& visit) {
    visit(Field::kExtent, "elements", s.elements);
    visit(Field::kOptionalExtent, "tensors", s.tensors);
  }
};
// Adam over this rank's parameters; master weights and moments are fp32.
struct Optimizer : FlatBuffer {
  static constexpr std::string_view kName = "optimizer";
};
// Reads gradients and writes them scaled.
struct GradientScale : FlatBuffer {
  static constexpr std::string_view kName = "gradient-scale";
};
// The L2 norm of gradients.
struct GradientNorm : FlatBuffer {
  static constexpr std::string_view kName = "gradient-norm";
};
// Reads fp32 and writes the submodule's type.
struct Cast : FlatBuffer {
  static constexpr std::string_view kName = "cast";
};

// An element-wise sum over rows x n.
struct Add {
  static constexpr std::string_view kName = "add";
  int64_t rows = 0, n = 0;
  int64_t summands = 0;          // 1: a copy or a scaling; 0: two summands
  bool accumulate_fp32 = false;  // a gradient is added into an fp32 main gradient

  static void Fields(auto& s, auto&& visit) {
    visit(Field::kExtent, "rows", s.rows);
    visit(Field::kExtent, "n", s.n);
    visit(Field::kOptionalExtent, "top_k", s.summands);
    visit(Field::kFlag, "accumulate_fp32", s.accumulate_fp32);
  }
};

// The scores of rows tokens of k features for n experts, and the softmax of the scores.
struct Router {
  static constexpr std::string_view kName = "router";
  int64_t rows = 0, n = 0, k = 0;
  bool accumulate_fp32 = false;  // the weight's gradient is added into an fp32 main gradient

  static void Fields(auto& s, auto&& visit) {
    visit(Field::kExtent, "rows", s.rows);
    visit(Field::kExtent, "n", s.n);
    visit(Field::kExtent, "k", s.k);
    visit(Field::kFlag, "accumulate_fp32", s.accumulate_fp32);
  }
};

// The best top_k of n scores in each of rows.
struct TopK {
  static constexpr std::string_view kName = "top-k";
  int64_t rows = 0, n = 0, top_k = 0;
  bool fused = false;     // by one special kernel, not by PyTorch's operators
  bool aux_loss = false;  // and the load-balancing loss

  static void Fields(auto& s, auto&& visit) {
    visit(Field::kExtent, "rows", s.rows);
    visit(Field::kExtent, "n", s.n);
    visit(Field::kExtent, "top_k", s.top_k);
    visit(Field::kFlag, "fused", s.fused);
    visit(Field::kFlag, "aux_loss", s.aux_loss);
  }
};

// Moves rows x n tokens between their own order and the order of experts, where each token has
// top_k copies.
struct TokenMove {
  int64_t rows = 0, n = 0, experts = 0, top_k = 0;
  bool counts = false;  // operators of PyTorch count the tokens of each expert first

  static void Fields(auto& s, auto&& visit) {
    visit(Field::kExtent, "rows", s.rows);
    visit(Field::kExtent, "n", s.n);
    visit(Field::kExtent, "experts", s.experts);
    visit(Field::kExtent, "top_k", s.top_k);
    visit(Field::kFlag, "counts", s.counts);
  }
};
// Copies each token for each of its experts.
struct Permute : TokenMove {
  static constexpr std::string_view kName = "permute";
};
// Weights and sums the copies of each token.
struct Unpermute : TokenMove {
  static constexpr std::string_view kName = "unpermute";
};

// `experts` linears that share the rows evenly: rows x n x k in all.
struct GroupedLinear {
  static constexpr std::string_view kName = "grouped-linear";
  int64_t rows = 0, n = 0, k = 0, experts = 0;
  bool accumulate_fp32 = false, accumulate_half = false;  // as in Linear
  // One kernel computes all experts. Otherwise a loop launches a product for each of them, on
  // several streams.
  bool one_kernel = false;
  bool search_input = false, search_gradient = false;  // as in Linear
  bool fp8_input = false, fp8_gradient = false;        // quantized by the kernel before this one
  // One kernel of product and activation: forward, of the activation behind the product; that of
  // the input's gradient, of the activation before it, backward. It writes what the next product
  // reads, quantized along both dimensions.
  bool fused = false;
  bool gated = false;  // the activation

  static void Fields(auto& s, auto&& visit) {
    visit(Field::kExtent, "rows", s.rows);
    visit(Field::kExtent, "n", s.n);
    visit(Field::kExtent, "k", s.k);
    visit(Field::kExtent, "experts", s.experts);
    visit(Field::kFlag, "accumulate_fp32", s.accumulate_fp32);
    visit(Field::kFlag, "accumulate_half", s.accumulate_half);
    visit(Field::kFlag, "one_kernel", s.one_kernel);
    visit(Field::kFlag, "search_input", s.search_input);
    visit(Field::kFlag, "search_gradient", s.search_gradient);
    visit(Field::kFlag, "fp8_input", s.fp8_input);
    visit(Field::kFlag, "fp8_gradient", s.fp8_gradient);
    visit(Field::kFlag, "fused", s.fused);
    visit(Field::kFlag, "gated", s.gated);
  }
};

// rows x n to the type, and its transpose. Of a 16-bit type: to fp8.
struct Quantize {
  static constexpr std::string_view kName = "quantise";
  int64_t rows = 0, n = 0;
  bool fused = false;  // uses the scale of earlier steps, without a search for the largest value
  bool without_transpose = false;

  static void Fields(auto& s, auto&& visit) {
    visit(Field::kExtent, "rows", s.rows);
    visit(Field::kExtent, "n", s.n);
    visit(Field::kFlag, "fused", s.fused);
    visit(Field::kFlag, "unturned", s.without_transpose);
  }
};

// The scan of a Mamba-2 layer (Dao and Gu, 2024) with the convolution before it and the gated norm
// after it: rows tokens in chunks, `heads` heads of head_dim columns with `state` rows of state
// each. The heads of a group share their input and output matrices of the state. `taps`: of the
// convolution.
struct StateSpace {
  static constexpr std::string_view kName = "state-space";
  int64_t rows = 0, heads = 0, head_dim = 0, state = 0, groups = 0, chunk = 0, taps = 0;

  int64_t inner() const { return heads * head_dim; }
  int64_t convolved() const { return inner() + 2 * groups * state; }

  static void Fields(auto& s, auto&& visit) {
    visit(Field::kExtent, "rows", s.rows);
    visit(Field::kExtent, "heads", s.heads);
    visit(Field::kExtent, "head_dim", s.head_dim);
    visit(Field::kExtent, "state", s.state);
    visit(Field::kExtent, "groups", s.groups);
    visit(Field::kExtent, "chunk", s.chunk);
    visit(Field::kExtent, "taps", s.taps);
  }
};

// The scan of a gated delta net (Yang et al., 2024) with the convolution before it and the gated
// norm after it: `heads` heads of values of value_dim columns; heads of values share kv_heads heads
// of queries and keys of head_dim columns.
struct DeltaRule {
  static constexpr std::string_view kName = "delta-rule";
  int64_t rows = 0, heads = 0, kv_heads = 0, head_dim = 0, value_dim = 0, chunk = 0, taps = 0;

  int64_t values() const { return heads * value_dim; }
  int64_t convolved() const { return 2 * kv_heads * head_dim + values(); }

  static void Fields(auto& s, auto&& visit) {
    visit(Field::kExtent, "rows", s.rows);
    visit(Field::kExtent, "heads", s.heads);
    visit(Field::kExtent, "kv_heads", s.kv_heads);
    visit(Field::kExtent, "head_dim", s.head_dim);
    visit(Field::kExtent, "value_dim", s.value_dim);
    visit(Field::kExtent, "chunk", s.chunk);
    visit(Field::kExtent, "taps", s.taps);
  }
};

// Of an imported workload: takes `duration` on every GPU, as its trace states.
struct FixedDuration {
  static constexpr std::string_view kName = "given";
  Time duration;  // at most kLongestFixedDuration

  static void Fields(auto&, auto&&) {}
};
inline constexpr Time kLongestFixedDuration = Time::Us(3'600'000'000);

// Of an imported workload without times: nothing is known but Submodule::flops and bytes.
struct FlopsAndBytes {
  static constexpr std::string_view kName = "counted";

  static void Fields(auto&, auto&&) {}
};

// The number of zeros in gradients, tensor by tensor.
struct ZeroCount : FlatBuffer {
  static constexpr std::string_view kName = "zero-count";
};

// DeepSeek sparse attention (DeepSeek-V3.2): an indexer scores all earlier keys for each query, and
// attention reads the top_k keys with the best scores. rows queries are spread evenly over a
// sequence of kv_sequence keys, all under a causal mask. `fused`: special kernels, TileLang's, or
// else those of cuDNN and FlashMLA; without, PyTorch's operators over the whole square in fp32.
struct SparseWork {
  int64_t rows = 0, keys = 0, heads = 0, head_dim = 0, top_k = 0;
  int64_t batch = 0;  // sequences that share the rows, each with its keys; 0: one
  // Packed in each sequence; a query sees keys of its own sample only. 0: one.
  int64_t samples = 0;
  bool fused = false, tilelang = false;

  int64_t sequences() const { return batch > 0 ? batch : 1; }
  int64_t all_keys() const { return sequences() * keys; }
  // The places of the list of picks. In a sample of fewer keys, some are empty.
  int64_t most_picked() const { return top_k < keys ? top_k : keys; }
  int64_t sample_keys() const { return samples > 0 ? keys / samples : keys; }
  // The mean number of keys that a query sees, and that it picks.
  double seen() const { return static_cast<double>(sample_keys() + 1) / 2; }
  double picked() const {
    const auto most = static_cast<double>(top_k < sample_keys() ? top_k : sample_keys());
    return most - most * (most - 1) / (2 * static_cast<double>(sample_keys()));
  }

  static void Fields(auto& s, auto&& visit) {
    visit(Field::kExtent, "rows", s.rows);
    visit(Field::kExtent, "kv_sequence", s.keys);
    visit(Field::kExtent, "heads", s.heads);
    visit(Field::kExtent, "head_dim", s.head_dim);
    visit(Field::kExtent, "top_k", s.top_k);
    visit(Field::kOptionalExtent, "batch", s.batch);
    visit(Field::kOptionalExtent, "samples", s.samples);
    visit(Field::kFlag, "fused", s.fused);
    visit(Field::kFlag, "tilelang", s.tilelang);
  }
};
// The indexer's scores and the choice of the best; backward, the gradients of its queries, keys and
// weights of heads. `picked_only`: the loss compares the picked keys alone. `by_heads`: forward,
// though fused, PyTorch's operators add up the scores of one head after another.
struct SparseIndex : SparseWork {
  static constexpr std::string_view kName = "sparse-index";
  bool picked_only = false, by_heads = false;

  static void Fields(auto& s, auto&& visit) {
    SparseWork::Fields(s, visit);
    visit(Field::kFlag, "picked_only", s.picked_only);
    visit(Field::kFlag, "by_heads", s.by_heads);
  }
};
// What the indexer learns: attention's probabilities, summed over `heads` heads, and the distance
// of the scores from them. Backward computes them again.
struct SparseTarget : SparseWork {
  static constexpr std::string_view kName = "sparse-target";
  bool picked_only = false;

  static void Fields(auto& s, auto&& visit) {
    SparseWork::Fields(s, visit);
    visit(Field::kFlag, "picked_only", s.picked_only);
  }
};
// Attention to the picked keys: all heads share a key of head_dim columns, and its first value_dim
// columns are the value. `skips_rows`: backward, operators copy the rows that picked a key.
struct SparseAttention : SparseWork {
  static constexpr std::string_view kName = "sparse-attention";
  int64_t value_dim = 0;
  bool skips_rows = false;

  static void Fields(auto& s, auto&& visit) {
    SparseWork::Fields(s, visit);
    visit(Field::kExtent, "value_dim", s.value_dim);
    visit(Field::kFlag, "skips_rows", s.skips_rows);
  }
};

}  // namespace submodule

// Artefacts store the index of the alternative: append new kinds at the end.
using SubmoduleWork = std::variant<
    submodule::Linear, submodule::Attention, submodule::Norm, submodule::BiasDropoutAdd,
    submodule::Activation, submodule::Rotary, submodule::Embedding, submodule::CrossEntropy,
    submodule::Optimizer, submodule::GradientScale, submodule::GradientNorm, submodule::Cast,
    submodule::Add, submodule::Router, submodule::TopK, submodule::Permute, submodule::Unpermute,
    submodule::GroupedLinear, submodule::Quantize, submodule::FixedDuration,
    submodule::FlopsAndBytes, submodule::ZeroCount, submodule::StateSpace, submodule::DeltaRule,
    submodule::SparseIndex, submodule::SparseTarget, submodule::SparseAttention>;
inline constexpr size_t kSubmoduleKindCount = std::variant_size_v<SubmoduleWork>;

// "linear", "attention", ...: in the order of the alternatives.
const std::vector<std::string>& SubmoduleKindNames();
// Work of the kind at `index`, with every field 0. REQUIRES: index < kSubmoduleKindCount.
SubmoduleWork MakeSubmoduleWork(size_t index);

struct Submodule {
  std::string name;  // "attention.qkv"
  Pass pass = Pass::kForward;
  DataType type = DataType::kBf16;
  SubmoduleWork work;
  double flops = 0;  // arithmetic, for accounts and foreign readers
  Bytes bytes;       // memory traffic if every operand moved once
  Time host;         // the framework's own code before the first kernel (host_launch.h)

  template <typename Kind>
  bool Is() const {
    return std::holds_alternative<Kind>(work);
  }
  // Null if the submodule is of another kind.
  template <typename Kind>
  const Kind* As() const {
    return std::get_if<Kind>(&work);
  }
  // Returns true if the workload states the time or the costs, so that the kernels are unknown.
  bool has_stated_time() const {
    return Is<submodule::FixedDuration>() || Is<submodule::FlopsAndBytes>();
  }
  const std::string& kind_name() const { return SubmoduleKindNames()[work.index()]; }
};

// Calls visit(submodule::Field, name, field) for each int64_t and bool of the work's struct;
// `Work` is SubmoduleWork or const SubmoduleWork. FixedDuration::duration is not visited.
template <typename Work, typename Visit>
void ForEachField(Work& work, Visit&& visit) {
  std::visit([&](auto& kind) { std::decay_t<decltype(kind)>::Fields(kind, visit); }, work);
}

// Returns all facts of a submodule as text. Submodules are equal if and only if their texts are.
std::string FactsOf(const Submodule& submodule);

}  // namespace drydock

#endif  // DRYDOCK_CORE_MODEL_SUBMODULE_H_
