// Collectives over a network of dimensions, as ASTRA-sim's system layer and its congestion-unaware
// analytical network carry them out.
//
// A collective is cut into chunks (phase_plan.h). Each dimension of an NPU has a queue of chunks
// that are to pass it, of which the first few are active; those of a collective that goes first
// (ChunkOrder) are put before the others that wait. Where all NPUs do the same at the same time,
// and their places in the network are alike, one stands for all of them (`folded`): what it sends
// is what it receives.
//
// Events of one time happen in the order in which they were scheduled: that is ASTRA-sim's rule,
// and everything is on one thread. Whole nanoseconds. Not thread-safe.
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

// True if all NPUs can stand for each other in every call that all make at the same time: trees
// have roots and leaves, and a phase over all NPUs goes round corners of the network.
bool CanFold(const DimensionNetwork& network, const CollectiveSystem& system);

class DimensionSystem {
 public:
  // Told that an NPU's part in a call is over.
  using OnEnd = std::function<void(int npu, uint64_t call)>;

  // `network` and `system` outlive this. `folded` needs CanFold; only NPU 0 makes calls then.
  DimensionSystem(const DimensionNetwork& network, const CollectiveSystem& system, bool folded,
                  OnEnd on_end);
  ~DimensionSystem();

  // At Now(). Members of a communicator make their calls in the same order.
  void Start(int npu, const DimensionCall& call);

  Time now() const { return now_; }
  bool idle() const { return events_.empty(); }
  Time next_time() const { return events_.top().time; }
  // Moves the clock on without an event; not past the next one.
  void AdvanceTo(Time time);
  void RunNext();
  int64_t messages() const { return messages_; }

 private:
  class Chunk;
  struct Queue {
    std::vector<Chunk*> chunks;  // the first `active` of them have begun
    size_t active = 0;
  };
  // Messages that are here and not asked for, less those that are asked for and not here.
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
    std::vector<uint32_t> tree_turns;
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

// How long a call takes that all NPUs start at the same time, until the last is done.
Time TimeOfCollective(const DimensionNetwork& network, const CollectiveSystem& system,
                      CollectiveType type, int64_t bytes, bool fold = true);

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_DIMENSIONS_DIMENSION_SYSTEM_H_
