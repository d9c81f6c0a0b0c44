// The common part of networks that run on one thread: ports, timers, messages in flight, and the
// order of callbacks that network.h requires. A derived network decides when a message is delivered
// and when it is acknowledged. Carries whole and folded replays (folded_network.h).
#ifndef DRYDOCK_EXEC_ENGINE_NETWORKS_SERIAL_NETWORK_H_
#define DRYDOCK_EXEC_ENGINE_NETWORKS_SERIAL_NETWORK_H_

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/containers/earliest_slot.h"
#include "core/containers/event_wheel.h"
#include "core/network/forgetful_network.h"
#include "core/network/relative_state.h"
#include "exec-engine/folding/folded_network.h"
#include "exec-engine/folding/replica_map.h"

namespace drydock {

class SerialNetwork : public FoldedNetwork {
 public:
  FoldedPort* port(HostId host) final { return &ports_[static_cast<size_t>(host)]; }
  Status Run(std::span<HostActor* const> actors) final;

 protected:
  using Slot = uint32_t;  // of a message in flight

  // `replicas` is null in a whole replay; else it outlives the network.
  explicit SerialNetwork(int hosts, const ReplicaMap* replicas = nullptr);
  Time now() const { return now_; }

  // Called before time starts.
  virtual void OnStart() {}
  // The message in `slot` is sent now. The slot holds it until it is acknowledged and delivered.
  // Returns its route (HostPort::LastRoute).
  virtual uint32_t OnSend(Slot slot) = 0;
  // Called for each scheduled event, before any callback of an actor at that time.
  virtual void OnEvent(uint64_t subject, uint32_t detail) = 0;
  // The event follows the next one: prefetch what it needs.
  virtual void OnEventNears(uint64_t, uint32_t) const {}
  // All events and callbacks of the present time are done.
  virtual void OnEndOfInstant() {}
  // Appends what the derived network keeps for the message until its next event.
  virtual void AppendFlight(Slot, RelativeState*) const {}
  // No event is left. Returns an error if the network still holds a message.
  virtual Status OnEnd() { return OkStatus(); }

  const Message& message(Slot slot) const { return flights_[slot].message; }
  // Return the host that receives the message, and its sender as that host names it. In a folded
  // replay representatives take the place of both ends.
  HostId ReceiverOf(Slot slot) const;
  HostId SourceAtReceiver(Slot slot) const;
  // Returns null in a whole replay.
  const ReplicaMap* replicas() const { return replicas_; }
  // Returns the folded connection that carries the message, or kNotFolded.
  uint32_t folded_connection(Slot slot) const { return flights_[slot].folded_connection; }
  // Schedules an event of the network. Events of one time are ordered by (subject, id). REQUIRES:
  // subject < 2^63
  void Schedule(Time when, uint64_t subject, uint64_t id, uint32_t detail);
  // Schedules the delivery of the message and, unless it is control, the notice to its sender.
  // REQUIRES: both times are not before now.
  void Complete(Slot slot, Time delivered, Time acknowledged);
  // Appends timers, events and messages in flight.
  void AppendEvents(RelativeState* out) const;
  // ForgetfulNetwork::CatchUp and Count, for networks that are forgetful.
  void RunAgain(Time from, const std::function<void()>& begin);
  void CountTraffic(const ForgetfulNetwork::Traffic& traffic) {
    messages_ += traffic.messages;
    bytes_ += traffic.bytes;
  }
  // Ends the run before its end, without an error.
  void Stop() { stopped_ = true; }
  // Ends the run with an error. The first call counts.
  void Fail(std::string why);
  // Ends the run because no path leads to the destination.
  void FailUnreachable(const Message& message);

  int64_t messages() const { return messages_; }
  int64_t message_bytes() const { return bytes_; }

 private:
  class Port final : public FoldedPort {
   public:
    Port(SerialNetwork* network, HostId host) : network_(network), host_(host) {}
    Time Now() const override { return network_->now_; }
    void At(Time when, TimerId id) override { network_->SetTimer(host_, when, id); }
    void Send(const Message& message) override { network_->Send(host_, message, kNotFolded); }
    void SendFolded(const Message& message, uint32_t folded_connection) override {
      network_->Send(host_, message, folded_connection);
    }
    uint32_t LastRoute() const override { return network_->last_route_; }

   private:
    SerialNetwork* network_;
    HostId host_;
  };

  // In the order in which one host sees events of the same instant.
  enum class Kind : uint8_t { kTimer, kDelivered, kSent };

  // Everything but timers, which change too often for the event wheel.
  struct Event {
    Time time;
    uint64_t order = 0;  // events of the network before those of hosts; then host, kind, source
    uint64_t id = 0;     // of a message
    Slot slot = 0;       // or the detail of an event of the network
    // Time and order in one number, compared without a branch: equal times are common.
    unsigned __int128 Key() const {
      return static_cast<unsigned __int128>(time.ps()) << 64 | order;
    }
    friend bool operator<(const Event& a, const Event& b) {
      return a.Key() != b.Key() ? a.Key() < b.Key() : a.id < b.id;
    }
  };
  struct Timer {
    TimerId id = 0;
    Time when;
  };
  struct Flight {
    Message message;
    int callbacks_left = 0;
    uint32_t folded_connection = kNotFolded;
  };

  static uint64_t OrderOf(HostId host, Kind kind, HostId source);
  void SetTimer(HostId host, Time when, TimerId id);
  void FindNextTimer(HostId host);
  void Send(HostId host, const Message& message, uint32_t folded_connection);
  bool TimerIsNext() const;
  void RunNext();
  bool ComesBefore(Time time, uint64_t order) const;
  Time next_time() const;  // Time::Max(): nothing is scheduled
  void RunTimer();
  void Dispatch(const Event& event);
  void Deliver(HostActor* actor, Slot slot);
  // Returns the message, and frees its slot after the last callback.
  Message TakeFlight(Slot slot);
  // Prefetches what the event will need, while the event before it is handled.
  void FetchAhead(const Event& event) const;

  const ReplicaMap* replicas_;
  std::vector<Port> ports_;
  std::vector<std::vector<Timer>> timers_;  // pending, by host; the earliest first
  EarliestSlot next_timers_;                // by host
  std::vector<Flight> flights_;
  std::vector<Slot> free_flights_;
  EventWheel<Event> events_;
  std::span<HostActor* const> actors_;  // of the run
  Time now_;
  uint64_t present_ = 0;  // Event::order of the event that is handled
  int64_t messages_ = 0, bytes_ = 0;
  uint32_t last_route_ = 0;
  bool stopped_ = false;
  std::string failure_;  // why the run ends with an error; empty: it does not
};

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_NETWORKS_SERIAL_NETWORK_H_
