// Loads, stores and host work of one host's ranks (docs/explanation/memory.md). Each moves piece by
// piece: a piece takes all links of its path at once, for as long as the slowest of them needs, and
// then the next piece follows. So all users of a link take turns and get equal shares: copies and,
// on PCIe, the slices of communication calls.
//
// Events of equal time go by GPU and op. Not thread-safe; one per host.
#ifndef DRYDOCK_EXEC_ENGINE_REPLAY_MEMORY_TRAFFIC_H_
#define DRYDOCK_EXEC_ENGINE_REPLAY_MEMORY_TRAFFIC_H_

#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

#include "core/containers/event_heap.h"
#include "exec-engine/host/memory_ports.h"
#include "exec-engine/replay/communication.h"

namespace drydock {

class MemoryTraffic {
 public:
  // All arguments outlive this. A workload without transfers needs no description of the host's
  // memory.
  MemoryTraffic(HostId host, const Workload& workload, const PortMap& ports,
                Communication* communication, Communication::Owner* owner);

  // The op of the rank on `gpu` starts, and later has ended. The owner is told the end in advance.
  void Start(int gpu, uint32_t op, const Op& what, Time now);
  void Ended(int gpu, uint32_t op);

  bool idle() const { return events_.empty(); }
  Time next_time() const { return events_.top().time; }
  void RunNext();

 private:
  struct Running {
    int gpu = 0;
    uint32_t op = 0;
    OpKind kind = OpKind::kLoad;
    MemoryTier tier = MemoryTier::kHost;
    PortPath path;  // over PCIe
    std::vector<uint16_t> port_classes;
    int64_t left = 0, piece = 0;  // bytes
    Time ready;
    Time stated;  // time of host work that shares nothing
  };
  struct Event {
    Time time;
    int32_t gpu = 0;
    uint32_t op = 0;
    friend bool operator<(const Event& a, const Event& b) {
      return std::tie(a.time, a.gpu, a.op) < std::tie(b.time, b.gpu, b.op);
    }
  };
  Running* Find(int gpu, uint32_t op);

  const Workload& workload_;
  const PortMap& pcie_;
  Communication* communication_;
  Communication::Owner* owner_;
  std::optional<MemoryPorts> ports_;
  EventHeap<Event> events_;
  std::vector<Running> running_;  // at most one for each stream of memory ops
};

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_REPLAY_MEMORY_TRAFFIC_H_
