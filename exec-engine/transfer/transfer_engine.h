// Moves the data of communication calls through one host, slice by slice.
//
// A call in progress is a Transfer: for each channel program of each member on this host a runner,
// which works through its primitives in order as an NCCL thread block does, and for each connection
// how many slices were sent and taken. A runner begins a slice when it has finished the one before,
// the data is there on every connection it receives from, and a slot is free on every connection it
// sends to. The slice then takes
//     [synchronisation, at a step's first slice] + max(thread block's work, ports crossed)
// and its data is at the peer one link latency later. Over the network, a sender's proxy hands a
// slice to the NIC once the receiver has said that it has room (clear to send), and slots are free
// again when the message is acknowledged.
//
// When a slice begins is known as soon as all it waits for has a time, though that time may lie
// ahead; so there is one event per slice and runner, and ports are taken in the order of
// beginnings. Events of equal time go by call, kind and runner or connection, so the order does not
// depend on when they were put in.
//
// Not thread-safe. Times are absolute; nothing here knows of other hosts but the messages.
#ifndef DRYDOCK_EXEC_ENGINE_TRANSFER_TRANSFER_ENGINE_H_
#define DRYDOCK_EXEC_ENGINE_TRANSFER_TRANSFER_ENGINE_H_

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/containers/event_heap.h"
#include "exec-engine/host/ports.h"
#include "exec-engine/network/message_tag.h"
#include "exec-engine/network/network.h"
#include "exec-engine/transfer/local_plan.h"

namespace drydock {

class Transfer {
 public:
  explicit Transfer(uint32_t number) : number_(number) {}
  const LocalPlan& plan() const { return *plan_; }
  CallKey key() const { return key_; }
  uint64_t owner = 0;  // for whoever began it

  // For reports on what never finished: the connections that some member of this host waits on.
  struct Waiting {
    int member = 0;         // of the group
    int peer = 0;           // of the group
    bool for_data = false;  // else for room at the peer
  };
  std::vector<Waiting> WaitingOn() const;

 private:
  friend class TransferEngine;
  struct Runner {
    StepCursor at;
    int64_t moved = 0;  // bytes of the primitive
    Time free;          // the slice before is finished
    bool started = false, scheduled = false;
  };
  // `stamp` holds LocalPlan::most_slots times a connection at this end: when each slice in flight
  // is there. `room` likewise: when each slot is free again. For a connection from NIC to NIC, the
  // sender keeps in `stamp` what is Posted instead, and the receiver has no use for `room`,
  // unless it is the sender's NIC: then Flow::start_known of when the slice was launched.
  // A slice that waits for its NIC, in the place of a time.
  struct Posted {
    int64_t wire = 0;    // bytes, below 2^40
    int64_t merged = 1;  // NCCL's slices in it, below 2^22
    Time AsTime() const { return Time::Ps(merged << 40 | wire); }
    static Posted Of(Time time) { return {time.ps() & ((int64_t{1} << 40) - 1), time.ps() >> 40}; }
  };
  struct Flow {
    uint32_t sent = 0;       // slices put in by the sender (or arrived from the network)
    uint32_t taken = 0;      // slices the receiver has taken (or the network acknowledged)
    uint32_t filled = 0;     // kNet sender: slices the thread block has finished
    uint32_t cleared = 0;    // kNet sender: slices the receiver has room for
    uint32_t posted = 0;     // kNet sender: slices given to the proxy
    uint32_t launched = 0;   // kNet sender: slices given to the network
    uint32_t route = 0;      // Message::route of what this end sends
    uint32_t other_end = 0;  // Message::destination_place of what it sends
    Time launch_after;       // kToSwitch: not before what went before
    Time start_known;        // latest start of a member that the sender knew of
    Time start_known_back;   // ... that the receiver knew of
  };
  struct Member {
    uint32_t runners_left = 0;
    uint32_t launch = 0, launch_left = 0;  // the present kernel; its runners that are not done
    Time start_known, end;
    bool started = false;
  };

  struct Turn {
    uint32_t left = 0;  // runners that are not done
    Time end;           // of those that are
  };

  const uint32_t number_;  // of this host's transfers, from 1
  const LocalPlan* plan_ = nullptr;
  CallKey key_ = 0;       // kNoCall while nobody has it
  uint32_t net_left = 0;  // slices not yet acknowledged
  uint32_t members_left_ = 0;
  std::vector<Runner> runners_;
  std::vector<Flow> flows_;
  std::vector<Member> members_;
  std::vector<Turn> turns_;  // by LocalPlan::turns; empty if there is one work
  std::vector<Time> stamp_, room_;
};

class TransferEngine {
 public:
  class Listener {
   public:
    virtual ~Listener() = default;
    // The member's kernel will end at `end`; data began to move freely at `ready`, the latest start
    // of a member it heard of. Called when that is certain, at or before `end`.
    virtual void OnMemberEnd(Transfer* transfer, uint32_t member, Time end, Time ready) = 0;
    // Send the message, on a folded connection of this host unless that is 0
    // (LocalConnection::folded). Returns its route (HostPort::LastRoute).
    virtual uint32_t OnMessage(const Message& message, uint32_t folded_connection) = 0;
    // Nothing of the transfer is under way any more; it may be given back.
    virtual void OnDrained(Transfer* transfer) = 0;
  };

  TransferEngine(HostId host, const PortMap& map, Listener* listener)
      : host_(host), ports_(map), listener_(listener) {}

  // `plan` outlives the transfer, which lasts until it is given back.
  Transfer* Begin(const LocalPlan* plan, CallKey key);
  void GiveBack(Transfer* transfer);
  // The member's kernel starts.
  void Start(Transfer* transfer, uint32_t member, Time now);
  // What a message's place (network.h) names, if it is of this call; else no transfer.
  struct Place {
    Transfer* transfer = nullptr;
    uint32_t connection = 0;
  };
  Place Find(uint32_t place, CallKey key) const;
  // A message of this call arrived, or one it sent was acknowledged.
  void OnDelivered(Transfer* transfer, uint32_t connection, const Message& message, Time now);
  void OnSent(Transfer* transfer, uint32_t connection, Time now);

  bool idle() const { return events_.empty(); }
  Time next_time() const { return events_.top().time; }
  void RunNext();
  // Forgets every event and port: a clean sheet for a simulation of its own.
  void Reset();
  int64_t slices() const { return slices_; }
  int64_t merged() const { return merged_; }  // slices that others stood for, themselves included
  Ports& ports() { return ports_; }           // for what shares them with calls

 private:
  enum class Kind : uint8_t { kSlice, kFilled, kLaunch, kCredit, kLooped };
  struct Event {
    Time time;
    CallKey key = 0;
    Kind kind = Kind::kSlice;
    uint32_t index = 0;  // runner or connection
    Transfer* transfer = nullptr;
    // (time, key, kind, index) as two numbers: equal times and calls are the rule, and this has no
    // branch for them.
    unsigned __int128 Call() const { return static_cast<unsigned __int128>(time.ps()) << 64 | key; }
    uint64_t Part() const { return static_cast<uint64_t>(kind) << 32 | index; }
    friend bool operator<(const Event& a, const Event& b) {
      const unsigned __int128 one = a.Call(), other = b.Call();
      const bool before = one < other, same = one == other, first = a.Part() < b.Part();
      return before | (same & first);
    }
  };

  // The slice that a runner works on.
  struct Slice {
    uint32_t runner = 0;
    uint32_t slots = 0;                         // of the runner's work
    std::span<const uint32_t> receives, sends;  // connections
    int64_t bytes = 0, wire = 0;
    int64_t merged = 1;  // it stands for so many (Step::merged)
    Time filled;  // its message may leave: of merged ones, so that its last byte is not early
  };

  void StartKernel(Transfer* t, uint32_t member, uint32_t launch, Time now);
  void StartRunner(Transfer* t, uint32_t runner, Time now);
  void EndTurn(Transfer* t, uint32_t turn, Time end);
  void TrySchedule(Transfer* t, uint32_t runner);
  void RunSlice(Transfer* t, uint32_t runner, Time now);
  Time AllButOne(const LocalPlan& plan, const Slice& slice,
                 std::span<const uint32_t> connections) const;
  Time Receive(Transfer* t, const Slice& slice, Time from);
  Time Send(Transfer* t, const Slice& slice, Time from);
  void FinishSlice(Transfer* t, const Slice& slice, Time end);
  void Advance(Transfer* t, const Slice& slice, Time end);
  void EndRunner(Transfer* t, uint32_t runner, Time end);
  void Post(Transfer* t, uint32_t connection, Time now);
  void PostPieces(Transfer* t, uint32_t connection, Time now);
  void PostSlice(Transfer* t, uint32_t connection, uint32_t slice, Time now);
  void Launch(Transfer* t, uint32_t connection, Time now);
  bool LoopsInNic(const LocalConnection& c) const;
  void EndLoop(Transfer* t, uint32_t connection, Time now);
  void Arrive(Transfer* t, uint32_t connection, int64_t wire, Time known, Time now);
  void GiveCredit(Transfer* t, uint32_t connection, Time now);
  void TakeCredit(Transfer* t, uint32_t connection, Time known, Time now);
  void CheckDrained(Transfer* t);
  void SendMessage(Transfer* t, uint32_t connection, int64_t bytes, bool credit, Time known);

  HostId host_;
  Ports ports_;
  Listener* listener_;
  EventHeap<Event> events_;
  std::vector<std::unique_ptr<Transfer>> pool_;
  std::vector<Transfer*> free_;
  MessageId next_message_ = 1;
  int64_t slices_ = 0, merged_ = 0;
};

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_TRANSFER_TRANSFER_ENGINE_H_
