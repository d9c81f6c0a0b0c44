// Element-wise memory-bound kernels. kRows lists the operands that each reads and writes; a functor
// of eight elements computes.
#include <algorithm>
#include <array>
#include <cmath>

#include "compute-sim/measure/measure_launch.cuh"

namespace drydock {
namespace {

// Operands in the order of the row's sizes; `vector` has a value for each column.
struct Streams {
  void* in[4];
  void* out[3];
  const float* vector;
  int64_t columns;

  // The index within a row of the pack of columns that `pack` covers.
  __device__ int64_t ColumnPack(int64_t pack) const { return pack * kPack % columns / kPack; }
};

template <class Body>
__global__ void __launch_bounds__(256) ForEachPack(const Body body, const int64_t packs) {
  const int64_t step = int64_t{gridDim.x} * blockDim.x;
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < packs; i += step) body(i);
}

template <class T>
__device__ const T* In(const Streams& s, int i) {
  return static_cast<const T*>(s.in[i]);
}
template <class T>
__device__ T* Out(const Streams& s, int i) {
  return static_cast<T*>(s.out[i]);
}

// A byte that is 0 for one element in ten, by the index of the element.
__device__ float KeptAt(int64_t element) {
  uint32_t x = static_cast<uint32_t>(element) * 0x9e3779b9u + static_cast<uint32_t>(element >> 32);
  x = (x ^ (x >> 16)) * 0x85ebca6bu;
  x = (x ^ (x >> 13)) * 0xc2b2ae35u;
  return (x >> 16) % 10 == 0 ? 0.0f : 1.0f;
}

__device__ float Gelu(float x) {
  return 0.5f * x * (1 + tanhf(0.7978845608f * (x + 0.044715f * x * x * x)));
}
__device__ float GeluSlope(float x) {
  const float t = tanhf(0.7978845608f * (x + 0.044715f * x * x * x));
  const float inner = 0.7978845608f * (1 + 3 * 0.044715f * x * x);
  return 0.5f * (1 + t) + 0.5f * x * (1 - t * t) * inner;
}
__device__ float Sigmoid(float x) { return 1 / (1 + __expf(-x)); }

// One operand in, one out.
template <class From, class To, class Function>
struct Map : Streams {
  __device__ void operator()(int64_t i) const {
    Pack p = Load(In<From>(*this, 0), i);
    for (float& x : p.v) x = Function::Of(x);
    Store(Out<To>(*this, 0), i, p);
  }
};
struct Same {
  __device__ static float Of(float x) { return x; }
};
struct Scaled {
  __device__ static float Of(float x) { return x * 0.125f; }
};
struct GeluOf {
  __device__ static float Of(float x) { return Gelu(x); }
};

// Two operands in, one out.
template <class A, class B, class To, class Function>
struct Zip : Streams {
  __device__ void operator()(int64_t i) const {
    Pack p = Load(In<A>(*this, 0), i);
    const Pack q = Load(In<B>(*this, 1), i);
    for (int j = 0; j < kPack; ++j) p.v[j] = Function::Of(p.v[j], q.v[j]);
    Store(Out<To>(*this, 0), i, p);
  }
};
struct Sum {
  __device__ static float Of(float a, float b) { return a + b; }
};
struct GeluGradient {
  __device__ static float Of(float gradient, float x) { return gradient * GeluSlope(x); }
};
struct GatedSilu {
  __device__ static float Of(float x, float gate) { return x * Sigmoid(x) * gate; }
};
struct Masked {
  __device__ static float Of(float gradient, float mask) { return gradient * mask * 1.1f; }
};

template <class T>
struct SwigluBackward : Streams {
  __device__ void operator()(int64_t i) const {
    const Pack dy = Load(In<T>(*this, 0), i), gate = Load(In<T>(*this, 2), i);
    Pack x = Load(In<T>(*this, 1), i), dgate;
    for (int j = 0; j < kPack; ++j) {
      const float s = Sigmoid(x.v[j]), silu = x.v[j] * s;
      dgate.v[j] = dy.v[j] * silu;
      x.v[j] = dy.v[j] * gate.v[j] * (s + silu * (1 - s));
    }
    Store(Out<T>(*this, 0), i, x);
    Store(Out<T>(*this, 1), i, dgate);
  }
};

template <class T>
struct BiasAdd : Streams {
  __device__ void operator()(int64_t i) const {
    Pack p = Load(In<T>(*this, 0), i);
    const Pack bias = Load(vector, ColumnPack(i));
    for (int j = 0; j < kPack; ++j) p.v[j] += bias.v[j];
    Store(Out<T>(*this, 0), i, p);
  }
};

template <class T>
struct Dropout : Streams {
  __device__ void operator()(int64_t i) const {
    Pack p = Load(In<T>(*this, 0), i), mask;
    for (int j = 0; j < kPack; ++j) {
      mask.v[j] = KeptAt(i * kPack + j);
      p.v[j] *= mask.v[j] * 1.1f;
    }
    Store(Out<T>(*this, 0), i, p);
    Store(Out<uint8_t>(*this, 1), i, mask);
  }
};

// Adds the branch with its bias, with or without dropout, to the residual.
template <class T, bool kMask>
struct BiasDropoutAdd : Streams {
  __device__ void operator()(int64_t i) const {
    const Pack x = Load(In<T>(*this, 0), i), bias = Load(vector, ColumnPack(i));
    Pack sum = Load(In<T>(*this, 1), i), mask;
    for (int j = 0; j < kPack; ++j) {
      mask.v[j] = kMask ? KeptAt(i * kPack + j) : 1;
      sum.v[j] += (x.v[j] + bias.v[j]) * mask.v[j];
    }
    Store(Out<T>(*this, 0), i, sum);
    if (kMask) Store(Out<uint8_t>(*this, 1), i, mask);
  }
};

// Rotates neighboring elements by an angle of their column.
template <class T>
struct Rotary : Streams {
  __device__ void operator()(int64_t i) const {
    Pack p = Load(In<T>(*this, 0), i);
    const Pack turn = Load(vector, ColumnPack(i));
    for (int j = 0; j < kPack; j += 2) {
      const float a = p.v[j], b = p.v[j + 1], c = turn.v[j], s = turn.v[j + 1];
      p.v[j] = a * c - b * s;
      p.v[j + 1] = a * s + b * c;
    }
    Store(Out<T>(*this, 0), i, p);
  }
};

// Writes zeros; into a second table of bytes too if the row has one.
template <class T, bool kBytes>
struct Fill : Streams {
  __device__ void operator()(int64_t i) const {
    Store(Out<T>(*this, 0), i, Pack{});
    if (kBytes) Store(Out<uint8_t>(*this, 1), i, Pack{});
  }
};

// Gradient, parameter and two moments in; the last three out.
struct Adam : Streams {
  __device__ void operator()(int64_t i) const {
    const Pack g = Load(In<float>(*this, 0), i);
    Pack p = Load(In<float>(*this, 1), i), m = Load(In<float>(*this, 2), i);
    Pack v = Load(In<float>(*this, 3), i);
    for (int j = 0; j < kPack; ++j) {
      m.v[j] = 0.9f * m.v[j] + 0.1f * g.v[j];
      v.v[j] = 0.95f * v.v[j] + 0.05f * g.v[j] * g.v[j];
      p.v[j] -= 1e-4f * (m.v[j] / (sqrtf(v.v[j]) + 1e-8f) + 0.1f * p.v[j]);
    }
    Store(Out<float>(*this, 0), i, p);
    Store(Out<float>(*this, 1), i, m);
    Store(Out<float>(*this, 2), i, v);
  }
};

using Launcher = void (*)(const Streams& streams, int64_t packs, int blocks);

template <class Body>
void LaunchBody(const Streams& streams, int64_t packs, int blocks) {
  ForEachPack<<<blocks, 256>>>(Body{streams}, packs);
}

// Bytes of an element in each operand; 0: there is no such operand.
struct Row {
  KernelKind kind;
  std::array<int, 4> in;
  std::array<int, 3> out;
  Launcher launch;

  int64_t milli_bytes() const {
    int64_t sum = 0;
    for (const int bytes : in) sum += bytes * 1000;
    for (const int bytes : out) sum += bytes * 1000;
    return sum;
  }
};

template <class T>
const std::vector<Row>& Rows() {
  using K = KernelKind;
  static const std::vector<Row> rows = {
      {K::kElementwise, {2}, {2}, LaunchBody<Map<T, T, Scaled>>},
      {K::kElementwise, {4}, {4}, LaunchBody<Map<float, float, Scaled>>},
      {K::kCopy, {2}, {2}, LaunchBody<Map<T, T, Same>>},
      {K::kScale, {2}, {2}, LaunchBody<Map<T, T, Scaled>>},
      {K::kCast, {4}, {2}, LaunchBody<Map<float, T, Same>>},
      {K::kGelu, {2}, {2}, LaunchBody<Map<T, T, GeluOf>>},
      {K::kRowMap, {1}, {4}, LaunchBody<Map<uint8_t, float, Same>>},
      {K::kRowMap, {4}, {4}, LaunchBody<Map<float, float, Same>>},
      {K::kAdd, {2, 2}, {2}, LaunchBody<Zip<T, T, T, Sum>>},
      {K::kAccumulate, {2, 4}, {4}, LaunchBody<Zip<T, float, float, Sum>>},
      {K::kGeluBackward, {2, 2}, {2}, LaunchBody<Zip<T, T, T, GeluGradient>>},
      {K::kSwiglu, {2, 2}, {2}, LaunchBody<Zip<T, T, T, GatedSilu>>},
      {K::kDropoutBackward, {2, 1}, {2}, LaunchBody<Zip<T, uint8_t, T, Masked>>},
      {K::kSwigluBackward, {2, 2, 2}, {2, 2}, LaunchBody<SwigluBackward<T>>},
      {K::kBiasAdd, {2}, {2}, LaunchBody<BiasAdd<T>>},
      {K::kDropout, {2}, {2, 1}, LaunchBody<Dropout<T>>},
      {K::kBiasDropoutAdd, {2, 2}, {2}, LaunchBody<BiasDropoutAdd<T, false>>},
      {K::kBiasDropoutAdd, {2, 2}, {2, 1}, LaunchBody<BiasDropoutAdd<T, true>>},
      {K::kRotary, {2}, {2}, LaunchBody<Rotary<T>>},
      {K::kFill, {}, {2}, LaunchBody<Fill<T, false>>},
      {K::kFill, {}, {2, 1}, LaunchBody<Fill<T, true>>},
      {K::kAdam, {4, 4, 4, 4}, {4, 4, 4}, LaunchBody<Adam>},
  };
  return rows;
}

class Elementwise : public Launchable {
 public:
  Elementwise(const Row& row, const Kernel& kernel, int sms)
      : row_(row), packs_((kernel.dims[0] * kernel.dims[1] + kPack - 1) / kPack), sms_(sms) {
    streams_.columns = kernel.dims[1];
  }

  bool Prepare() {
    const size_t elements = static_cast<size_t>(packs_) * kPack;
    for (size_t i = 0; i < row_.in.size(); ++i) {
      if (row_.in[i] > 0 && !in_[i].Allocate(elements * row_.in[i])) return false;
      streams_.in[i] = in_[i].get();
    }
    for (size_t i = 0; i < row_.out.size(); ++i) {
      if (row_.out[i] > 0 && !out_[i].Allocate(elements * row_.out[i])) return false;
      streams_.out[i] = out_[i].get();
    }
    if (!vector_.Allocate((static_cast<size_t>(streams_.columns) + kPack) * sizeof(float))) {
      return false;
    }
    streams_.vector = static_cast<const float*>(vector_.get());
    return true;
  }

  bool Launch() override {
    const int64_t blocks = std::min<int64_t>((packs_ + 255) / 256, int64_t{sms_} * 16);
    row_.launch(streams_, packs_, static_cast<int>(blocks));
    return cudaGetLastError() == cudaSuccess;
  }

 private:
  const Row row_;
  const int64_t packs_;
  const int sms_;
  Streams streams_ = {};
  Buffer in_[4], out_[3], vector_;
};

}  // namespace

std::unique_ptr<Launchable> MakeElementwise(const Kernel& kernel, int sms, std::string* error) {
  const auto& rows = kernel.type == DataType::kBf16 ? Rows<__nv_bfloat16>() : Rows<__half>();
  for (const Row& row : rows) {
    if (row.kind != kernel.kind || row.milli_bytes() != MilliBytesPerElement(kernel)) continue;
    auto made = std::make_unique<Elementwise>(row, kernel, sms);
    if (made->Prepare()) return made;
    *error = kNoMemory;
    return nullptr;
  }
  *error = kNoKernel;
  return nullptr;
}

}  // namespace drydock
