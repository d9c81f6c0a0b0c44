#include "capture/kernels/products.h"

#include <algorithm>

#include "capture/kernels/traffic.h"

namespace drydock::capture {
namespace {

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

}  // namespace

DataType TypeOfProduct(const LoggedProduct& p) {
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
  s.type = TypeOfProduct(p);
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

Submodule LoggedConvolution(std::span<const int64_t> words) {
  enum Direction : int64_t { kForward, kDataGradient, kWeightGradient };
  const int64_t direction = words[1], batch = words[2], groups = std::max<int64_t>(words[3], 1);
  const int64_t inputs = words[4] / groups, outputs = words[5] / groups;
  const int64_t in = words[7] * words[8] * words[9], out = words[19] * words[20] * words[21];
  const int64_t taps = words[10] * words[11] * words[12];
  LoggedProduct of_type;
  of_type.type_a = static_cast<int>(words[22]);
  of_type.compute = static_cast<int>(words[24]);
  const DataType type = TypeOfProduct(of_type);
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

}  // namespace drydock::capture
