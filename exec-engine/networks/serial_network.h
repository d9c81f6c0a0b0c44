// What networks that run on one thread have in common: ports, timers, messages under way, and the
// order of callbacks that network.h asks for. A network says when a message is delivered and when
// it is acknowledged; how it comes to know is its own affair.
#ifndef DRYDOCK_EXEC_ENGINE_NETWORKS_SERIAL_NETWORK_H_
#define DRYDOCK_EXEC_ENGINE_NETWORKS_SERIAL_NETWORK_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/containers/earliest_slot.h"
#include "core/containers/event_wheel.h"
#include "exec-engine/network/network.h"

namespace drydock {

class SerialNetwork : public Network {
 public:
  HostPort* port(HostId host) final { return &ports_[static_cast<size_t>(host)]; }
  Status Run(std::span<HostActor* const> actors) final;

 protected:
  using Slot = uint32_t;  // a message under way

  explicit SerialNetwork(int hosts, const ReplicaFolding* folding = nullptr);
  Time now() const { return now_; }

  // Before time starts.
  virtual void OnStart() {}
  // `message` was sent now, and is kept in `slot` until it is acknowledged and delivered. Returns
  // its route (HostPort::LastRoute).
  virtual uint32_t OnSend(Slot slot) = 0;
  // What was scheduled. Before any callback of that time.
  virtual void OnEvent(uint64_t subject, uint32_t detail) = 0;
  // What was scheduled will happen soon: a chance to fetch ahead what it needs.
  virtual void OnEventNears(uint64_t, uint32_t) const {}
  // Everything that was to happen at this time has happened.
  virtual void OnEndOfInstant() {}
  // Nothing is left to happen: an error if something should have.
  virtual Status OnEnd() { return OkStatus(); }

  const Message& message(Slot slot) const { return flights_[slot].message; }
  // Who gets it, and whom he gets it from: others may stand for its ends.
  HostId ReceiverOf(const Message& message) const;
  HostId SeenFrom(const Message& message) const;
  const ReplicaFolding* folding() const { return folding_; }
  // Events of one time are ordered by (subject < 2^63, id).
  void Schedule(Time when, uint64_t subject, uint64_t id, uint32_t detail);
  // The message arrives and its sender hears of it, unless it is control; neither before now.
  void Complete(Slot slot, Time delivered, Time acknowledged);
  // Ends the run; the first counts.
  void Fail(std::string why);
  // Ends the run for want of a way.
  void FailUnreachable(const Message& message);

  int64_t messages() const { return messages_; }
  int64_t message_bytes() const { return bytes_; }

 private:
  class Port final : public HostPort {
   public:
    Port(SerialNetwork* network, HostId host) : network_(network), host_(host) {}
    Time Now() const override { return network_->now_; }
    void At(Time when, TimerId id) override { network_->SetTimer(host_, when, id); }
    void Send(const Message& message) override { network_->Send(host_, message); }
    uint32_t LastRoute() const override { return network_->last_route_; }

   private:
    SerialNetwork* network_;
    HostId host_;
  };

  // In the order in which one host sees events of the same instant.
  enum class Kind : uint8_t { kTimer, kDelivered, kSent };

  // Not a timer: those change too often to lie in a heap.
  struct Event {
    Time time;
    uint64_t order = 0;  // the network's own before hosts'; host, kind, source
    uint64_t id = 0;     // of a message
    Slot slot = 0;       // or detail
    // Time and order as one number: equal times are common, and this has no branch for them.
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
    int left = 0;  // callbacks
  };

  static uint64_t OrderOf(HostId host, Kind kind, HostId source);
  void SetTimer(HostId host, Time when, TimerId id);
  void FindNextTimer(HostId host);
  void Send(HostId host, const Message& message);
  bool TimerIsNext() const;
  Time next_time() const;  // Time::Max(): nothing is to happen
  void RunTimer(std::span<HostActor* const> actors);
  void Dispatch(const Event& event, std::span<HostActor* const> actors);
  // The message, which is forgotten if nobody else is to be told of it.
  Message TakeFlight(Slot slot);
  // Fetches what the event will need into the processor's caches, while another is dealt with.
  void FetchAhead(const Event& event) const;

  const ReplicaFolding* folding_;  // null: every host is there
  std::vector<Port> ports_;
  std::vector<std::vector<Timer>> timers_;  // pending, by host; the next one first
  EarliestSlot next_timers_;                // by host
  std::vector<Flight> flights_;
  std::vector<Slot> free_flights_;
  EventWheel<Event> events_;
  Time now_;
  int64_t messages_ = 0, bytes_ = 0;
  uint32_t last_route_ = 0;
  std::string failure_;  // why the run must end; empty if it need not
};

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_NETWORKS_SERIAL_NETWORK_H_
