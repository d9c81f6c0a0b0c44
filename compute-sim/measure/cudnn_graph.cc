#include "compute-sim/measure/cudnn_graph.h"

#include <fmt/format.h>

#include <cstring>
#include <utility>

namespace drydock {
namespace {

size_t SizeOf(CudnnType type) {
  if (type == CudnnType::kBool) return 1;
  return type == CudnnType::kHalf || type == CudnnType::kBfloat16 ? 2 : 4;
}

}  // namespace

CudnnGraph::~CudnnGraph() {
  for (auto object = objects_.rbegin(); object != objects_.rend(); ++object) {
    library_->destroy_object(*object);
  }
}

bool CudnnGraph::Fail() {
  if (error_.empty()) error_ = library_->LastError();
  if (error_.empty()) error_ = "cuDNN states no reason";
  return false;
}

void* CudnnGraph::Make(CudnnObject kind) {
  void* object = nullptr;
  if (!error_.empty()) return nullptr;
  if (library_->create_object(kind, &object) != 0) {
    Fail();
    return nullptr;
  }
  objects_.push_back(object);
  return object;
}

void CudnnGraph::Set(void* object, CudnnKey key, CudnnValue type, int64_t count,
                     const void* values) {
  if (error_.empty() && library_->set(object, key, type, count, values) != 0) Fail();
}
void CudnnGraph::SetObject(void* object, CudnnKey key, void* value) {
  Set(object, key, CudnnValue::kObject, 1, &value);
}
void CudnnGraph::SetType(void* object, CudnnKey key, CudnnType type) {
  Set(object, key, CudnnValue::kDataType, 1, &type);
}
void CudnnGraph::Finish(void* object) {
  if (error_.empty() && library_->finalize(object) != 0) Fail();
}

CudnnTensor CudnnGraph::Tensor(const CudnnDims& dims, const CudnnDims& strides, CudnnType type,
                               bool inside, bool by_value) {
  const CudnnTensor tensor{Make(CudnnObject::kTensor), dims, strides};
  const int64_t id = ++last_id_, alignment = by_value ? 4 : 16;
  SetType(tensor.object, CudnnKey::kTensorType, type);
  Set(tensor.object, CudnnKey::kTensorDims, CudnnValue::kInt64, 4, dims.data());
  Set(tensor.object, CudnnKey::kTensorStrides, CudnnValue::kInt64, 4, strides.data());
  Set(tensor.object, CudnnKey::kTensorId, CudnnValue::kInt64, 1, &id);
  Set(tensor.object, CudnnKey::kTensorAlignment, CudnnValue::kInt64, 1, &alignment);
  Set(tensor.object, CudnnKey::kTensorVirtual, CudnnValue::kBool, 1, &inside);
  if (by_value) Set(tensor.object, CudnnKey::kTensorByValue, CudnnValue::kBool, 1, &by_value);
  Finish(tensor.object);
  return tensor;
}

CudnnTensor CudnnGraph::Operand(const CudnnDims& dims, const CudnnDims& strides, CudnnType type) {
  const CudnnTensor tensor = Tensor(dims, strides, type, /*inside=*/false, /*by_value=*/false);
  operand_ids_.push_back(last_id_);
  operand_bytes_.push_back(static_cast<size_t>(dims[0] * dims[1] * dims[2] * dims[3]) *
                           SizeOf(type));
  return tensor;
}

CudnnTensor CudnnGraph::NumberOf(CudnnType type, const void* value) {
  const CudnnTensor tensor =
      Tensor({1, 1, 1, 1}, {1, 1, 1, 1}, type, /*inside=*/false, /*by_value=*/true);
  std::memcpy(scalars_.emplace_back(Scalar{last_id_, {}}).bytes.data(), value, 4);
  return tensor;
}
CudnnTensor CudnnGraph::Number(float value) { return NumberOf(CudnnType::kFloat, &value); }
CudnnTensor CudnnGraph::Number(int32_t value) { return NumberOf(CudnnType::kInt32, &value); }

CudnnTensor CudnnGraph::Inside(const CudnnDims& dims, CudnnType type) {
  return Tensor(dims, CudnnPacked(dims), type, /*inside=*/true, /*by_value=*/false);
}

// One operation on the tensors in its slots; empty slots are left out.
void CudnnGraph::Add(CudnnObject kind, std::initializer_list<std::pair<CudnnKey, void*>> slots) {
  void* operation = operations_.emplace_back(Make(kind));
  for (const auto& [key, object] : slots) {
    if (object != nullptr) SetObject(operation, key, object);
  }
  Finish(operation);
}

CudnnTensor CudnnGraph::Apply(const CudnnElementwise& o, const CudnnTensor& to) {
  void* mode = Make(CudnnObject::kPointwise);
  Set(mode, CudnnKey::kPointwiseMode, CudnnValue::kPointwiseMode, 1, &o.mode);
  SetType(mode, CudnnKey::kPointwisePrecision, o.computes);
  if (o.axis >= 0) Set(mode, CudnnKey::kPointwiseAxis, CudnnValue::kInt64, 1, &o.axis);
  Finish(mode);
  Add(CudnnObject::kPointwiseOperation, {{CudnnKey::kOpPointwise, mode},
                                         {CudnnKey::kOpPointwiseX, o.x.object},
                                         {CudnnKey::kOpPointwiseB, o.b.object},
                                         {CudnnKey::kOpPointwiseT, o.choice.object},
                                         {CudnnKey::kOpPointwiseY, to.object}});
  return to;
}

CudnnTensor CudnnGraph::Reduce(CudnnReduction how, const CudnnTensor& x, const CudnnTensor& to) {
  void* mode = Make(CudnnObject::kReduction);
  Set(mode, CudnnKey::kReductionMode, CudnnValue::kReductionMode, 1, &how);
  SetType(mode, CudnnKey::kReductionPrecision, CudnnType::kFloat);
  Finish(mode);
  Add(CudnnObject::kReductionOperation, {{CudnnKey::kOpReduction, mode},
                                         {CudnnKey::kOpReductionX, x.object},
                                         {CudnnKey::kOpReductionY, to.object}});
  return to;
}

CudnnTensor CudnnGraph::Multiply(const CudnnTensor& a, const CudnnTensor& b,
                                 const CudnnTensor& to) {
  void* mode = Make(CudnnObject::kMatmul);
  SetType(mode, CudnnKey::kMatmulPrecision, CudnnType::kFloat);
  Finish(mode);
  Add(CudnnObject::kMatmulOperation, {{CudnnKey::kOpMatmul, mode},
                                      {CudnnKey::kOpMatmulA, a.object},
                                      {CudnnKey::kOpMatmulB, b.object},
                                      {CudnnKey::kOpMatmulC, to.object}});
  return to;
}

CudnnTensor CudnnGraph::Transpose(const CudnnTensor& x, CudnnType type) {
  CudnnDims dims = x.dims, strides = x.strides;
  std::swap(dims[2], dims[3]);
  std::swap(strides[2], strides[3]);
  const CudnnTensor to = Tensor(dims, strides, type, /*inside=*/true, /*by_value=*/false);
  Add(CudnnObject::kReshapeOperation,
      {{CudnnKey::kOpReshapeX, x.object}, {CudnnKey::kOpReshapeY, to.object}});
  return to;
}

void* CudnnGraph::Operations(void* handle) {
  void* graph = Make(CudnnObject::kGraph);
  if (handle != nullptr) Set(graph, CudnnKey::kGraphHandle, CudnnValue::kHandle, 1, &handle);
  Set(graph, CudnnKey::kGraphOps, CudnnValue::kObject, static_cast<int64_t>(operations_.size()),
      operations_.data());
  Finish(graph);
  return graph;
}

// The best configuration comes first; empty if cuDNN has none for this graph on this GPU.
std::vector<void*> CudnnGraph::Configurations(void* graph, void* handle, void* device) {
  void* heuristics = Make(CudnnObject::kHeuristics);
  SetObject(heuristics, CudnnKey::kHeuristicsGraph, graph);
  const int mode = kCudnnHeuristicsA;
  Set(heuristics, CudnnKey::kHeuristicsMode, CudnnValue::kHeuristicsMode, 1, &mode);
  if (handle == nullptr) SetObject(heuristics, CudnnKey::kHeuristicsDevice, device);
  Finish(heuristics);
  int64_t count = 0;
  if (error_.empty() && library_->get(heuristics, CudnnKey::kHeuristicsResults, CudnnValue::kObject,
                                      0, &count, nullptr) != 0) {
    Fail();
  }
  std::vector<void*> found;
  for (int64_t i = 0; i < count; ++i) found.push_back(Make(CudnnObject::kEngineConfig));
  if (error_.empty() && library_->get(heuristics, CudnnKey::kHeuristicsResults, CudnnValue::kObject,
                                      count, &count, found.data()) != 0) {
    Fail();
  }
  if (!error_.empty()) return {};
  found.resize(static_cast<size_t>(count));
  if (found.empty()) error_ = "cuDNN has no kernel for this graph on this GPU";
  return found;
}

bool CudnnGraph::Plan(const CudnnTarget& target) {
  void* device = nullptr;
  if (target.handle == nullptr) {
    device = Make(CudnnObject::kDevice);
    Set(device, CudnnKey::kDeviceJson, CudnnValue::kChar,
        static_cast<int64_t>(target.device_json.size()), target.device_json.data());
    Finish(device);
  }
  void* graph = Operations(target.handle);
  std::string first;  // the error of the best configuration, in case all fail
  for (void* configuration : Configurations(graph, target.handle, device)) {
    void* plan = Make(CudnnObject::kPlan);
    if (target.handle != nullptr)
      Set(plan, CudnnKey::kPlanHandle, CudnnValue::kHandle, 1, &target.handle);
    else
      SetObject(plan, CudnnKey::kPlanDevice, device);
    SetObject(plan, CudnnKey::kPlanConfig, configuration);
    Finish(plan);
    int64_t bytes = 0, count = 0;
    if (error_.empty() &&
        library_->get(plan, CudnnKey::kPlanWorkspace, CudnnValue::kInt64, 1, &count, &bytes) == 0) {
      plan_ = plan;
      workspace_bytes_ = static_cast<size_t>(bytes);
      return true;
    }
    Fail();
    if (first.empty()) first = error_;
    error_.clear();
  }
  if (error_.empty()) error_ = first;
  return false;
}

bool CudnnGraph::Bind(const std::vector<void*>& operands, void* workspace) {
  std::vector<int64_t> ids = operand_ids_;
  std::vector<void*> pointers = operands;
  for (Scalar& scalar : scalars_) {
    ids.push_back(scalar.id);
    pointers.push_back(scalar.bytes.data());
  }
  pack_ = Make(CudnnObject::kVariantPack);
  const int64_t count = static_cast<int64_t>(ids.size());
  Set(pack_, CudnnKey::kPackPointers, CudnnValue::kPointer, count, pointers.data());
  Set(pack_, CudnnKey::kPackIds, CudnnValue::kInt64, count, ids.data());
  Set(pack_, CudnnKey::kPackWorkspace, CudnnValue::kPointer, 1, &workspace);
  Finish(pack_);
  return error_.empty();
}

bool CudnnGraph::Execute(void* handle) {
  return library_->execute(handle, plan_, pack_) == 0 || Fail();
}

}  // namespace drydock
