// Memory-bound kernels that reduce rows: norms, softmax, maxima. A row stays in the registers of
// its threads, so the kernel reads it once.
#include <algorithm>
#include <type_traits>

#include "compute-sim/measure/measure_rowwise.cuh"

namespace drydock {
namespace {

constexpr float kLeast = -3.4e38f;

struct Add {
  static constexpr float kNothing = 0;
  __device__ static float Of(float a, float b) { return a + b; }
};
struct Most {
  static constexpr float kNothing = kLeast;
  __device__ static float Of(float a, float b) { return fmaxf(a, b); }
};

// Reduces over the threads of a row: a warp, or the whole block.
template <class Op>
__device__ float OverRow(float x) {
  for (int lanes = 16; lanes > 0; lanes /= 2) {
    x = Op::Of(x, __shfl_xor_sync(0xffffffffu, x, lanes));
  }
  if (blockDim.x <= 32) return x;
  __shared__ float warps[32];
  __syncthreads();  // other threads may still read the previous reduction
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = x;
  __syncthreads();
  x = threadIdx.x % 32 < blockDim.x / 32 ? warps[threadIdx.x % 32] : Op::kNothing;
  for (int lanes = 16; lanes > 0; lanes /= 2) {
    x = Op::Of(x, __shfl_xor_sync(0xffffffffu, x, lanes));
  }
  return x;
}

// This thread's part of a row: packs threadIdx.x, threadIdx.x + blockDim.x, ... below `end`.
template <int kPacks>
struct Part {
  Pack packs[kPacks];

  template <class T>
  __device__ void LoadRow(const T* row, int64_t end, float rest) {
#pragma unroll
    for (int i = 0; i < kPacks; ++i) {
      const int64_t at = threadIdx.x + int64_t{i} * blockDim.x;
      if (at < end) {
        packs[i] = Load(row, at);
      } else {
        for (float& x : packs[i].v) x = rest;
      }
    }
  }
  template <class T>
  __device__ void StoreRow(T* row, int64_t end) const {
#pragma unroll
    for (int i = 0; i < kPacks; ++i) {
      const int64_t at = threadIdx.x + int64_t{i} * blockDim.x;
      if (at < end) Store(row, at, packs[i]);
    }
  }
  template <class Function>
  __device__ void Each(const Function& function) {
#pragma unroll
    for (int i = 0; i < kPacks; ++i) {
#pragma unroll
      for (int j = 0; j < kPack; ++j) function(packs[i].v[j], i, j);
    }
  }
};

template <class In, class Out, int kPacks>
struct Norm {
  __device__ static void Row(const RowStreams& s, int64_t row) {
    const int64_t end = s.columns / kPack;
    Part<kPacks> x;
    x.LoadRow(s.In<In>(0, row), end, 0);
    float sum = 0, squares = 0;
    x.Each([&](float v, int, int) { sum += v, squares += v * v; });
    const float mean = OverRow<Add>(sum) / s.columns;
    const float variance = OverRow<Add>(squares) / s.columns - mean * mean;
    const float scale = rsqrtf(fmaxf(variance, 0) + 1e-5f);
    x.Each([&](float& v, int, int) { v = (v - mean) * scale; });
    x.StoreRow(s.Out<Out>(row), end);
  }
};

// The gradient of the input, from the gradient of the result and the input.
template <class In, class Out, int kPacks>
struct NormBackward {
  __device__ static void Row(const RowStreams& s, int64_t row) {
    const int64_t end = s.columns / kPack;
    Part<kPacks> dy, x;
    dy.LoadRow(s.In<In>(0, row), end, 0);
    x.LoadRow(s.In<In>(1, row), end, 0);
    float sum = 0, products = 0;
    dy.Each([&](float v, int i, int j) { sum += v, products += v * x.packs[i].v[j]; });
    const float mean = OverRow<Add>(sum) / s.columns;
    const float slope = OverRow<Add>(products) / s.columns;
    dy.Each([&](float& v, int i, int j) { v -= mean + x.packs[i].v[j] * slope; });
    dy.StoreRow(s.Out<Out>(row), end);
  }
};

// The number of columns of a row that count; under a causal mask, those up to the row's query.
__device__ int64_t Seen(const RowStreams& s, int64_t row) {
  return s.causal ? (row % s.columns) / kPack + 1 : s.columns / kPack;
}

template <class In, class Out, int kPacks>
struct Softmax {
  __device__ static void Row(const RowStreams& s, int64_t row) {
    Part<kPacks> x;
    x.LoadRow(s.In<In>(0, row), Seen(s, row), kLeast);
    float most = kLeast, sum = 0;
    x.Each([&](float v, int, int) { most = fmaxf(most, v); });
    most = OverRow<Most>(most);
    x.Each([&](float& v, int, int) {
      v = __expf(v - most);
      sum += v;
    });
    const float scale = 1 / OverRow<Add>(sum);
    x.Each([&](float& v, int, int) { v *= scale; });
    x.StoreRow(s.Out<Out>(row), s.columns / kPack);  // also the zeros behind the mask
  }
};

template <class In, class Out, int kPacks>
struct SoftmaxBackward {
  __device__ static void Row(const RowStreams& s, int64_t row) {
    const int64_t end = Seen(s, row);
    Part<kPacks> dy, y;
    dy.LoadRow(s.In<In>(0, row), end, 0);
    y.LoadRow(s.In<In>(1, row), end, 0);
    float products = 0;
    dy.Each([&](float v, int i, int j) { products += v * y.packs[i].v[j]; });
    const float sum = OverRow<Add>(products);
    dy.Each([&](float& v, int i, int j) { v = (v - sum) * y.packs[i].v[j]; });
    dy.StoreRow(s.Out<Out>(row), s.columns / kPack);
  }
};

// The bound on threads is a bound on registers: with up to 512 threads, two operands of 32 elements
// a thread fit.
template <class Body, int kThreads>
__global__ void __launch_bounds__(kThreads) ForEachRow(const RowStreams streams) {
  const int64_t row = int64_t{blockIdx.x} * blockDim.y + threadIdx.y;
  if (row < streams.rows) Body::Row(streams, row);
}

// The maximum of each row, of any length.
template <class T>
__global__ void __launch_bounds__(1024) RowMaximum(const RowStreams s) {
  const int64_t row = int64_t{blockIdx.x} * blockDim.y + threadIdx.y;
  if (row >= s.rows) return;
  float most = kLeast;
  for (int64_t i = threadIdx.x; i < s.columns / kPack; i += blockDim.x) {
    const Pack p = Load(s.In<T>(0, row), i);
    for (const float v : p.v) most = fmaxf(most, v);
  }
  most = OverRow<Most>(most);
  if (threadIdx.x == 0) static_cast<float*>(s.out)[row] = most;
}

// One warp for each short row, with several rows in a block. Otherwise one block for each row, with
// as many threads as give each thread `packs` packs.
dim3 ThreadsFor(int64_t columns, int packs) {
  const int64_t threads = (columns / kPack + packs - 1) / packs;
  const unsigned warps = static_cast<unsigned>(std::clamp<int64_t>((threads + 31) / 32, 1, 32));
  return {warps * 32, warps == 1 ? 4u : 1u, 1};
}

template <template <class, class, int> class Body, class In, class Out>
void LaunchRows(const RowStreams& s) {
  const int64_t packs = s.columns / kPack;
  const auto launch = [&](auto body, auto max_threads, int each) {
    const dim3 threads = ThreadsFor(s.columns, each);
    const unsigned blocks = static_cast<unsigned>((s.rows + threads.y - 1) / threads.y);
    ForEachRow<decltype(body), decltype(max_threads)::value><<<blocks, threads>>>(s);
  };
  constexpr std::integral_constant<int, 512> kFew;
  constexpr std::integral_constant<int, 1024> kMany;
  if (packs <= 256)
    launch(Body<In, Out, 1>(), kFew, 1);
  else if (packs <= 1024)
    launch(Body<In, Out, 2>(), kFew, 2);
  else if (packs <= 2048)
    launch(Body<In, Out, 4>(), kFew, 4);
  else
    launch(Body<In, Out, 8>(), kMany, 8);
}

template <class T>
void LaunchMaximum(const RowStreams& s) {
  const dim3 threads = ThreadsFor(s.columns, 4);
  RowMaximum<T><<<static_cast<unsigned>((s.rows + threads.y - 1) / threads.y), threads>>>(s);
}

template <class T>
const std::vector<RowKind>& Kinds() {
  using K = KernelKind;
  static const std::vector<RowKind> kinds = {
      {K::kLayerNorm, 4000, {2}, 2, false, LaunchRows<Norm, T, T>},
      {K::kFusedNorm, 4000, {2}, 2, false, LaunchRows<Norm, T, T>},
      {K::kLayerNormBackward, 6000, {2, 2}, 2, false, LaunchRows<NormBackward, T, T>},
      {K::kFusedNormBackward, 6000, {2, 2}, 2, false, LaunchRows<NormBackward, T, T>},
      {K::kSoftmax, 4000, {2}, 2, false, LaunchRows<Softmax, T, T>},
      {K::kSoftmax, 6000, {2}, 4, false, LaunchRows<Softmax, T, float>},
      {K::kSoftmaxBackward, 6000, {2, 2}, 2, false, LaunchRows<SoftmaxBackward, T, T>},
      {K::kSoftmaxBackward, 10000, {4, 4}, 2, false, LaunchRows<SoftmaxBackward, float, T>},
      {K::kCausalSoftmax, 3000, {2}, 2, true, LaunchRows<Softmax, T, T>},
      {K::kCausalSoftmaxBackward, 4000, {2, 2}, 2, true, LaunchRows<SoftmaxBackward, T, T>},
      {K::kRowReduce, 2000, {2}, 0, false, LaunchMaximum<T>},
      {K::kRowReduce, 4000, {4}, 0, false, LaunchMaximum<float>},
  };
  return kinds;
}

}  // namespace

const RowKind* FindReducingKind(const Kernel& kernel) {
  const auto& kinds = kernel.type == DataType::kBf16 ? Kinds<__nv_bfloat16>() : Kinds<__half>();
  for (const RowKind& kind : kinds) {
    if (kind.kind == kernel.kind && kind.milli_bytes == MilliBytesPerElement(kernel)) return &kind;
  }
  return nullptr;
}

}  // namespace drydock
