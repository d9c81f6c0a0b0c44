// cuDNN's backend interface. Descriptors keep the attributes that a program sets, and give
// them back. When a program finishes a graph of operations, the graph is read, or refused if it is
// not understood. Each graph has two engines without a workspace; one does not use tensor cores.
#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <string>

#include "capture/hackcuda/device/streams.h"
#include "capture/hackcuda/dnn/content.h"
#include "capture/hackcuda/dnn/graph.h"
#include "capture/hackcuda/dnn/handle.h"

namespace drydock::hackcuda::dnn {
namespace {

constexpr int64_t kTensorCoreEngine = 0, kPlainEngine = 1;
// More than the host takes to launch a kernel.
constexpr int64_t kSlowerNs = 10'000'000;

// cudnnBackendDescriptor_t. Descriptors that were set as an attribute share their content.
struct Descriptor {
  std::shared_ptr<Content> content;
  std::shared_ptr<const GraphWork> work;  // of plans
  bool uses_tensor_cores = true;          // of plans
};
Descriptor* Of(void* descriptor) { return static_cast<Descriptor*>(descriptor); }

Values IntegerValue(int64_t value) {
  Values values = {kInt64, 1, std::vector<char>(sizeof value), {}};
  memcpy(values.bytes.data(), &value, sizeof value);
  return values;
}

ContentRef ConfigOf(const ContentRef& graph, int64_t number) {
  auto engine = std::make_shared<Content>();
  engine->kind = kEngine;
  engine->attributes[kEngineGraph] = {kDescriptor, 1, {}, {graph}};
  engine->attributes[kEngineNumber] = IntegerValue(number);
  auto config = std::make_shared<Content>();
  config->kind = kEngineConfig;
  config->attributes[kConfigEngine] = {kDescriptor, 1, {}, {engine}};
  return config;
}

ContentRef GraphOf(const Content& content, int attribute) {
  const auto it = content.attributes.find(attribute);
  return it == content.attributes.end() || it->second.contents.empty()
             ? nullptr
             : it->second.contents.front();
}

Values NumbersOf(int type, std::initializer_list<int> numbers) {
  Values values = {type, static_cast<int64_t>(numbers.size()), {}, {}};
  values.bytes.resize(numbers.size() * sizeof(int));
  if (numbers.size() > 0) memcpy(values.bytes.data(), numbers.begin(), values.bytes.size());
  return values;
}

// What cuDNN answers by itself. Returns false for what programs set.
bool Computed(const Content& content, int attribute, int type, Values* values) {
  switch (attribute) {
    case kHeuristicsResults: {
      const ContentRef graph = GraphOf(content, kHeuristicsGraph);
      if (graph == nullptr) return false;
      *values = {kDescriptor, 1, {}, {ConfigOf(graph, kTensorCoreEngine)}};
      // Where it makes no difference, a program that tries both engines learns nothing.
      if (ReadGraph(*graph).may_use_tf32) {
        values->count = 2;
        values->contents.push_back(ConfigOf(graph, kPlainEngine));
      }
      return true;
    }
    case kGraphEngines:
      *values = IntegerValue(2);
      return true;
    case kPlanWorkspace:
    case kConfigWorkspace:
      *values = IntegerValue(0);
      return true;
    case kConfigSharedMemory:
      *values = NumbersOf(type, {0});
      return true;
    case kEngineNumericalNotes:
      *values = content.Integer(kEngineNumber, 0) == kTensorCoreEngine
                    ? NumbersOf(type, {kUsesTensorCores})
                    : NumbersOf(type, {});
      return true;
    case kConfigIntermediates:
    case kConfigKnobs:
    case kEngineKnobs:
    case kEngineLayouts:
    case kEngineBehaviorNotes:
    case kPlanComputedIntermediates:
    case kPlanRunOnlyIntermediates:
      if (content.Has(attribute)) return false;
      *values = {type, 0, {}, {}};
      return true;
    default:
      return false;
  }
}

Status Give(const Values& values, int type, int64_t asked, int64_t* count, void* array) {
  if (values.type != type) return kBadParameter;
  if (count != nullptr) *count = values.count;
  if (array == nullptr) return kSuccess;
  const int64_t given = std::min(asked, values.count);
  if (type != kDescriptor) {
    memcpy(array, values.bytes.data(), static_cast<size_t>(given) * BytesOfType(type));
    return kSuccess;
  }
  // The program has made the descriptors that receive the contents.
  auto* descriptors = static_cast<void**>(array);
  for (int64_t i = 0; i < given; ++i) {
    if (descriptors[i] == nullptr) return kBadParameter;
    Of(descriptors[i])->content =
        std::make_shared<Content>(*values.contents[static_cast<size_t>(i)]);
  }
  return kSuccess;
}

std::string AttributeName(int attribute, int kind) {
  return "attribute " + std::to_string(attribute) + " of a descriptor of kind " +
         std::to_string(kind);
}

Status FinishPlan(Descriptor* own) {
  const Content* config = own->content->Descriptor(kPlanConfig);
  const Content* engine = config != nullptr ? config->Descriptor(kConfigEngine) : nullptr;
  const Content* graph = engine != nullptr ? engine->Descriptor(kEngineGraph) : nullptr;
  if (graph == nullptr) return kBadParameter;
  own->work = std::make_shared<const GraphWork>(ReadGraph(*graph));
  own->uses_tensor_cores = engine->Integer(kEngineNumber, 0) == kTensorCoreEngine;
  return kSuccess;
}

}  // namespace

HACKCUDA_EXPORT int cudnnBackendCreateDescriptor(int kind, void** descriptor) {
  if (kind < 0 || kind >= kKinds) {
    return RefuseDnn("cudnnBackendCreateDescriptor", ("kind " + std::to_string(kind)).c_str());
  }
  auto* made = new Descriptor{std::make_shared<Content>(), nullptr};
  made->content->kind = kind;
  *descriptor = made;
  return kSuccess;
}
HACKCUDA_EXPORT int cudnnBackendDestroyDescriptor(void* descriptor) {
  delete Of(descriptor);
  return kSuccess;
}
HACKCUDA_EXPORT int cudnnBackendSetAttribute(void* descriptor, int attribute, int type,
                                             int64_t count, const void* array) {
  if (BytesOfType(type) == 0 || count < 0) {
    return RefuseDnn("cudnnBackendSetAttribute", ("type " + std::to_string(type)).c_str());
  }
  if (count > 0 && array == nullptr) return kBadParameter;
  Values values = {type, count, {}, {}};
  if (type == kDescriptor) {
    const auto* descriptors = static_cast<void* const*>(array);
    for (int64_t i = 0; i < count; ++i) {
      if (descriptors[i] == nullptr) return kBadParameter;
      values.contents.push_back(Of(descriptors[i])->content);
    }
  } else {
    const char* from = static_cast<const char*>(array);
    values.bytes.assign(from, from + static_cast<size_t>(count) * BytesOfType(type));
  }
  Of(descriptor)->content->attributes[attribute] = std::move(values);
  return kSuccess;
}
HACKCUDA_EXPORT int cudnnBackendGetAttribute(void* descriptor, int attribute, int type,
                                             int64_t asked, int64_t* count, void* array) {
  const Content& content = *Of(descriptor)->content;
  Values computed;
  if (Computed(content, attribute, type, &computed)) {
    return Give(computed, type, asked, count, array);
  }
  const auto it = content.attributes.find(attribute);
  if (it != content.attributes.end()) return Give(it->second, type, asked, count, array);
  return RefuseDnn("cudnnBackendGetAttribute", AttributeName(attribute, content.kind).c_str(),
                   kBadParameter);
}
HACKCUDA_EXPORT int cudnnBackendFinalize(void* descriptor) {
  Descriptor* own = Of(descriptor);
  if (own->content->kind == kPlan) return FinishPlan(own);
  if (own->content->kind != kGraph) return kSuccess;
  const GraphWork work = ReadGraph(*own->content);
  if (work.not_understood.empty()) return kSuccess;
  return RefuseDnn("cudnnBackendFinalize", work.not_understood.c_str());
}
HACKCUDA_EXPORT int cudnnBackendExecute(void* handle, void* plan, void*) {
  const Descriptor* own = Of(plan);
  if (own->work == nullptr) return kBadParameter;
  LogWork(*own->work, own->uses_tensor_cores, StreamOfHandle(handle));
  if (!own->uses_tensor_cores) DelayEvents(kSlowerNs);
  return kSuccess;
}

}  // namespace drydock::hackcuda::dnn
