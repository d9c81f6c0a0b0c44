#include "capture/kernels/submodules.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "core/model/attention_backend.h"

namespace drydock::capture {
namespace {

// ---- Products -----------------------------------------------------------------------------

// cudaDataType by number.
enum CudaType : int { kFp32 = 0, kFp16 = 2, kBf16 = 14, kE4m3 = 28, kE5m2 = 29, kE2m1 = 33 };
constexpr int kComputeTf32 = 77;
// cublasLtMatmulMatrixScale_t.
enum Scales : int { kOfTensor = 0, kOf16 = 1, kOf32 = 2, kOfRows = 3, kOf128 = 4, kOfSquares = 5 };
// cublasLtEpilogue_t: a bias is added (bit 2); the higher bits say which function follows.
constexpr int kEpilogueBias = 4;
constexpr int kBgradBits = 0x300;  // the bias gradients of A and B

// Groups of convolutions with fewer channels than a tile of a tensor core has.
constexpr int64_t kNarrow = 8;

DataType TypeOf(const LoggedProduct& p) {
  switch (p.type_a) {
    case kFp16:
      return DataType::kFp16;
    case kBf16:
      return DataType::kBf16;
    case kE2m1:
      return DataType::kNvfp4;
    case kE4m3:
    case kE5m2:
      if (p.scales == kOf32) return DataType::kMxfp8;
      if (p.scales == kOf128 || p.scales == kOfSquares) return DataType::kFp8Block;
      return DataType::kFp8;
    default:
      return p.compute == kComputeTf32 ? DataType::kTf32 : DataType::kFp32;
  }
}

// Operands of products that no model of kernels knows. Such a product takes the rate that the GPU's
// file states for the type.
struct StatedOperand {
  int cuda_type;
  DataType type;  // in which it computes
  int64_t bytes;
  double operations;  // for each pair of elements: a complex product is four real ones
};
constexpr StatedOperand kStated[] = {
    {1, DataType::kFp64, 8, 2},   // fp64
    {3, DataType::kInt8, 1, 2},   // int8
    {4, DataType::kFp32, 8, 8},   // complex fp32
    {5, DataType::kFp64, 16, 8},  // complex fp64
    {8, DataType::kInt8, 1, 2},   // uint8
    {10, DataType::kInt32, 4, 2},
};
const StatedOperand* StatedOperandOf(int cuda_type) {
  for (const StatedOperand& operand : kStated) {
    if (operand.cuda_type == cuda_type) return &operand;
  }
  return nullptr;
}

// `pairs`: of elements that are multiplied.
Submodule AtStatedRate(const StatedOperand& operand, double pairs, Bytes bytes, bool is_backward) {
  Submodule s;
  s.pass = is_backward ? Pass::kBackward : Pass::kForward;
  s.type = operand.type;
  s.flops = operand.operations * pairs;
  s.bytes = bytes;
  s.work = submodule::FlopsAndBytes{};
  return s;
}

// ---- Attention ----------------------------------------------------------------------------

enum class Layout : uint8_t {
  kHeadsFirst,  // batch, heads, sequence, head_dim
  kHeadsLast,   // batch, sequence, heads, head_dim
  kPacked,      // tokens of all sequences, heads, head_dim
};
struct AttentionOperator {
  std::string_view name;
  const char* backend;
  bool is_backward;
  Layout layout;
  size_t queries;  // index of the argument; keys and values follow
  size_t dropout, causal;
  size_t starts = 0;  // kPacked: the sequences' first tokens
};
// As native_functions.yaml of PyTorch 2.9, flash_attn_interface.py of flash-attn 2.8 and
// hopper/flash_api.cpp of FlashAttention-3 have them. flash-attn 2 runs FlashAttention-2, as
// PyTorch does.
constexpr AttentionOperator kAttention[] = {
    {"aten::_scaled_dot_product_flash_attention", kAttentionByPytorch, false, Layout::kHeadsFirst,
     0, 3, 4},
    {"aten::_scaled_dot_product_flash_attention_backward", kAttentionByPytorch, true,
     Layout::kHeadsFirst, 1, 10, 11},
    {"aten::_scaled_dot_product_efficient_attention", kAttentionByPytorch, false,
     Layout::kHeadsFirst, 0, 5, 6},
    {"aten::_scaled_dot_product_efficient_attention_backward", kAttentionByPytorch, true,
     Layout::kHeadsFirst, 1, 9, 11},
    {"aten::_scaled_dot_product_cudnn_attention", kAttentionByCudnn, false, Layout::kHeadsFirst, 0,
     5, 6},
    {"aten::_scaled_dot_product_cudnn_attention_backward", kAttentionByCudnn, true,
     Layout::kHeadsFirst, 1, 13, 14},
    {"aten::_flash_attention_forward", kAttentionByPytorch, false, Layout::kHeadsLast, 0, 7, 8, 3},
    {"aten::_flash_attention_backward", kAttentionByPytorch, true, Layout::kHeadsLast, 1, 10, 11,
     6},
    {"aten::_efficient_attention_forward", kAttentionByPytorch, false, Layout::kHeadsLast, 0, 8, 9,
     4},
    {"flash_attn::_flash_attn_forward", kAttentionByPytorch, false, Layout::kHeadsLast, 0, 3, 5},
    {"flash_attn::_flash_attn_backward", kAttentionByPytorch, true, Layout::kHeadsLast, 1, 9, 11},
    {"flash_attn::_flash_attn_varlen_forward", kAttentionByPytorch, false, Layout::kPacked, 0, 7, 9,
     3},
    {"flash_attn::_flash_attn_varlen_backward", kAttentionByPytorch, true, Layout::kPacked, 1, 13,
     15, 9},
    // No dropout: the index of a tensor, whose number is 0.
    {"flash_attn_3::fwd", kAttentionByFlash, false, Layout::kHeadsLast, 0, 0, 24, 7},
    {"flash_attn_3::bwd", kAttentionByFlash, true, Layout::kHeadsLast, 1, 1, 16, 9},
};

double NumberAt(const OperatorValues& values, size_t at) {
  return at < values.size() ? values[at].number : 0;
}

// FLOPs and bytes of fused attention.
void SetCosts(const submodule::Attention& work, Submodule* s) {
  const double share =
      work.causal ? 1 - 0.5 * static_cast<double>(work.sequence) / static_cast<double>(work.keys())
                  : 1;
  const double forward = 2.0 * static_cast<double>(work.batch * work.heads * work.sequence) *
                         static_cast<double>(work.keys()) * share *
                         static_cast<double>(work.head_dim + work.value_width());
  const bool is_backward = s->pass == Pass::kBackward;
  s->flops = is_backward ? 2.5 * forward : forward;
  const int64_t moved = work.batch * (work.sequence * work.heads + work.keys() * work.kv_heads) *
                        (work.head_dim + work.value_width());
  s->bytes = SizeOf(s->type) * moved * (is_backward ? 2 : 1);
}

// No model knows fused attention in fp32. It takes what its products take: two forward; backward
// five, of which it computes one again.
std::vector<Submodule> AttentionAsProducts(const submodule::Attention& work, const Submodule& s) {
  const int64_t seen =
      work.causal ? std::max<int64_t>(work.keys() - work.sequence / 2, 1) : work.keys();
  const auto product = [&](int64_t n, int64_t k) {
    submodule::GroupedLinear own;
    own.experts = work.batch * work.heads;
    own.rows = own.experts * work.sequence;
    own.n = n;
    own.k = k;
    own.one_kernel = true;
    Submodule part;
    part.pass = Pass::kForward;
    part.type = s.type;
    part.flops =
        2.0 * static_cast<double>(own.rows) * static_cast<double>(n) * static_cast<double>(k);
    part.work = own;
    return part;
  };
  const Submodule scores = product(seen, work.head_dim), values = product(work.value_width(), seen);
  std::vector<Submodule> parts = {scores, values};
  if (s.pass == Pass::kBackward) parts.insert(parts.end(), {scores, values, scores});
  parts.front().bytes = s.bytes;
  return parts;
}

bool HasModelOfAttention(DataType type) {
  return type == DataType::kFp16 || type == DataType::kBf16 || IsQuantized(type);
}

std::optional<Submodule> AttentionSubmodule(const AttentionOperator& op,
                                            const OperatorValues& arguments) {
  const size_t last = std::max({op.queries + 2, op.causal, op.dropout});
  if (arguments.size() <= last) return std::nullopt;
  const auto tensor = [&](size_t at) -> const TensorShape* {
    return arguments[at].is_tensor() ? &arguments[at].tensors.front() : nullptr;
  };
  const TensorShape *q = tensor(op.queries), *k = tensor(op.queries + 1),
                    *v = tensor(op.queries + 2);
  if (q == nullptr || k == nullptr || v == nullptr) return std::nullopt;
  submodule::Attention work;
  const bool is_packed = q->sizes.size() == 3;
  if (q->sizes.size() != (is_packed ? 3u : 4u) || k->sizes.size() != q->sizes.size() ||
      v->sizes.size() != q->sizes.size()) {
    return std::nullopt;
  }
  if (is_packed) {
    const TensorShape* starts = op.starts > 0 ? tensor(op.starts) : nullptr;
    if (starts == nullptr) return std::nullopt;
    work.batch = std::max<int64_t>(starts->elements() - 1, 1);
    work.sequence = q->sizes[0] / work.batch;
    work.kv_sequence = k->sizes[0] / work.batch;
    work.heads = q->sizes[1];
    work.kv_heads = k->sizes[1];
  } else {
    const size_t heads = op.layout == Layout::kHeadsFirst ? 1 : 2, tokens = 3 - heads;
    work.batch = q->sizes[0];
    work.sequence = q->sizes[tokens];
    work.kv_sequence = k->sizes[tokens];
    work.heads = q->sizes[heads];
    work.kv_heads = k->sizes[heads];
  }
  work.head_dim = q->sizes.back();
  work.value_dim = v->sizes.back();
  if (work.kv_sequence == work.sequence) work.kv_sequence = 0;
  if (work.value_dim == work.head_dim) work.value_dim = 0;
  work.causal = NumberAt(arguments, op.causal) != 0 && work.keys() >= work.sequence;
  work.dropout = NumberAt(arguments, op.dropout) > 0;
  work.fused = true;
  if (std::min({work.batch, work.sequence, work.heads, work.kv_heads, work.head_dim}) <= 0) {
    return std::nullopt;
  }
  Submodule s;
  s.pass = op.is_backward ? Pass::kBackward : Pass::kForward;
  s.type = q->type;
  SetCosts(work, &s);
  s.work = work;
  return s;
}

// Of tensors of the GPU.
Bytes SumOf(const OperatorValue& value) {
  Bytes sum;
  for (const TensorShape& tensor : value.tensors) {
    if (!tensor.on_host) sum += tensor.bytes();
  }
  return sum;
}

// From the value at `from` on.
Bytes SumOf(const OperatorValues& values, size_t from) {
  Bytes sum;
  for (size_t i = from; i < values.size(); ++i) sum += SumOf(values[i]);
  return sum;
}

// ---- Operators that work row by row -------------------------------------------------------

std::optional<Submodule> NormSubmodule(const OperatorValues& arguments, size_t input, size_t shape,
                                       size_t bias, bool is_backward, bool is_rms) {
  if (arguments.size() <= shape || !arguments[input].is_tensor()) return std::nullopt;
  const TensorShape& x = arguments[input].tensors.front();
  submodule::Norm work;
  work.n = 1;
  for (const int64_t size : arguments[shape].numbers) work.n *= size;
  if (x.on_host || work.n <= 0 || x.elements() < work.n) return std::nullopt;
  work.rows = x.elements() / work.n;
  work.rms = is_rms;
  work.fused = is_rms;  // PyTorch has one kernel for it
  work.bias = bias < arguments.size() && arguments[bias].is_tensor();
  Submodule s;
  s.pass = is_backward ? Pass::kBackward : Pass::kForward;
  s.type = x.type;
  s.bytes = x.bytes() * (is_backward ? 3 : 2);
  s.work = work;
  return s;
}

// Norms of Transformer Engine and Apex: functions on rows of the last dimension.
struct FusedNormFunction {
  size_t input;  // index of the argument
  bool is_backward, is_rms;
};
const std::map<std::string_view, FusedNormFunction> kFusedNorms = {
    {"transformer_engine_torch::layernorm_fwd", {0, false, false}},
    {"transformer_engine_torch::rmsnorm_fwd", {0, false, true}},
    {"transformer_engine_torch::layernorm_bwd", {1, true, false}},
    {"transformer_engine_torch::rmsnorm_bwd", {1, true, true}},
    {"fused_layer_norm_cuda::forward_affine", {0, false, false}},
    {"fused_layer_norm_cuda::rms_forward_affine", {0, false, true}},
    {"fused_layer_norm_cuda::forward_affine_mixed_dtypes", {0, false, false}},
    {"fused_layer_norm_cuda::rms_forward_affine_mixed_dtypes", {0, false, true}},
    {"fused_layer_norm_cuda::backward_affine", {0, true, false}},
    {"fused_layer_norm_cuda::rms_backward_affine", {0, true, true}},
    {"fast_layer_norm::ln_fwd", {0, false, false}},
    {"fast_layer_norm::ln_bwd", {0, true, false}},
};

std::optional<Submodule> FusedNorm(const OperatorValues& arguments,
                                   const FusedNormFunction& function) {
  if (arguments.size() <= function.input || !arguments[function.input].is_tensor()) {
    return std::nullopt;
  }
  const TensorShape& x = arguments[function.input].tensors.front();
  if (x.on_host || x.sizes.empty() || x.elements() == 0) return std::nullopt;
  submodule::Norm work;
  work.n = x.sizes.back();
  work.rows = x.elements() / work.n;
  work.fused = true;
  work.rms = function.is_rms;
  Submodule s;
  s.pass = function.is_backward ? Pass::kBackward : Pass::kForward;
  s.type = x.type;
  s.bytes = x.bytes() * (function.is_backward ? 3 : 2);
  s.work = work;
  return s;
}

std::optional<Submodule> EmbeddingSubmodule(const OperatorValues& arguments) {
  if (arguments.size() < 2 || !arguments[0].is_tensor() || !arguments[1].is_tensor()) {
    return std::nullopt;
  }
  const TensorShape &table = arguments[0].tensors.front(), &rows = arguments[1].tensors.front();
  if (table.on_host || table.sizes.size() != 2 || rows.elements() == 0) return std::nullopt;
  submodule::Embedding work;
  work.rows = rows.elements();
  work.k = table.sizes[0];
  work.n = table.sizes[1];
  if (work.k == 0 || work.n == 0) return std::nullopt;
  Submodule s;
  s.type = table.type;
  s.bytes = Bytes(2 * work.rows * work.n * table.element_bytes);
  s.work = work;
  return s;
}

// Zeroed gradients of the table, and gradients added to rows of it.
std::optional<Submodule> EmbeddingGradient(const OperatorValues& arguments) {
  if (arguments.size() < 3 || !arguments[0].is_tensor()) return std::nullopt;
  const TensorShape& gradient = arguments[0].tensors.front();
  if (gradient.on_host || gradient.sizes.empty()) return std::nullopt;
  const auto table = static_cast<int64_t>(arguments[2].number) * gradient.sizes.back();
  return TrafficSubmodule(
      gradient.bytes() * 3 + Bytes(std::max<int64_t>(table, 0) * gradient.element_bytes), true);
}

// Parameters, gradients and moments are lists of tensors; the first may be fp32 like the others.
std::optional<Submodule> AdamSubmodule(const OperatorRange& range) {
  const OperatorValues& lists = range.arguments;
  if (lists.size() < 4) return std::nullopt;
  submodule::Optimizer work;
  bool is_fp32 = true;
  for (size_t list = 0; list < 4; ++list) {
    for (const TensorShape& tensor : lists[list].tensors) {
      if (tensor.on_host) return std::nullopt;
      is_fp32 &= tensor.type == DataType::kFp32;
      if (list == 0) work.elements += tensor.elements();
    }
  }
  work.tensors = static_cast<int64_t>(lists[0].tensors.size());
  if (work.elements == 0) return std::nullopt;
  if (!is_fp32) {
    Bytes traffic;  // all are read, and all but the gradients written
    for (size_t list = 0; list < 4; ++list) traffic += SumOf(lists[list]) * (list == 1 ? 1 : 2);
    return TrafficSubmodule(traffic, false);
  }
  Submodule s;
  s.pass = Pass::kNone;
  s.type = DataType::kFp32;
  s.bytes = Bytes(work.elements * 28);
  s.work = work;
  return s;
}

const std::set<std::string_view> kAdam = {"aten::_fused_adam_", "aten::_fused_adamw_"};

// ---- Traffic ------------------------------------------------------------------------------

// Write their first argument without reading it.
const std::set<std::string_view> kOverwrites = {
    "aten::copy_",          "aten::fill_",          "aten::zero_",      "aten::normal_",
    "aten::uniform_",       "aten::random_",        "aten::bernoulli_", "aten::exponential_",
    "aten::_foreach_copy_", "aten::_foreach_zero_", "aten::arange"};
// Read as much of a table as they return.
const std::set<std::string_view> kPicks = {"aten::index", "aten::gather", "aten::index_select",
                                           "aten::take_along_dim", "aten::masked_select"};
// Change as much of their first argument as the values have that they put there.
const std::set<std::string_view> kPuts = {
    "aten::index_put_",  "aten::_index_put_impl_", "aten::index_add_",
    "aten::index_copy_", "aten::scatter_",         "aten::scatter_add_",
    "aten::index_add",   "aten::scatter_reduce_",  "aten::index_fill_"};

// Read or change one element of each row: as many as there are targets, the argument with this
// index.
const std::map<std::string_view, size_t> kOneOfRow = {{"aten::nll_loss_forward", 1},
                                                      {"aten::nll_loss_backward", 2},
                                                      {"aten::nll_loss2d_forward", 1},
                                                      {"aten::nll_loss2d_backward", 2}};

// Adam of Apex and Transformer Engine: lists of gradients, parameters and moments. All are read,
// and all but the gradients written.
bool IsMultiTensorAdam(std::string_view name) {
  return name.find("::multi_tensor_adam") != std::string_view::npos;
}

bool IsInPlace(std::string_view name) { return name.ends_with('_'); }
bool WorksOnLists(const OperatorRange& range) {
  return std::any_of(
      range.arguments.begin(), range.arguments.end(),
      [](const OperatorValue& value) { return value.kind == OperatorValue::Kind::kTensors; });
}

}  // namespace

LoggedProduct ProductOf(std::span<const int64_t> words) {
  LoggedProduct p;
  p.m = words[1];
  p.n = words[2];
  p.k = words[3];
  p.batch = words[4];
  p.transpose_a = words[5] != 0;
  p.transpose_b = words[6] != 0;
  p.type_a = static_cast<int>(words[7]);
  p.type_b = static_cast<int>(words[8]);
  p.type_d = static_cast<int>(words[10]);
  p.compute = static_cast<int>(words[11]);
  p.epilogue = static_cast<int>(words[12]);
  p.scales = static_cast<int>(words[13]);
  return p;
}

// A column-major m x n result is a row-major n x m one. PyTorch keeps weights as outputs x inputs:
// a product with a transposed weight (A) is a forward pass, with the weight as it is that of the
// input's gradient, and with a transposed gradient (B) that of the weight's gradient.
Submodule ProductSubmodule(const LoggedProduct& p, bool is_backward) {
  const double pairs = static_cast<double>(p.m) * static_cast<double>(p.n) *
                       static_cast<double>(p.k) * static_cast<double>(p.batch);
  if (const StatedOperand* operand = StatedOperandOf(p.type_a)) {
    // Products of integers are int32.
    const int64_t result = operand->type == DataType::kInt8 ? 4 : operand->bytes;
    const Bytes bytes(p.batch * (operand->bytes * (p.m * p.k + p.n * p.k) + result * p.m * p.n));
    return AtStatedRate(*operand, pairs, bytes, is_backward);
  }
  Submodule s;
  s.type = TypeOf(p);
  s.flops = 2.0 * pairs;
  const double element = OperandBytes(s.type);
  const double result = p.type_d == kFp32 ? 4 : 2;
  s.bytes = Bytes(static_cast<int64_t>(static_cast<double>(p.batch) *
                                       (element * static_cast<double>(p.m * p.k + p.n * p.k) +
                                        result * static_cast<double>(p.m * p.n))));
  if (p.batch > 1) {
    submodule::GroupedLinear work;
    work.experts = p.batch;
    work.rows = p.batch * p.n;
    work.n = p.m;
    work.k = p.k;
    work.one_kernel = true;
    work.fp8_input = work.fp8_gradient = IsQuantized(s.type);  // other kernels quantize
    s.pass = Pass::kForward;
    s.work = work;
    return s;
  }
  // In fp8, Hopper multiplies only with A transposed and B not, whatever the product is for. Only
  // gradients of weights are summed in fp32.
  const bool sums_gradients = p.type_d == kFp32 && p.type_a != kFp32;
  submodule::Linear work;
  work.row_scales = p.scales == kOfRows;
  if (!is_backward) {
    s.pass = Pass::kForward;
    work.rows = p.n;
    work.n = p.m;
    work.k = p.k;
    work.bias = work.fused = (p.epilogue & kEpilogueBias) != 0 && (p.epilogue & kBgradBits) == 0;
    work.fp8_input = IsQuantized(s.type);
  } else if ((p.transpose_b && !p.transpose_a) || sums_gradients) {
    s.pass = Pass::kBackwardWeight;
    work.n = p.n;
    work.k = p.m;
    work.rows = p.k;
    work.accumulate_fp32 = sums_gradients;
  } else {
    s.pass = Pass::kBackwardActivation;
    work.rows = p.n;
    work.k = p.m;
    work.n = p.k;
    work.fp8_gradient = IsQuantized(s.type);
  }
  s.work = work;
  return s;
}

Submodule LoggedAttention(std::span<const int64_t> words) {
  submodule::Attention work;
  work.batch = words[2];
  work.heads = words[3];
  work.kv_heads = words[4];
  work.sequence = words[5];
  work.kv_sequence = words[6] == words[5] ? 0 : words[6];
  work.head_dim = words[7];
  work.value_dim = words[8] == words[7] ? 0 : words[8];
  work.causal = words[10] != 0 && work.keys() >= work.sequence;
  work.dropout = words[11] != 0;
  work.fused = true;
  LoggedProduct of_type;
  of_type.type_a = static_cast<int>(words[9]);
  Submodule s;
  s.pass = words[1] != 0 ? Pass::kBackward : Pass::kForward;
  s.type = TypeOf(of_type);
  SetCosts(work, &s);
  s.work = work;
  return s;
}

Submodule LoggedConvolution(std::span<const int64_t> words) {
  enum Direction : int64_t { kForward, kDataGradient, kWeightGradient };
  const int64_t direction = words[1], batch = words[2], groups = std::max<int64_t>(words[3], 1);
  const int64_t inputs = words[4] / groups, outputs = words[5] / groups;
  const int64_t in = words[7] * words[8] * words[9], out = words[19] * words[20] * words[21];
  const int64_t taps = words[10] * words[11] * words[12];
  LoggedProduct of_type;
  of_type.type_a = static_cast<int>(words[22]);
  of_type.compute = static_cast<int>(words[24]);
  const DataType type = TypeOf(of_type);
  const int64_t moved =
      batch * groups * (in * inputs + out * outputs) + groups * taps * inputs * outputs;
  const StatedOperand* operand = StatedOperandOf(of_type.type_a);
  const Bytes element = operand != nullptr ? Bytes(operand->bytes) : SizeOf(type);
  const Bytes bytes = element * moved + Bytes(words[26]);
  const bool is_backward = direction != kForward;
  if (std::min({batch, inputs, outputs, in, out, taps}) <= 0 ||
      (groups > 1 && std::min(inputs, outputs) < kNarrow)) {
    return TrafficSubmodule(bytes, is_backward);
  }
  const double pairs = static_cast<double>(batch * out) * static_cast<double>(groups * outputs) *
                       static_cast<double>(inputs * taps);
  if (operand != nullptr) return AtStatedRate(*operand, pairs, bytes, is_backward);
  Submodule s;
  s.type = type;
  s.bytes = bytes;
  s.flops = 2.0 * pairs;
  // Rows are the places of the larger of x and y that the kernel goes over.
  int64_t rows = batch * out, n = outputs, k = inputs * taps;
  if (direction == kDataGradient) {
    rows = batch * in;
    k = inputs;
    // With a stride, a place of x takes part in some of the taps only.
    n = std::max<int64_t>(outputs * taps * out / in, 1);
  }
  s.pass = direction == kForward        ? Pass::kForward
           : direction == kDataGradient ? Pass::kBackwardActivation
                                        : Pass::kBackwardWeight;
  if (groups == 1) {
    submodule::Linear work;
    work.rows = rows;
    work.n = n;
    work.k = k;
    s.work = work;
  } else {
    submodule::GroupedLinear work;
    work.rows = rows * groups;
    work.n = n;
    work.k = k;
    work.experts = groups;
    work.one_kernel = true;
    s.work = work;
  }
  return s;
}

bool IsKnownOperator(std::string_view name) {
  static const std::set<std::string_view> known = [] {
    std::set<std::string_view> names = {
        "aten::native_layer_norm", "aten::native_layer_norm_backward",
        "aten::_fused_rms_norm",   "aten::_fused_rms_norm_backward",
        "aten::embedding",         "aten::embedding_dense_backward"};
    names.insert(kAdam.begin(), kAdam.end());
    for (const AttentionOperator& op : kAttention) names.insert(op.name);
    for (const auto& [name, _] : kFusedNorms) names.insert(name);
    return names;
  }();
  return known.count(name) != 0;
}

std::vector<Submodule> KnownSubmodules(const OperatorRange& range) {
  const OperatorValues& arguments = range.arguments;
  std::optional<Submodule> found;
  for (const AttentionOperator& op : kAttention) {
    if (op.name == range.name) found = AttentionSubmodule(op, arguments);
  }
  if (range.name == "aten::native_layer_norm") {
    found = NormSubmodule(arguments, 0, 1, 3, false, false);
  } else if (range.name == "aten::native_layer_norm_backward") {
    found = NormSubmodule(arguments, 1, 2, 6, true, false);
  } else if (range.name == "aten::_fused_rms_norm") {
    found = NormSubmodule(arguments, 0, 1, arguments.size(), false, true);
  } else if (range.name == "aten::_fused_rms_norm_backward") {
    found = NormSubmodule(arguments, 1, 2, arguments.size(), true, true);
  } else if (const auto it = kFusedNorms.find(range.name); it != kFusedNorms.end()) {
    found = FusedNorm(arguments, it->second);
  } else if (range.name == "aten::embedding") {
    found = EmbeddingSubmodule(arguments);
  } else if (range.name == "aten::embedding_dense_backward") {
    found = EmbeddingGradient(arguments);
  } else if (kAdam.count(range.name) != 0) {
    found = AdamSubmodule(range);
  }
  if (!found) return {};
  const auto* attention = found->As<submodule::Attention>();
  if (attention != nullptr && found->type == DataType::kFp64) {
    found->work = submodule::FlopsAndBytes{};
  } else if (attention != nullptr && !HasModelOfAttention(found->type)) {
    return AttentionAsProducts(*attention, *found);
  }
  return {*found};
}

const char* AttentionBackendOf(std::string_view name) {
  for (const AttentionOperator& op : kAttention) {
    if (op.name == name) return op.backend;
  }
  return nullptr;
}

Bytes TrafficOf(const OperatorRange& range, const OperatorValues& outputs) {
  const OperatorValues& arguments = range.arguments;
  const Bytes returned = SumOf(outputs, 0);
  if (arguments.empty()) return returned;
  if (const auto it = kOneOfRow.find(range.name);
      it != kOneOfRow.end() && it->second < arguments.size()) {
    return SumOf(arguments[it->second]) * 2;
  }
  if (IsMultiTensorAdam(range.name)) {
    Bytes gradients, all;
    bool is_first = true;
    for (const OperatorValue& value : arguments) {
      if (value.kind != OperatorValue::Kind::kTensors) continue;
      all += SumOf(value);
      if (std::exchange(is_first, false)) gradients = SumOf(value);
    }
    return all * 2 - gradients;
  }
  if (kPicks.count(range.name) != 0) return returned * 2 + SumOf(arguments, 1);
  if (kPuts.count(range.name) != 0) return SumOf(arguments, 1) * 3;
  if (kOverwrites.count(range.name) != 0) return SumOf(arguments, 0);
  // What works in place returns its first argument, or nothing if that is a list.
  if (IsInPlace(range.name)) return SumOf(arguments, 0) + SumOf(arguments[0]);
  return SumOf(arguments, 0) + returned;
}

std::vector<Bytes> DealOut(const OperatorRange& range, Bytes traffic,
                           std::span<const int64_t> blocks) {
  int64_t whole = 0;
  if (WorksOnLists(range)) {
    for (const int64_t own : blocks) whole += own;
  } else if (!blocks.empty()) {
    whole = *std::max_element(blocks.begin(), blocks.end());
  }
  std::vector<Bytes> parts;
  for (const int64_t own : blocks) {
    const double share =
        static_cast<double>(own) / static_cast<double>(std::max<int64_t>(whole, 1));
    parts.emplace_back(std::llround(static_cast<double>(traffic.count()) * share));
  }
  return parts;
}

// A sum of one operand, in and out, is a kernel that reads and writes 16 bits of each element.
Submodule TrafficSubmodule(Bytes traffic, bool is_backward) {
  submodule::Add work;
  work.rows = 1;
  work.n = std::max<int64_t>((traffic.count() + 3) / 4, 1);
  work.summands = 1;
  Submodule s;
  s.pass = is_backward ? Pass::kBackward : Pass::kForward;
  s.type = DataType::kBf16;
  s.bytes = traffic;
  s.work = work;
  return s;
}

}  // namespace drydock::capture
