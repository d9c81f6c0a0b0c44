// Memory-bound kernels that sum columns or all elements, move rows by an index, or transpose.
#include <cuda_fp8.h>

#include <algorithm>
#include <cmath>

#include "compute-sim/measure/measure_rowwise.cuh"

namespace drydock {
namespace {

constexpr int kColumnThreads = 32, kRowThreads = 8, kTile = 64;

// Sums of the columns of one or two operands: a block sums 256 columns of every gridDim.y-th group
// of rows and adds its sums to the result.
template <class T, int kOperands>
__global__ void __launch_bounds__(256) ColumnSums(const RowStreams s) {
  const int64_t pack = int64_t{blockIdx.x} * kColumnThreads + threadIdx.x;
  const bool in_range = pack < s.columns / kPack;
  Pack sums[kOperands] = {};
  for (int64_t row = int64_t{blockIdx.y} * kRowThreads + threadIdx.y; in_range && row < s.rows;
       row += int64_t{gridDim.y} * kRowThreads) {
    for (int i = 0; i < kOperands; ++i) {
      const Pack p = Load(s.In<T>(i, row), pack);
      for (int j = 0; j < kPack; ++j) sums[i].v[j] += p.v[j];
    }
  }
  __shared__ float parts[kRowThreads][kColumnThreads];
  for (int i = 0; i < kOperands; ++i) {
    for (int j = 0; j < kPack; ++j) {
      parts[threadIdx.y][threadIdx.x] = sums[i].v[j];
      __syncthreads();
      if (threadIdx.y == 0 && in_range) {
        float sum = 0;
        for (int y = 0; y < kRowThreads; ++y) sum += parts[y][threadIdx.x];
        float* to = static_cast<float*>(s.second_out) + i * s.columns;
        atomicAdd(to + pack * kPack + j, sum);
      }
      __syncthreads();
    }
  }
}

template <class T, int kOperands>
void LaunchColumnSums(const RowStreams& s) {
  const int64_t packs = s.columns / kPack;
  const unsigned across = static_cast<unsigned>((packs + kColumnThreads - 1) / kColumnThreads);
  const int64_t down = std::clamp<int64_t>(s.rows / (kRowThreads * 8), 1, 1 + 2048 / across);
  ColumnSums<T, kOperands>
      <<<dim3(across, static_cast<unsigned>(down)), dim3(kColumnThreads, kRowThreads)>>>(s);
}

template <class T>
__global__ void __launch_bounds__(256) SquareSum(const RowStreams s, const int64_t packs) {
  float sum = 0;
  const int64_t step = int64_t{gridDim.x} * blockDim.x;
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < packs; i += step) {
    const Pack p = Load(static_cast<const T*>(s.in[0]), i);
    for (const float v : p.v) sum += v * v;
  }
  for (int lanes = 16; lanes > 0; lanes /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, lanes);
  if (threadIdx.x % 32 == 0) atomicAdd(static_cast<float*>(s.second_out), sum);
}

template <class T>
void LaunchSquareSum(const RowStreams& s) {
  const int64_t packs = s.rows * s.columns / kPack;
  SquareSum<T><<<static_cast<unsigned>(std::clamp<int64_t>(packs / 256, 1, 2048)), 256>>>(s, packs);
}

// Row i of the result is row index[i] of the operand. One warp for each row.
template <class T>
__global__ void __launch_bounds__(256) Gather(const RowStreams s) {
  const int64_t row = int64_t{blockIdx.x} * kRowThreads + threadIdx.y;
  if (row >= s.rows) return;
  const auto* from = reinterpret_cast<const uint4*>(s.In<T>(0, s.index[row]));
  auto* to = reinterpret_cast<uint4*>(s.Out<T>(row));
  for (int64_t i = threadIdx.x; i < s.columns / kPack; i += kColumnThreads) to[i] = from[i];
}

// Row i of the result is the sum of `copies` rows of the operand.
template <class T>
__global__ void __launch_bounds__(256) GatherSum(const RowStreams s) {
  const int64_t row = int64_t{blockIdx.x} * kRowThreads + threadIdx.y;
  if (row >= s.rows / s.copies) return;
  for (int64_t i = threadIdx.x; i < s.columns / kPack; i += kColumnThreads) {
    Pack sum = {};
    for (int64_t c = 0; c < s.copies; ++c) {
      const Pack p = Load(s.In<T>(0, s.index[row * s.copies + c]), i);
      for (int j = 0; j < kPack; ++j) sum.v[j] += p.v[j];
    }
    Store(s.Out<T>(row), i, sum);
  }
}

unsigned BlocksFor(int64_t rows) {
  return static_cast<unsigned>((rows + kRowThreads - 1) / kRowThreads);
}
template <class T>
void LaunchGather(const RowStreams& s) {
  Gather<T><<<BlocksFor(s.rows), dim3(kColumnThreads, kRowThreads)>>>(s);
}
template <class T>
void LaunchGatherSum(const RowStreams& s) {
  GatherSum<T><<<BlocksFor(s.rows / s.copies), dim3(kColumnThreads, kRowThreads)>>>(s);
}

struct Bytes8 {
  uint8_t v[kPack];
};

// Converts to fp8, with and without transposing; one block for each tile of 64 x 64.
template <class T>
__global__ void __launch_bounds__(256) Quantize(const RowStreams s) {
  __shared__ uint8_t tile[kTile][kTile + 4];
  const int64_t row0 = int64_t{blockIdx.y} * kTile, column0 = int64_t{blockIdx.x} * kTile;
  const int packs = kTile / kPack;
  for (int i = threadIdx.x; i < kTile * packs; i += blockDim.x) {
    const int row = i / packs, pack = i % packs;
    const Pack p = Load(s.In<T>(0, row0 + row), column0 / kPack + pack);
    Bytes8 bytes;
    for (int j = 0; j < kPack; ++j) {
      bytes.v[j] = __nv_cvt_float_to_fp8(p.v[j] * 16, __NV_SATFINITE, __NV_E4M3);
      tile[pack * kPack + j][row] = bytes.v[j];
    }
    *reinterpret_cast<uint2*>(s.Out<uint8_t>(row0 + row) + column0 + pack * kPack) =
        *reinterpret_cast<const uint2*>(&bytes);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < kTile * packs; i += blockDim.x) {
    const int column = i / packs, pack = i % packs;
    Bytes8 bytes;
    for (int j = 0; j < kPack; ++j) bytes.v[j] = tile[column][pack * kPack + j];
    auto* to = static_cast<uint8_t*>(s.second_out) + (column0 + column) * s.rows + row0;
    *reinterpret_cast<uint2*>(to + pack * kPack) = *reinterpret_cast<const uint2*>(&bytes);
  }
}

template <class T>
void LaunchQuantize(const RowStreams& s) {
  Quantize<T>
      <<<dim3(static_cast<unsigned>(s.columns / kTile), static_cast<unsigned>(s.rows / kTile)),
         256>>>(s);
}

template <class T>
const std::vector<RowKind>& Kinds() {
  using K = KernelKind;
  static const std::vector<RowKind> kinds = {
      {K::kBiasGradient, 2000, {2}, 0, false, LaunchColumnSums<T, 1>},
      {K::kNormParameters, 4000, {2, 2}, 0, false, LaunchColumnSums<T, 2>},
      {K::kNormParameters, 8000, {4, 4}, 0, false, LaunchColumnSums<float, 2>},
      {K::kSquareSum, 2000, {2}, 0, false, LaunchSquareSum<T>},
      {K::kEmbedding, 4000, {2}, 2, false, LaunchGather<T>},
      {K::kPermute, 0, {2}, 2, false, LaunchGather<T>},
      {K::kUnpermute, 0, {2}, 2, false, LaunchGatherSum<T>},
      {K::kQuantize, 4000, {2}, 1, false, LaunchQuantize<T>},
  };
  return kinds;
}

// The number of copies of each row, from a traffic of 2 B + 2 B / copies an element.
int64_t CopiesOf(const Kernel& kernel) {
  if (kernel.kind != KernelKind::kPermute && kernel.kind != KernelKind::kUnpermute) return 1;
  const double shared = static_cast<double>(MilliBytesPerElement(kernel) - 2000);
  return std::max<int64_t>(1, std::llround(2000 / shared));
}

class Rowwise : public Launchable {
 public:
  Rowwise(const RowKind& kind, const Kernel& kernel) : kind_(kind) {
    streams_.rows = kernel.dims[0];
    streams_.columns = kernel.dims[1];
    streams_.copies = CopiesOf(kernel);
    streams_.causal = kind.causal;
  }

  bool Prepare() {
    const size_t elements = static_cast<size_t>(streams_.rows * streams_.columns) + kPack;
    for (size_t i = 0; i < kind_.in.size(); ++i) {
      if (kind_.in[i] > 0 && !in_[i].Allocate(elements * kind_.in[i])) return false;
      streams_.in[i] = in_[i].get();
    }
    const size_t sums = std::max<size_t>(streams_.rows, 2 * streams_.columns) * sizeof(float);
    if (!out_.Allocate(kind_.out > 0 ? elements * kind_.out : sums)) return false;
    if (!second_.Allocate(kind_.out == 1 ? elements : sums)) return false;
    streams_.out = out_.get();
    streams_.second_out = second_.get();
    return kind_.milli_bytes != 0 && kind_.kind != KernelKind::kEmbedding ? true : MakeIndex();
  }

  bool Launch() override {
    kind_.launch(streams_);
    return cudaGetLastError() == cudaSuccess;
  }

 private:
  // An index with every row once, or `copies` times, in a fixed order without a pattern.
  bool MakeIndex() {
    std::vector<int32_t> index(static_cast<size_t>(streams_.rows));
    const bool sums = kind_.kind == KernelKind::kUnpermute;
    int64_t step = streams_.rows * 5 / 8 | 1;
    while (Divisor(step, streams_.rows) != 1) step += 2;
    for (int64_t i = 0; i < streams_.rows; ++i) {
      const int64_t at =
          static_cast<int64_t>(static_cast<unsigned __int128>(i) * step % streams_.rows);
      index[static_cast<size_t>(i)] = static_cast<int32_t>(sums ? at : at / streams_.copies);
    }
    const size_t bytes = index.size() * sizeof(int32_t);
    if (!index_.Allocate(bytes)) return false;
    streams_.index = static_cast<const int32_t*>(index_.get());
    return cudaMemcpy(index_.get(), index.data(), bytes, cudaMemcpyHostToDevice) == cudaSuccess;
  }
  static int64_t Divisor(int64_t a, int64_t b) { return b == 0 ? a : Divisor(b, a % b); }

  const RowKind kind_;
  RowStreams streams_ = {};
  Buffer in_[2], out_, second_, index_;
};

}  // namespace

const RowKind* FindMovingKind(const Kernel& kernel) {
  const auto& kinds = kernel.type == DataType::kBf16 ? Kinds<__nv_bfloat16>() : Kinds<__half>();
  for (const RowKind& kind : kinds) {
    const bool any = kind.milli_bytes == 0;
    if (kind.kind == kernel.kind && (any || kind.milli_bytes == MilliBytesPerElement(kernel))) {
      return &kind;
    }
  }
  return nullptr;
}

std::unique_ptr<Launchable> MakeRowwise(const Kernel& kernel, std::string* error) {
  const RowKind* kind = FindReducingKind(kernel);
  if (kind == nullptr) kind = FindMovingKind(kernel);
  if (kind == nullptr) {
    *error = kNoKernel;
    return nullptr;
  }
  auto made = std::make_unique<Rowwise>(*kind, kernel);
  if (made->Prepare()) return made;
  *error = kNoMemory;
  return nullptr;
}

}  // namespace drydock
