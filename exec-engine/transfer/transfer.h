// The state of one communication call on one host: the progress of each channel program and each
// connection.
//
// A runner works through the channel program of one member, as an NCCL thread block does. A
// connection counts the slices that its sender put in and that its receiver took out. ThreadBlocks
// and Proxy advance the state; TransferEngine owns it.
#ifndef DRYDOCK_EXEC_ENGINE_TRANSFER_TRANSFER_H_
#define DRYDOCK_EXEC_ENGINE_TRANSFER_TRANSFER_H_

#include <cstdint>
#include <vector>

#include "core/containers/event_wheel.h"
#include "core/network/network.h"
#include "core/network/relative_state.h"
#include "exec-engine/transfer/local_plan.h"
#include "exec-engine/transfer/message_tag.h"

namespace drydock {

class Transfer {
 public:
  explicit Transfer(uint32_t number) : number_(number) {}
  const LocalPlan& plan() const { return *plan_; }
  CallKey key() const { return key_; }
  uint64_t owner = 0;  // free for the user of the engine

  // A member of this host waits for a peer.
  struct Waiting {
    int member = 0;         // of the group
    int peer = 0;           // of the group
    bool for_data = false;  // false: waits for a free slot at the peer
  };
  // Returns what the members wait for, for reports on calls that never end.
  std::vector<Waiting> WaitingOn() const;
  // Returns since when nothing of the call moves until another member starts or a message arrives;
  // Time::Max() if something does.
  Time RestsSince() const;
  void AppendState(RelativeState* out) const;

 private:
  friend class Proxy;
  friend class ThreadBlocks;
  friend class TransferEngine;
  friend class TransferEvents;

  struct Runner {
    StepCursor at;
    int64_t moved = 0;  // bytes of the primitive
    Time free;          // end of the previous slice
    bool started = false, scheduled = false;
    // Of the present step: the first operands, of which the data, or the room, is known to be there
    // or on its way. Follow from the rest of the state.
    uint32_t with_data = 0, with_room = 0;
    uint32_t gather_waits_for = kElsewhere;  // a connection without data, if the step is gathered
  };
  struct ConnectionState {
    uint32_t sent = 0;       // slices that the sender put in, or that arrived from the network
    uint32_t taken = 0;      // slices that the receiver took, or that the network acknowledged
    uint32_t filled = 0;     // kNet sender: slices that the thread block finished
    uint32_t cleared = 0;    // kNet sender: slices for which the receiver has a slot
    uint32_t posted = 0;     // kNet sender: slices that the proxy took over
    uint32_t launched = 0;   // kNet sender: slices that the network has
    uint32_t route = 0;      // Message::route of what this end sends
    uint32_t other_end = 0;  // Message::destination_place of what this end sends
    Time launch_after;       // kToSwitch: the next piece does not leave before
    Time start_known;        // latest start of a member that the sender knows
    Time start_known_back;   // latest start of a member that the receiver knows
  };
  // A slice that a thread block filled for its NIC.
  struct PostedSlice {
    int64_t wire = 0;    // bytes
    int64_t merged = 1;  // NCCL slices that it represents (Step::merged)
    Time start_known;    // of the sender, when the slice left; only within one NIC
  };
  struct Member {
    uint32_t runners_left = 0;
    uint32_t launch = 0, launch_left = 0;  // the present kernel; its runners that have not ended
    Time start_known, end;
    bool started = false;
  };
  struct Batch {
    uint32_t left = 0;  // runners that have not ended
    Time end;           // latest end of the others
  };

  void Begin(const LocalPlan* plan, CallKey key);
  void AppendConnection(uint32_t connection, RelativeState* out) const;
  // Returns the index of a slice of a connection in there_, free_ and posted_.
  size_t SlotOf(uint32_t connection, uint32_t slice, uint32_t slots) const {
    return connection * plan_->max_slots + slice % slots;
  }
  // Returns true if nothing is in flight and no member has anything left to do.
  bool drained() const { return members_left_ == 0 && net_left_ == 0; }

  const uint32_t number_;  // among this host's transfers, from 1
  const LocalPlan* plan_ = nullptr;
  CallKey key_ = 0;        // kNoCall while the transfer is not in use
  uint32_t net_left_ = 0;  // slices that the network has not acknowledged
  uint32_t members_left_ = 0;
  uint32_t pending_ = 0;  // events
  std::vector<Runner> runners_;
  std::vector<ConnectionState> connections_;
  std::vector<Member> members_;
  std::vector<Batch> batches_;  // by LocalPlan::batches; empty if there is one work
  // By slot (SlotOf). A sender over the network uses posted_ in place of there_.
  std::vector<Time> there_;          // when the slice in the slot is at the receiver
  std::vector<Time> free_;           // when the slot is free again
  std::vector<PostedSlice> posted_;  // empty if the call sends nothing over the network
};

// Names a connection of a transfer in the messages between two hosts (Message::source_place).
struct TransferPlace {
  uint32_t transfer = 0;  // Transfer's number; 0: no place
  uint32_t connection = 0;

  // Returns 0 if the numbers do not fit.
  uint32_t Pack() const {
    const bool fits = transfer <= kMaxNumber && connection <= kMaxNumber;
    return fits ? transfer << kBits | connection : 0;
  }
  static TransferPlace Unpack(uint32_t place) { return {place >> kBits, place & kMaxNumber}; }

 private:
  static constexpr int kBits = 16;
  static constexpr uint32_t kMaxNumber = (1 << kBits) - 1;
};

struct TransferEvent {
  enum class Kind : uint8_t {
    kSlice,   // a runner begins a slice
    kFilled,  // a slice may leave through a NIC
    kLaunch,  // a message leaves
    kCredit,  // a receiver has a free slot
    kLooped   // a slice that does not leave its NIC arrives
  };
  Time time;
  CallKey key = 0;
  Kind kind = Kind::kSlice;
  uint32_t index = 0;  // kSlice: runner; else: connection
  Transfer* transfer = nullptr;

  // Orders by (time, key, kind, index) as two numbers: most events tie in time and call, and this
  // comparison has no branch that could be mispredicted.
  unsigned __int128 TimeAndCall() const {
    return static_cast<unsigned __int128>(time.ps()) << 64 | key;
  }
  uint64_t Part() const { return static_cast<uint64_t>(kind) << 32 | index; }
  friend bool operator<(const TransferEvent& a, const TransferEvent& b) {
    const unsigned __int128 one = a.TimeAndCall(), other = b.TimeAndCall();
    const bool before = one < other, same = one == other, first = a.Part() < b.Part();
    return before | (same & first);
  }
};

// The events of an engine. Transfers know how many of them are theirs.
class TransferEvents {
 public:
  bool empty() const { return queue_.empty(); }
  const TransferEvent& top() const { return queue_.top(); }
  void Push(const TransferEvent& event) {
    ++event.transfer->pending_;
    queue_.Push(event);
  }
  TransferEvent Pop() {
    const TransferEvent event = queue_.Pop();
    --event.transfer->pending_;
    return event;
  }
  // Forgets the events of a transfer, which is not used again before it begins anew.
  void Forget(const Transfer* transfer) {
    queue_.Erase([transfer](const TransferEvent& event) { return event.transfer == transfer; });
  }
  void clear() { queue_.clear(); }
  std::vector<TransferEvent> Sorted() const { return queue_.Sorted(); }

 private:
  EventWheel<TransferEvent> queue_;
};

class TransferListener {
 public:
  virtual ~TransferListener() = default;
  // The member's kernel ends at `end`. Its data began to move freely at `ready`, the latest start
  // of a member that this member knows. Called at or before `end`, once both are certain.
  virtual void OnMemberEnd(Transfer* transfer, uint32_t member, Time end, Time ready) = 0;
  // Sends the message, on a folded connection of this host unless that is 0
  // (LocalConnection::folded). Returns its route (HostPort::LastRoute).
  virtual uint32_t OnMessage(const Message& message, uint32_t folded_connection) = 0;
  // Nothing of the transfer is in flight. The listener may give it back.
  virtual void OnDrained(Transfer* transfer) = 0;
};

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_TRANSFER_TRANSFER_H_
