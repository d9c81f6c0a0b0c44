// CUDA graphs: what a stream gets between begin-capture and end-capture, again at each launch.
#include "capture/hackcuda/cudart/runtime.h"
#include "capture/hackcuda/device/log.h"
#include "capture/hackcuda/device/streams.h"

namespace drydock::hackcuda::cudart {
namespace {

struct Graph {
  int64_t number = 0;
};

// The last node of a graph under capture. Programs pass it on without looking inside.
void* const kNode = reinterpret_cast<void*>(uintptr_t{1});

constexpr int kNotCapturing = 0, kCapturing = 1;

int CaptureInfo(const void* stream, int* status, unsigned long long* number, void** graph,
                void* const** nodes, size_t* count) {
  const int64_t captured = CaptureOf(stream);
  *status = captured != 0 ? kCapturing : kNotCapturing;
  if (number != nullptr) *number = static_cast<unsigned long long>(captured);
  if (graph != nullptr) *graph = nullptr;
  if (nodes != nullptr) *nodes = &kNode;
  if (count != nullptr) *count = captured != 0 ? 1 : 0;
  return kSuccess;
}

}  // namespace

HACKCUDA_EXPORT int cudaStreamIsCapturing(const void* stream, int* status) {
  return CaptureInfo(stream, status, nullptr, nullptr, nullptr, nullptr);
}
HACKCUDA_EXPORT int cudaThreadExchangeStreamCaptureMode(int*) { return kSuccess; }
HACKCUDA_EXPORT int cudaStreamBeginCapture(const void* stream, int) {
  BeginCapture(stream);
  return kSuccess;
}
HACKCUDA_EXPORT int cudaStreamEndCapture(const void* stream, void** graph) {
  const int64_t number = EndCapture(stream);
  if (number == 0) return Return(kInvalidValue);
  *graph = new Graph{number};
  return kSuccess;
}
HACKCUDA_EXPORT int cudaStreamGetCaptureInfo_v2(const void* stream, int* status,
                                                unsigned long long* number, void** graph,
                                                void* const** nodes, size_t* count) {
  return CaptureInfo(stream, status, number, graph, nodes, count);
}
// CUDA 13 gave the name without a suffix, which had three arguments, the seven of _v3.
HACKCUDA_EXPORT int cudaStreamGetCaptureInfo_v3(const void* stream, int* status,
                                                unsigned long long* number, void** graph,
                                                void* const** nodes, const void** edges,
                                                size_t* count) {
  if (edges != nullptr) *edges = nullptr;
  return CaptureInfo(stream, status, number, graph, nodes, count);
}
HACKCUDA_EXPORT int cudaStreamGetCaptureInfo(const void* stream, int* status,
                                             unsigned long long* number, void** graph,
                                             void* const** nodes, const void** edges,
                                             size_t* count) {
  if (hackcuda_version < 13000) {
    return CaptureInfo(stream, status, number, nullptr, nullptr, nullptr);
  }
  return cudaStreamGetCaptureInfo_v3(stream, status, number, graph, nodes, edges, count);
}

HACKCUDA_EXPORT int cudaGraphGetNodes(const void*, void** nodes, size_t* count) {
  if (nodes != nullptr && *count > 0) *nodes = kNode;
  *count = 1;
  return kSuccess;
}
HACKCUDA_EXPORT int cudaGraphInstantiate(void** executable, const void* graph, unsigned long long) {
  const auto* own = static_cast<const Graph*>(graph);
  auto* made = new Graph{own->number};
  Log(EntryKind::kInstantiate, {own->number, own->number});
  *executable = made;
  return kSuccess;
}
HACKCUDA_EXPORT int cudaGraphInstantiateWithFlags(void** executable, const void* graph,
                                                  unsigned long long flags) {
  return cudaGraphInstantiate(executable, graph, flags);
}
HACKCUDA_EXPORT int cudaGraphUpload(void*, void*) { return kSuccess; }
HACKCUDA_EXPORT int cudaGraphLaunch(const void* executable, const void* stream) {
  Log(EntryKind::kLaunchGraph,
      {static_cast<const Graph*>(executable)->number, StreamNumber(stream)});
  return kSuccess;
}
HACKCUDA_EXPORT int cudaGraphDestroy(void* graph) {
  delete static_cast<Graph*>(graph);
  return kSuccess;
}
HACKCUDA_EXPORT int cudaGraphExecDestroy(void* executable) {
  delete static_cast<Graph*>(executable);
  return kSuccess;
}

}  // namespace drydock::hackcuda::cudart
