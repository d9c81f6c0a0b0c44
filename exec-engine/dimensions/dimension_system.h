// Collectives over a network of dimensions, as ASTRA-sim's system layer and its congestion-unaware
// analytical network carry them out.
//
// A collective is cut into chunks (phase_plan.h). Each dimension of an NPU has a queue of chunks,
// of which the first few are active. Chunks of a collective with precedence (ChunkOrder) enter the
// queue ahead of other waiting chunks. If all NPUs do the same at the same time, and their places
// in the network are equivalent, one NPU represents all of them (`folded`): it receives what it
// sends.
//
// Events of equal time happen in the order in which they were scheduled, which is ASTRA-sim's rule.
// All times are whole nanoseconds. Not thread-safe.
#ifndef DRYDOCK_EXEC_ENGINE_DIMENSIONS_DIMENSION_SYSTEM_H_
#define DRYDOCK_EXEC_ENGINE_DIMENSIONS_DIMENSION_SYSTEM_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "core/containers/event_heap.h"
#include "exec-engine/dimensions/chunk_phase.h"

namespace drydock {

// Returns true if one NPU can represent all others in every call that all make at the same time. It
// cannot in trees, which have roots and leaves, nor in a phase over all NPUs of several dimensions.
bool CanFold(const DimensionNetwork& network, const CollectiveSystem& system);

class DimensionSystem {
 public:
  // Called when an NPU's part in a call has ended.
  using OnEnd = std::function<void(int npu, uint64_t call)>;

  // `network` and `system` outlive this. If `folded`, only NPU 0 makes calls.
  // REQUIRES: !folded || CanFold(network, system)
  DimensionSystem(const DimensionNetwork& network, const CollectiveSystem& system, bool folded,
                  OnEnd on_end);
  ~DimensionSystem();

  // Starts a call at now(). Members of a group make their calls in the same order.
  void Start(int npu, const DimensionCall& call);

  Time now() const { return now_; }
  bool idle() const { return events_.empty(); }
  Time next_time() const { return events_.top().time; }
  // Moves the clock without an event. REQUIRES: `time` is not after the next event.
  void AdvanceTo(Time time);
  void RunNext();
  int64_t messages() const { return messages_; }

 private:
  class Chunk;
  struct Queue {
    std::vector<Chunk*> chunks;  // the first `active` of them have begun
    size_t active = 0;
  };
  // A kind of message. Its balance counts messages that arrived before the phase expects them, less
  // messages that are expected and have not arrived.
  struct Meeting {
    uint64_t chunk = 0;
    int from = 0;
    int64_t bytes = 0;
    friend bool operator==(const Meeting&, const Meeting&) = default;
  };
  struct MeetingHash {
    size_t operator()(const Meeting& meeting) const;
  };
  struct Npu {
    std::vector<Queue> queues;                                    // by dimension
    std::unordered_map<Meeting, int, MeetingHash> meetings;       // only looked up
    std::unordered_map<uint64_t, std::unique_ptr<Chunk>> chunks;  // by name, only looked up
    std::unordered_map<uint64_t, size_t> chunks_left;             // by call, only looked up
    std::vector<uint32_t> tree_phases;  // by dimension: number of phases over trees so far
    int calls = 0;
  };
  enum class Kind : uint8_t { kPassed, kReceived, kArrived };
  struct Event {
    Time time;
    uint64_t number = 0;
    Kind kind = Kind::kPassed;
    int npu = 0;
    Meeting what;
    friend bool operator<(const Event& a, const Event& b) {
      return a.time != b.time ? a.time < b.time : a.number < b.number;
    }
  };

  int PriorityOf(const Npu& npu, const DimensionCall& call) const;
  void Schedule(Time after, Kind kind, int npu, const Meeting& what);
  Chunk* FindChunk(int npu, uint64_t name);
  void Enter(Chunk* chunk);
  void Activate(Queue* queue);
  void Advance(Chunk* chunk);
  void EndChunk(Chunk* chunk);

  const DimensionNetwork& network_;
  const CollectiveSystem& system_;
  const bool folded_;
  OnEnd on_end_;
  std::vector<Npu> npus_;
  EventHeap<Event> events_;
  Time now_;
  uint64_t next_number_ = 0;
  int64_t messages_ = 0;
};

// Returns the time of a call that all NPUs start at the same time, until the last NPU ends.
Time TimeOfCollective(const DimensionNetwork& network, const CollectiveSystem& system,
                      CollectiveType type, int64_t bytes, bool fold = true);

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_DIMENSIONS_DIMENSION_SYSTEM_H_
