#include "capture/hackcuda/device/streams.h"

#include <time.h>

#include <atomic>
#include <map>
#include <mutex>

#include "capture/hackcuda/device/log.h"
#include "capture/hackcuda/device/memory.h"

namespace drydock::hackcuda {
namespace {

constexpr unsigned kNonBlocking = 1;
constexpr unsigned kDisableTiming = 2;

// Handles of the default streams.
constexpr uintptr_t kPerThread = 2;
constexpr uintptr_t kLastDefault = 4095;

std::atomic<int64_t> next_stream{2};
std::atomic<int64_t> next_event{1};
std::atomic<int64_t> next_graph{1};
std::atomic<int64_t> delay_ns{0};
std::atomic<int> captures_now{0};

struct Captures {
  std::mutex mutex;
  std::map<const void*, int64_t> graph;  // by stream
};
Captures& All() {
  static Captures& captures = *new Captures;
  return captures;
}

int64_t Now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * int64_t{1000000000} + t.tv_nsec;
}

}  // namespace

Stream* MakeStream(int priority, unsigned flags) {
  auto* stream = new Stream{next_stream++, Device(), priority, flags};
  Log(EntryKind::kStream,
      {stream->number, stream->device, priority, (flags & kNonBlocking) == 0 ? 1 : 0});
  return stream;
}

void DestroyStream(void* stream) {
  if (StreamOf(stream) != nullptr) delete static_cast<Stream*>(stream);
}

int64_t StreamNumber(const void* stream) {
  if (const Stream* own = StreamOf(stream)) return own->number;
  return reinterpret_cast<uintptr_t>(stream) == kPerThread ? 1 : 0;
}

const Stream* StreamOf(const void* stream) {
  return reinterpret_cast<uintptr_t>(stream) <= kLastDefault ? nullptr
                                                             : static_cast<const Stream*>(stream);
}

Event* MakeEvent(unsigned flags) {
  return new Event{next_event++, (flags & kDisableTiming) == 0, 0, 0};
}

void RecordEvent(void* event, const void* stream) {
  auto* own = static_cast<Event*>(event);
  own->recorded_ns = Now() + delay_ns;
  own->graph = CaptureOf(stream);
  Log(EntryKind::kRecordEvent, {own->number, StreamNumber(stream)});
}

void DelayEvents(int64_t ns) { delay_ns += ns; }

int64_t CaptureOf(const void* stream) {
  const std::lock_guard<std::mutex> lock(All().mutex);
  const auto it = All().graph.find(stream);
  return it == All().graph.end() ? 0 : it->second;
}

bool IsCapturing() { return captures_now > 0; }

void BeginCapture(const void* stream) {
  {
    const std::lock_guard<std::mutex> lock(All().mutex);
    All().graph[stream] = next_graph++;
    ++captures_now;
  }
  Log(EntryKind::kBeginCapture, {StreamNumber(stream)});
}

int64_t EndCapture(const void* stream) {
  int64_t graph = 0;
  {
    const std::lock_guard<std::mutex> lock(All().mutex);
    const auto it = All().graph.find(stream);
    if (it == All().graph.end()) return 0;
    graph = it->second;
    std::erase_if(All().graph, [graph](const auto& entry) { return entry.second == graph; });
    --captures_now;
  }
  Log(EntryKind::kEndCapture, {StreamNumber(stream), graph});
  return graph;
}

void WaitForEvent(const void* stream, const void* event) {
  const auto* own = static_cast<const Event*>(event);
  if (own->graph != 0) {
    const std::lock_guard<std::mutex> lock(All().mutex);
    for (const auto& [_, graph] : All().graph) {
      if (graph != own->graph) continue;
      All().graph.emplace(stream, graph);
      break;
    }
  }
  Log(EntryKind::kWaitEvent, {StreamNumber(stream), own->number});
}

}  // namespace drydock::hackcuda
