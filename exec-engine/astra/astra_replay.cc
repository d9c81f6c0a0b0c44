#include "exec-engine/astra/astra_replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "core/containers/event_heap.h"
#include "exec-engine/dimensions/dimension_system.h"

namespace drydock {
namespace {

using Kind = AstraNode::Kind;

class Replay {
 public:
  Replay(const AstraWorkload& workload, const DimensionNetwork& network,
         const CollectiveSystem& system, bool folded)
      : workload_(workload),
        network_(network),
        dimensions_(network, system, folded,
                    [this](int npu, uint64_t call) { ended_calls_.emplace_back(npu, call); }),
        npus_(folded ? 1 : static_cast<size_t>(network.npus())),
        calls_of_group_(workload.groups.size()) {}

  Result<std::vector<AstraNpuTimes>> Run() {
    for (size_t n = 0; n < npus_.size(); ++n) {
      Npu& npu = npus_[n];
      for (const AstraNode& node : NodesOf(n)) npu.waits.push_back(node.waits);
      for (uint32_t i = 0; i < npu.waits.size(); ++i) {
        if (npu.waits[i] == 0) npu.ready.insert(i);
      }
      npu.calls.resize(workload_.groups.size(), 0);
    }
    for (size_t n = 0; n < npus_.size(); ++n) Issue(n);
    EndCalls();
    while (!events_.empty() || !dimensions_.idle()) {
      const bool own =
          dimensions_.idle() || (!events_.empty() && events_.top().time < dimensions_.next_time());
      if (own) {
        const Event event = events_.top();
        events_.Pop();
        dimensions_.AdvanceTo(event.time);
        event.arrives ? Arrive(event.npu, event.node) : End(event.npu, event.node);
      } else {
        dimensions_.RunNext();
      }
      EndCalls();
    }
    return Times();
  }

 private:
  struct Npu {
    std::vector<uint32_t> waits;                          // by node: for so many others
    std::set<uint32_t> ready;                             // not begun; in the order of ids
    bool host = false, compute = false, network = false;  // busy
    std::vector<uint32_t> calls;                          // by group: made so far
    size_t ended = 0;
    Time begun, computed, end;  // of the present node of compute
  };
  struct Event {
    Time time;
    uint64_t number = 0;
    size_t npu = 0;
    uint32_t node = 0;
    bool arrives = false;  // a message; else a node ends
    friend bool operator<(const Event& a, const Event& b) {
      return a.time != b.time ? a.time < b.time : a.number < b.number;
    }
  };
  // Messages of one sender, receiver and tag: arrivals and receives meet in order.
  struct Meeting {
    std::deque<uint32_t> receives;
    size_t arrived = 0;
  };

  const std::vector<AstraNode>& NodesOf(size_t npu) const {
    return workload_.of_npu[std::min(npu, workload_.of_npu.size() - 1)];
  }

  void Push(Time after, size_t npu, uint32_t node, bool arrives) {
    events_.Push({dimensions_.now() + after, next_number_++, npu, node, arrives});
  }

  bool* BusyOf(const AstraNode& node, Npu* npu) const {
    switch (node.kind) {
      case Kind::kHost:
        return &npu->host;
      case Kind::kCompute:
        return &npu->compute;
      case Kind::kFixed:
      case Kind::kCollective:
      case Kind::kSend:
        return &npu->network;
      case Kind::kNothing:
      case Kind::kReceive:
        break;
    }
    return nullptr;
  }

  // Begins the nodes that may begin. A node without work ends at once and may free others.
  void Issue(size_t n) {
    Npu& npu = npus_[n];
    for (auto at = npu.ready.begin(); at != npu.ready.end();) {
      const uint32_t index = *at;
      const AstraNode& node = NodesOf(n)[index];
      bool* busy = BusyOf(node, &npu);
      if (busy != nullptr && *busy) {
        ++at;
        continue;
      }
      if (busy != nullptr) *busy = true;
      at = npu.ready.erase(at);
      if (node.kind == Kind::kNothing) {
        Free(n, index);
        at = npu.ready.begin();
        continue;
      }
      Begin(n, index);
    }
  }

  void Begin(size_t n, uint32_t index) {
    const AstraNode& node = NodesOf(n)[index];
    Npu& npu = npus_[n];
    switch (node.kind) {
      case Kind::kCompute:
        npu.begun = dimensions_.now();
        [[fallthrough]];
      case Kind::kHost:
      case Kind::kFixed:
        return Push(node.time, n, index, false);
      case Kind::kCollective:
        return Call(n, index);
      case Kind::kSend:
        return Push(network_.Delay(static_cast<int>(n), node.peer, node.bytes), n, index, true);
      case Kind::kReceive: {
        Meeting& meeting = meetings_[{node.peer, static_cast<int>(n), node.tag}];
        if (meeting.arrived == 0) return meeting.receives.push_back(index);
        --meeting.arrived;
        return Push(Time(), n, index, false);
      }
      case Kind::kNothing:
        return;
    }
  }

  // The k-th call of a group is the same call at all members.
  void Call(size_t n, uint32_t index) {
    const AstraNode& node = NodesOf(n)[index];
    const auto group = static_cast<size_t>(node.group);
    std::vector<uint64_t>& names = calls_of_group_[group];
    const uint32_t number = npus_[n].calls[group]++;
    if (number == names.size()) names.push_back(next_call_++);
    DimensionCall call;
    call.name = names[number];
    call.type = node.collective;
    call.bytes = node.bytes;
    call.members = group == 0 ? nullptr : &workload_.groups[group];
    call.priority = node.priority;
    if (workload_.groups[group].size() == 1) return Push(Time(), n, index, false);
    node_of_call_[{n, call.name}] = index;
    dimensions_.Start(static_cast<int>(n), call);
  }

  void EndCalls() {
    while (!ended_calls_.empty()) {
      const auto [npu, call] = ended_calls_.front();
      ended_calls_.pop_front();
      const auto found = node_of_call_.find({static_cast<size_t>(npu), call});
      const uint32_t node = found->second;
      node_of_call_.erase(found);
      End(static_cast<size_t>(npu), node);
    }
  }

  // The message of a send arrives: the send ends, and so does the receive that waits for it.
  void Arrive(size_t n, uint32_t index) {
    const AstraNode& node = NodesOf(n)[index];
    Meeting& meeting = meetings_[{static_cast<int>(n), node.peer, node.tag}];
    const auto receiver = static_cast<size_t>(node.peer);
    if (meeting.receives.empty()) {
      ++meeting.arrived;
      return End(n, index);
    }
    const uint32_t receive = meeting.receives.front();
    meeting.receives.pop_front();
    End(n, index);
    End(receiver, receive);
  }

  void End(size_t n, uint32_t index) {
    const AstraNode& node = NodesOf(n)[index];
    Npu& npu = npus_[n];
    if (bool* busy = BusyOf(node, &npu)) *busy = false;
    if (node.kind == Kind::kCompute) npu.computed += dimensions_.now() - npu.begun;
    Free(n, index);
    Issue(n);
  }

  void Free(size_t n, uint32_t index) {
    Npu& npu = npus_[n];
    ++npu.ended;
    npu.end = dimensions_.now();
    for (const uint32_t next : NodesOf(n)[index].next) {
      if (--npu.waits[next] == 0) npu.ready.insert(next);
    }
  }

  Result<std::vector<AstraNpuTimes>> Times() const {
    std::vector<AstraNpuTimes> times;
    for (size_t n = 0; n < npus_.size(); ++n) {
      const Npu& npu = npus_[n];
      if (npu.ended < npu.waits.size()) return Stuck(n);
      times.push_back({npu.end, npu.computed, npu.end - npu.computed});
    }
    return times;
  }

  Error Stuck(size_t n) const {
    for (const auto& [key, node] : node_of_call_) {
      if (key.first != n) continue;
      return Error(
          fmt::format("NPU {} never ends: the other members of the group do not make the "
                      "call of its node {} '{}'",
                      n, NodesOf(n)[node].id, Printable(NodesOf(n)[node].name)));
    }
    for (const auto& [key, meeting] : meetings_) {
      if (std::get<1>(key) != static_cast<int>(n) || meeting.receives.empty()) continue;
      const AstraNode& node = NodesOf(n)[meeting.receives.front()];
      return Error(
          fmt::format("NPU {} never ends: NPU {} does not send what its node {} '{}' "
                      "receives",
                      n, node.peer, node.id, Printable(node.name)));
    }
    return Error(fmt::format("NPU {} never ends: {} of its nodes wait for each other in a cycle", n,
                             npus_[n].waits.size() - npus_[n].ended));
  }

  const AstraWorkload& workload_;
  const DimensionNetwork& network_;
  DimensionSystem dimensions_;
  std::vector<Npu> npus_;
  EventHeap<Event> events_;
  uint64_t next_number_ = 0, next_call_ = 0;
  std::vector<std::vector<uint64_t>> calls_of_group_;  // their names
  std::map<std::pair<size_t, uint64_t>, uint32_t> node_of_call_;
  std::map<std::tuple<int, int, int>, Meeting> meetings_;  // by sender, receiver and tag
  std::deque<std::pair<int, uint64_t>> ended_calls_;
};

}  // namespace

Result<std::vector<AstraNpuTimes>> ReplayAstra(const AstraWorkload& workload,
                                               const DimensionNetwork& network,
                                               const CollectiveSystem& system) {
  const bool folded = workload.alike && CanFold(network, system);
  return Replay(workload, network, system, folded).Run();
}

}  // namespace drydock
