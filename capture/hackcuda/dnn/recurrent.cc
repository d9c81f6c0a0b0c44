// Recurrent layers: a product for the inputs of all steps, and a product for each step.
#include <cstddef>
#include <cstdint>

#include "capture/hackcuda/dnn/handle.h"
#include "capture/hackcuda/dnn/tensors.h"
#include "capture/hackcuda/dnn/work.h"
#include "capture/hackcuda/products/product.h"

namespace drydock::hackcuda::dnn {
namespace {

// cudnnRNNDescriptor_t.
struct Rnn {
  int cell = 0;  // cudnnRNNMode_t: 0 relu, 1 tanh, 2 LSTM, 3 GRU
  int bias = 0;  // cudnnRNNBiasMode_t: 0 none, 1 of the input, 2 both, 3 of the state
  int directions = 1;
  int type = 0;
  int input = 0, hidden = 0, projection = 0, layers = 0;
  int math = 0;  // cudnnMathType_t

  int gates() const { return cell == 2 ? 4 : cell == 3 ? 3 : 1; }
  bool projects() const { return projection > 0 && projection != hidden; }
  // What a layer passes on, of one direction.
  int output() const { return projects() ? projection : hidden; }
  int input_of(int layer) const { return layer == 0 ? input : output() * directions; }
  int64_t element() const { return BitsOf(type) / 8; }
  int biases() const { return bias == 0 ? 0 : bias == 2 ? 2 : 1; }
};
const Rnn& RnnOf(const void* descriptor) { return *static_cast<const Rnn*>(descriptor); }

// cudnnRNNDataDescriptor_t.
struct Sequences {
  int type = 0, steps = 0, batch = 0, vector = 0;
};

// In elements. Matrices come first, biases last: those of a layer and direction in the order of the
// gates, of the input before those of the state.
int64_t MatricesOf(const Rnn& rnn, int layer) {
  const int64_t gates = rnn.gates();
  return gates * rnn.hidden * (rnn.input_of(layer) + rnn.output()) +
         (rnn.projects() ? int64_t{rnn.projection} * rnn.hidden : 0);
}
int64_t MatricesBefore(const Rnn& rnn, int pseudo_layer) {
  int64_t sum = 0;
  for (int i = 0; i < pseudo_layer; ++i) sum += MatricesOf(rnn, i / rnn.directions);
  return sum;
}
int64_t BiasesBefore(const Rnn& rnn, int pseudo_layer) {
  return int64_t{rnn.gates()} * rnn.hidden * rnn.biases() * pseudo_layer;
}
int PseudoLayers(const Rnn& rnn) { return rnn.layers * rnn.directions; }

// Null: the program does not ask.
void SetMatrix(void* descriptor, const Rnn& rnn, int rows, int columns) {
  if (descriptor == nullptr) return;
  auto* own = static_cast<Tensor*>(descriptor);
  *own = {};
  own->type = rnn.type;
  own->dimensions = 3;
  own->extents[0] = 1;
  own->extents[1] = rows;
  own->extents[2] = columns;
  own->strides[0] = rows * columns;
  own->strides[1] = columns;
  own->strides[2] = 1;
}

void LogStep(const Rnn& rnn, int64_t m, int64_t n, int64_t k, int64_t count, const void* stream) {
  Product p;
  p.m = m;
  p.n = n;
  p.k = k;
  p.type_a = p.type_b = p.type_c = p.type_d = DataTypeOf(rnn.type);
  p.compute = rnn.type == 0 && rnn.math != kWithoutTensorCores ? kComputeTf32 : kComputeFp32;
  for (int64_t i = 0; i < count; ++i) LogProduct("cudnn", p, stream);
}

// Products of all layers: of inputs, and for each step of states.
void LogLayers(const Rnn& rnn, const Sequences& sequences, bool is_data_gradient,
               const void* stream) {
  const int64_t gates = int64_t{rnn.gates()} * rnn.hidden;
  const int64_t rows = int64_t{sequences.steps} * sequences.batch;
  for (int place = 0; place < PseudoLayers(rnn); ++place) {
    const int i = is_data_gradient ? PseudoLayers(rnn) - 1 - place : place;
    const int64_t input = rnn.input_of(i / rnn.directions), output = rnn.output();
    if (is_data_gradient) {
      LogStep(rnn, output, sequences.batch, gates, sequences.steps, stream);
      LogStep(rnn, input, rows, gates, 1, stream);
    } else {
      LogStep(rnn, gates, rows, input, 1, stream);
      LogStep(rnn, gates, sequences.batch, output, sequences.steps, stream);
    }
  }
}

}  // namespace

HACKCUDA_EXPORT int cudnnCreateRNNDescriptor(void** descriptor) {
  *descriptor = new Rnn;
  return kSuccess;
}
HACKCUDA_EXPORT int cudnnDestroyRNNDescriptor(void* descriptor) {
  delete static_cast<Rnn*>(descriptor);
  return kSuccess;
}
HACKCUDA_EXPORT int cudnnSetRNNDescriptor_v8(void* descriptor, int, int cell, int bias,
                                             int direction, int, int type, int, int math,
                                             int32_t input, int32_t hidden, int32_t projection,
                                             int32_t layers, void*, uint32_t) {
  *static_cast<Rnn*>(descriptor) = {
      cell, bias, direction != 0 ? 2 : 1, type, input, hidden, projection, layers, math};
  return kSuccess;
}
HACKCUDA_EXPORT int cudnnCreateRNNDataDescriptor(void** descriptor) {
  *descriptor = new Sequences;
  return kSuccess;
}
HACKCUDA_EXPORT int cudnnDestroyRNNDataDescriptor(void* descriptor) {
  delete static_cast<Sequences*>(descriptor);
  return kSuccess;
}
HACKCUDA_EXPORT int cudnnSetRNNDataDescriptor(void* descriptor, int type, int, int steps, int batch,
                                              int vector, const int*, void*) {
  *static_cast<Sequences*>(descriptor) = {type, steps, batch, vector};
  return kSuccess;
}

HACKCUDA_EXPORT int cudnnGetRNNWeightSpaceSize(void*, const void* descriptor, size_t* bytes) {
  const Rnn& rnn = RnnOf(descriptor);
  const int all = PseudoLayers(rnn);
  *bytes = static_cast<size_t>((MatricesBefore(rnn, all) + BiasesBefore(rnn, all)) * rnn.element());
  return kSuccess;
}
HACKCUDA_EXPORT int cudnnGetRNNTempSpaceSizes(void*, const void* descriptor, int mode,
                                              const void* x, size_t* workspace, size_t* reserve) {
  // What the backward pass reads: the gates and the state of each step.
  const Rnn& rnn = RnnOf(descriptor);
  const auto& sequences = *static_cast<const Sequences*>(x);
  const int64_t kept = int64_t{sequences.steps} * sequences.batch * (rnn.gates() + 1) * rnn.hidden *
                       PseudoLayers(rnn) * rnn.element();
  if (workspace != nullptr) *workspace = 0;
  if (reserve != nullptr) *reserve = mode != 0 ? static_cast<size_t>(kept) : 0;
  return kSuccess;
}
HACKCUDA_EXPORT int cudnnGetRNNWeightParams(void*, const void* descriptor, int32_t pseudo_layer,
                                            size_t, const void* weights, int32_t matrix,
                                            void* matrix_descriptor, void** matrix_address,
                                            void* bias_descriptor, void** bias_address) {
  const Rnn& rnn = RnnOf(descriptor);
  const int gates = rnn.gates(), layer = pseudo_layer / rnn.directions;
  const int input = rnn.input_of(layer), output = rnn.output();
  if (pseudo_layer < 0 || pseudo_layer >= PseudoLayers(rnn) || matrix < 0 || matrix > 2 * gates) {
    return kBadParameter;
  }
  char* base = static_cast<char*>(const_cast<void*>(weights));
  int64_t offset = MatricesBefore(rnn, pseudo_layer);
  const auto at = [&](int64_t element) { return base + element * rnn.element(); };
  void *no_matrix = nullptr, *no_bias = nullptr;
  if (matrix_address == nullptr) matrix_address = &no_matrix;
  if (bias_address == nullptr) bias_address = &no_bias;
  *matrix_address = *bias_address = nullptr;
  if (matrix == 2 * gates) {  // the projection
    if (!rnn.projects()) return kSuccess;
    offset += int64_t{gates} * rnn.hidden * (input + output);
    SetMatrix(matrix_descriptor, rnn, rnn.projection, rnn.hidden);
    *matrix_address = at(offset);
    return kSuccess;
  }
  const bool is_of_state = matrix >= gates;
  const int gate = is_of_state ? matrix - gates : matrix;
  if (is_of_state) offset += int64_t{gates} * rnn.hidden * input;
  const int columns = is_of_state ? output : input;
  SetMatrix(matrix_descriptor, rnn, rnn.hidden, columns);
  *matrix_address = at(offset + int64_t{gate} * rnn.hidden * columns);
  const bool has_bias = rnn.bias == 2 || rnn.bias == (is_of_state ? 3 : 1);
  if (!has_bias) return kSuccess;
  SetMatrix(bias_descriptor, rnn, rnn.hidden, 1);
  *bias_address = at(MatricesBefore(rnn, PseudoLayers(rnn)) + BiasesBefore(rnn, pseudo_layer) +
                     int64_t{rnn.bias == 2 ? matrix : gate} * rnn.hidden);
  return kSuccess;
}

HACKCUDA_EXPORT int cudnnRNNForward(void* handle, const void* descriptor, int, const int32_t*,
                                    const void* x, const void*, const void*, void*, const void*,
                                    const void*, void*, const void*, const void*, void*, size_t,
                                    const void*, size_t, void*, size_t, void*) {
  LogLayers(RnnOf(descriptor), *static_cast<const Sequences*>(x), false, StreamOfHandle(handle));
  return kSuccess;
}
HACKCUDA_EXPORT int cudnnRNNBackwardData_v8(void* handle, const void* descriptor, const int32_t*,
                                            const void*, const void*, const void*, const void* x,
                                            void*, const void*, const void*, const void*, void*,
                                            const void*, const void*, const void*, void*, size_t,
                                            const void*, size_t, void*, size_t, void*) {
  LogLayers(RnnOf(descriptor), *static_cast<const Sequences*>(x), true, StreamOfHandle(handle));
  return kSuccess;
}
HACKCUDA_EXPORT int cudnnRNNBackwardWeights_v8(void* handle, const void* descriptor, int,
                                               const int32_t*, const void* x, const void*,
                                               const void*, const void*, const void*, const void*,
                                               size_t, void*, size_t, void*, size_t, void*) {
  const Rnn& rnn = RnnOf(descriptor);
  const auto& sequences = *static_cast<const Sequences*>(x);
  const int64_t gates = int64_t{rnn.gates()} * rnn.hidden;
  const int64_t rows = int64_t{sequences.steps} * sequences.batch;
  for (int i = PseudoLayers(rnn) - 1; i >= 0; --i) {
    LogStep(rnn, rnn.input_of(i / rnn.directions), gates, rows, 1, StreamOfHandle(handle));
    LogStep(rnn, rnn.output(), gates, rows, 1, StreamOfHandle(handle));
  }
  return kSuccess;
}

}  // namespace drydock::hackcuda::dnn
