// The replay of one host's ranks. An op starts when its dependencies and the previous op of its
// stream have ended and its host has launched it (launch_queue.h). A compute op then takes the time
// of its block, Communication determines the end of a communication op, MemoryTraffic that of a
// load or a store. A HostReplay knows its own ranks and the messages that reach its host, nothing
// else.
//
// Its own events (ends of ops and late launches) are ordered by (time, GPU, op). At equal times
// they precede memory traffic, which precedes communication. Only the next event is set as a timer
// of the port.
#ifndef DRYDOCK_EXEC_ENGINE_REPLAY_HOST_REPLAY_H_
#define DRYDOCK_EXEC_ENGINE_REPLAY_HOST_REPLAY_H_

#include <cstdint>
#include <tuple>
#include <vector>

#include "core/containers/event_heap.h"
#include "core/model/timeline.h"
#include "core/network/network.h"
#include "exec-engine/folding/folded_network.h"
#include "exec-engine/host/jitter_draws.h"
#include "exec-engine/host/launch_queue.h"
#include "exec-engine/index/replay_index.h"
#include "exec-engine/replay/communication.h"
#include "exec-engine/replay/joint_calls.h"
#include "exec-engine/replay/memory_traffic.h"
#include "exec-engine/replay/progress.h"
#include "exec-engine/replay/stuck_report.h"
#include "exec-engine/steady/repeating_host.h"
#include "exec-engine/transfer/gpu_sharing.h"

namespace drydock {

class HostReplay final : public HostActor,
                         public RepeatingHost,
                         private Communication::Owner,
                         private JointCalls::Host {
 public:
  struct Settings {
    bool shortcut = true;  // ReplayOptions::shortcut
    Time until = Time::Max();
    const SharingCosts& sharing;  // of the host's GPUs
    const Variation& variation;
    // Of a folded replay, in which the host represents others; else null.
    ReplicaFolding* folding = nullptr;
    FoldedPort* folded_port = nullptr;
    JointCalls* joint_calls = nullptr;        // of a replay of representative ranks; else null
    SpanningCalls* spanning_calls = nullptr;  // null: no call that spans hosts is left out
  };
  // All arguments outlive this. Writes the timelines of the host's ranks, which are sized for
  // their ops.
  HostReplay(HostId host, const ReplayIndex& index, const PortMap& ports, HostPort* port,
             const Settings& settings, std::vector<RankTimeline>* timelines,
             Progress::Host* progress);

  void Start() override;
  void OnTimer(TimerId id) override;
  void OnSent(const Message& message) override;
  void OnDelivered(const Message& message) override;

  int64_t ops_ended() const { return ops_ended_; }
  // Returns true if events remain after the end of the run.
  bool stopped() const { return stopped_; }
  // What a program lacks, by rank class: `ops` ops after the first `same` ones.
  struct LeftOut {
    std::vector<uint32_t> same, ops;
  };
  // The replay goes on with programs that have the same ops as far as this host has seen them.
  // Returns whether it can.
  bool MayGoOnWith(const ReplayIndex& index, const LeftOut& left_out) const;
  // REQUIRES: MayGoOnWith; no callback of the host is running; the index outlives this.
  void GoOnWith(const ReplayIndex& index, const LeftOut& left_out);
  // Cuts the timelines of a stopped run: running ops end at the end of the run, and ops that have
  // not started start and end there.
  void CutShort();
  std::vector<StuckOp> StuckOps() const;
  CommunicationCounters counters() const { return communication_.counters(); }

  // REQUIRES of the following: no op uses the host's memory.
  int first_rank() const override { return first_rank_; }
  int rank_count() const override { return static_cast<int>(ranks_.size()); }
  bool HasEnded(int gpu, uint32_t op) const override {
    return ranks_[static_cast<size_t>(gpu)].state[op] == State::kEnded;
  }
  const std::vector<uint32_t>& StreamHeads(int gpu) const override {
    return ranks_[static_cast<size_t>(gpu)].stream_head;
  }
  uint32_t FirstNotIssued(int gpu) const override {
    const LaunchQueue& launches = ranks_[static_cast<size_t>(gpu)].launches;
    return launches.modeled() ? launches.next() : kNoOp;
  }
  Time EarliestArrival() const override { return communication_.EarliestArrival(); }
  void AppendState(RelativeState* out) const override;

 private:
  // kLaunching: only the launch is missing; its event is in the heap.
  enum class State : uint8_t { kWaiting, kLaunching, kRunning, kEnded };
  struct RankState {
    const ClassIndex* index = nullptr;
    RankTimeline* timeline = nullptr;
    std::vector<uint32_t> open_dependencies;  // by op
    std::vector<uint32_t> stream_head;        // by stream: the running op, or the next one
    std::vector<State> state;                 // by op
    LaunchQueue launches;
    GpuSharing sharing;
  };
  // An op ends, or starts at its launch. kNoOp: the speed of the GPU changes.
  struct OpEvent {
    Time time;
    int32_t gpu = 0;
    uint32_t op = 0;
    friend bool operator<(const OpEvent& a, const OpEvent& b) {
      return std::tie(a.time, a.gpu, a.op) < std::tie(b.time, b.gpu, b.op);
    }
  };

  void AppendRank(int gpu, RelativeState* out) const;
  void LaunchMore(int gpu, Time now);
  Time StartOf(int gpu, uint32_t op, Time now) const;
  void StartIfReady(int gpu, uint32_t op, Time now);
  void StartOp(int gpu, uint32_t op, Time now);
  void EndOp(int gpu, uint32_t op, Time now);
  void ComputeWillEnd(int gpu, const GpuSharing::End& end);
  void ComputeChanges(int gpu, const std::vector<GpuSharing::End>& ends);
  void SetSlowdown(int gpu, Time now);
  void OnEvent(const OpEvent& event, Time now);
  void SetTimer();
  bool IsOver();

  void OnOpWillEnd(int gpu, uint32_t op, Time end, Time ready) override;
  void OnEndUnknown(int gpu, uint32_t op) override;
  Time Now() const override { return port_->Now(); }
  void OnChange() override { SetTimer(); }
  void OnJointEnd(int rank, uint32_t op, Time end, Time ready) override;
  const KernelLoad& StartCall(int gpu, uint32_t op, Time now);
  const KernelLoad& CallEnded(int gpu, uint32_t op);
  bool IsJoint(int gpu, uint32_t op) const;
  uint32_t OnMessage(const Message& message, uint32_t folded_connection) override {
    if (folded_connection == kNotFolded) {
      port_->Send(message);
    } else {
      folded_port_->SendFolded(message, folded_connection);
    }
    return port_->LastRoute();
  }

  const ReplayIndex* index_;
  HostPort* port_;
  FoldedPort* const folded_port_;
  JointCalls* const joint_calls_;
  Progress::Host* progress_;
  const Time until_;
  const int gpu_type_;
  const int first_rank_;
  const JitterDraws jitter_;
  std::vector<SlowGpu> slow_;     // of this host, by time
  std::vector<RankState> ranks_;  // by GPU
  EventHeap<OpEvent> events_;
  Communication communication_;
  MemoryTraffic memory_;
  Time timer_ = Time::Max();
  int64_t ops_ended_ = 0, events_seen_ = 0;
  bool stopped_ = false;
};

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_REPLAY_HOST_REPLAY_H_
