// A graph of cuDNN operations, and the plan that cuDNN makes of it for a GPU. The graph keeps the
// first error, and every later call does nothing: callers build a graph without checking each step.
// Extents are batch, heads, rows, columns; strides count elements. Not thread-safe.
#ifndef DRYDOCK_COMPUTE_SIM_MEASURE_CUDNN_GRAPH_H_
#define DRYDOCK_COMPUTE_SIM_MEASURE_CUDNN_GRAPH_H_

#include <array>
#include <deque>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compute-sim/measure/cudnn.h"

namespace drydock {

using CudnnDims = std::array<int64_t, 4>;
// The strides of a dense tensor.
inline CudnnDims CudnnPacked(const CudnnDims& d) {
  return {d[1] * d[2] * d[3], d[2] * d[3], d[3], 1};
}

struct CudnnTensor {
  void* object = nullptr;
  CudnnDims dims = {}, strides = {};
};

// One operation on every element. Parameters that the operation does not have keep these values.
struct CudnnElementwise {
  CudnnPointwise mode;
  CudnnTensor x, b = {}, choice = {};
  CudnnType computes = CudnnType::kFloat;
  int64_t axis = -1;
};

// The GPU of a plan: the GPU of a handle, or a GPU that is only described.
struct CudnnTarget {
  void* handle = nullptr;
  std::string device_json;
};

class CudnnGraph {
 public:
  explicit CudnnGraph(std::shared_ptr<const Cudnn> library) : library_(std::move(library)) {}
  CudnnGraph(const CudnnGraph&) = delete;
  CudnnGraph& operator=(const CudnnGraph&) = delete;
  ~CudnnGraph();

  // An operand in the GPU's memory.
  CudnnTensor Operand(const CudnnDims& dims, const CudnnDims& strides, CudnnType type);
  CudnnTensor Number(float value);
  CudnnTensor Number(int32_t value);
  // A result that is not in memory.
  CudnnTensor Inside(const CudnnDims& dims, CudnnType type);

  // Each returns `to`.
  CudnnTensor Apply(const CudnnElementwise& operation, const CudnnTensor& to);
  CudnnTensor Reduce(CudnnReduction mode, const CudnnTensor& x, const CudnnTensor& to);
  CudnnTensor Multiply(const CudnnTensor& a, const CudnnTensor& b, const CudnnTensor& to);
  // `x` with rows and columns exchanged.
  CudnnTensor Transpose(const CudnnTensor& x, CudnnType type);

  // Makes the first plan of cuDNN's heuristics that the GPU can run. Returns false if there is
  // none; then error() has the reason.
  bool Plan(const CudnnTarget& target);
  const std::string& error() const { return error_; }

  // REQUIRES: Plan() returned true. `operands` are in the order in which they were made.
  const std::vector<size_t>& operand_bytes() const { return operand_bytes_; }
  size_t workspace_bytes() const { return workspace_bytes_; }
  bool Bind(const std::vector<void*>& operands, void* workspace);
  bool Execute(void* handle);  // enqueues in the stream of the handle

 private:
  struct Scalar {
    int64_t id;
    std::array<char, 4> bytes;
  };

  void* Make(CudnnObject kind);
  void Set(void* object, CudnnKey key, CudnnValue type, int64_t count, const void* values);
  void SetObject(void* object, CudnnKey key, void* value);
  void SetType(void* object, CudnnKey key, CudnnType type);
  void Finish(void* object);
  CudnnTensor Tensor(const CudnnDims& dims, const CudnnDims& strides, CudnnType type, bool inside,
                     bool by_value);
  CudnnTensor NumberOf(CudnnType type, const void* value);
  void Add(CudnnObject kind, std::initializer_list<std::pair<CudnnKey, void*>> slots);
  void* Operations(void* handle);
  std::vector<void*> Configurations(void* graph, void* handle, void* device);
  bool Fail();

  std::shared_ptr<const Cudnn> library_;
  std::string error_;
  std::vector<void*> objects_;  // all, in the order in which they were made
  std::vector<void*> operations_;
  std::vector<int64_t> operand_ids_;
  std::vector<size_t> operand_bytes_;
  std::deque<Scalar> scalars_;  // a deque, because the graph keeps their addresses
  int64_t last_id_ = 0;
  void* plan_ = nullptr;
  void* pack_ = nullptr;
  size_t workspace_bytes_ = 0;
};

}  // namespace drydock

#endif  // DRYDOCK_COMPUTE_SIM_MEASURE_CUDNN_GRAPH_H_
