// The seam between the replay and whatever carries bytes between hosts.
//
// A Network is made for one topology and runs once. Every host of the cluster is one HostActor
// (the replay of its GPUs) that sees the world only through its HostPort. Nothing else crosses
// hosts: what an actor learns of another host arrives in a Message.
//
// Contract
//  - Each callback of an actor runs at a simulated time, Now(), that never decreases for that host.
//  - Calls on a HostPort come only from callbacks of that host's actor (or from Start).
//  - Callbacks of one host are ordered by (time, kind, id), never by insertion: timers before
//    deliveries before sent notices; timers by TimerId, messages by (source host, MessageId).
//    So results do not depend on how a network schedules its own work.
//  - Different hosts may run on different threads: an actor shares no mutable state with another.
//  - Different hosts may run in different processes, where the network says so (Owns): all of them
//    make the same network and run it, each with the actors of its own hosts.
//  - The run ends when no host has a timer pending and no message is under way.
#ifndef DRYDOCK_EXEC_ENGINE_NETWORK_NETWORK_H_
#define DRYDOCK_EXEC_ENGINE_NETWORK_NETWORK_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/processes.h"
#include "core/base/result.h"
#include "core/base/units.h"
#include "core/model/link_total.h"
#include "core/model/topology.h"

namespace drydock {

class ReplicaFolding;

using HostId = int32_t;
using TimerId = uint64_t;    // chosen by the actor; one pending time per id
using MessageId = uint64_t;  // chosen by the sending actor, unique per sending host

// One transfer from a NIC to a NIC. `flow` names the queue pair: messages of one flow between the
// same NICs arrive in order and take the same path where routing is by flow.
struct Message {
  MessageId id = 0;
  HostId source = 0;
  HostId destination = 0;
  int16_t source_nic = 0;
  int16_t destination_nic = 0;
  uint32_t flow = 0;
  Bytes size;
  // For the receiving actor; the network carries them and does not look.
  uint64_t tag = 0;
  uint32_t detail = 0;
  // Hints, 0 for none: where each actor would look for what the message belongs to, in numbers of
  // its own, and HostPort::LastRoute of an earlier message of the flow. None changes a result.
  uint32_t source_place = 0, destination_place = 0;
  uint32_t route = 0;
  uint32_t wire = 0;     // ReplicaFolding::wire; 0: none
  bool control = false;  // no data: a clear-to-send; where a flow has several queue pairs, the
                         // first carries it, as in NCCL
  uint64_t cookie = 0;
  Time sent;  // set by Send
};

class HostActor {
 public:
  virtual ~HostActor() = default;
  // Before time starts; may set timers and send.
  virtual void Start() = 0;
  virtual void OnTimer(TimerId id) = 0;
  // The last byte has left the NIC and is acknowledged. A network need not tell of control
  // messages.
  virtual void OnSent(const Message& message) = 0;
  // The last byte is in this host's memory.
  virtual void OnDelivered(const Message& message) = 0;
};

class HostPort {
 public:
  virtual ~HostPort() = default;
  virtual Time Now() const = 0;
  // OnTimer(id) at `when` >= Now(). Setting an id that is pending moves it.
  virtual void At(Time when, TimerId id) = 0;
  // source must be this host, size > 0; both NICs exist and are not the same one.
  virtual void Send(const Message& message) = 0;
  // What the network has found out of the way of the message sent last, so that it need not look
  // again for the next one of the same NICs and flow; 0: nothing.
  virtual uint32_t LastRoute() const { return 0; }
};

// What a network saw in detail: its links at an interval, and every message.
struct LinkName {
  std::string from, to;  // "host 3/nic0", "leaf0"
  Bandwidth rate;
};

// One direction of a cable since the sample before. Links without anything to say have none.
struct LinkSample {
  Time at;
  Time interval;
  int link = 0;                     // into NetworkLog::links
  Bytes sent;                       // headers and acknowledgements included
  Bytes queued;                     // waiting for it at `at`
  int64_t marked = 0, dropped = 0;  // frames that were to leave by it
  Time paused;                      // some class of it
  int64_t repeated = 0;             // packets that the NIC at its start sent again

  bool Quiet() const {
    return sent == Bytes() && queued == Bytes() && marked == 0 && dropped == 0 &&
           paused == Time() && repeated == 0;
  }
};

struct MessageRecord {
  Message message;
  Time delivered;
  Time idle;  // it would have taken on an empty network
};

struct NetworkLog {
  std::vector<LinkName> links;
  std::vector<LinkSample> samples;      // by time and link
  std::vector<MessageRecord> messages;  // by (sent, source, id)
};

// Everything that passes over the cables between two ends ("host 3/nic0", "leaf0") goes into a file
// (pcap).
struct CaptureOptions {
  std::string end;
  std::string other_end;  // empty: over all cables of `end`
  std::string file;
};

struct NetworkOptions {
  int threads = 1;
  // Who computes what: never changes a result. "" is the network's choice.
  std::string partitioning;
  Processes* processes = &OneProcess();
  Time log_interval;  // of the samples in Log(); zero: no log is kept
  std::vector<CaptureOptions> captures;
  // Only some hosts are there, and stand for others; null: all are. It outlives the network, which
  // can (NetworkChoice::folds).
  const ReplicaFolding* folding = nullptr;
};

class Network {
 public:
  virtual ~Network() = default;
  // Whether this process runs the actor of `host`.
  virtual bool Owns(HostId) const { return true; }
  // Valid for the Network's lifetime. Actors are given their ports before Run.
  virtual HostPort* port(HostId host) = 0;
  // Calls Start on each actor, then runs to the end. actors[i] is host i; null where another
  // process owns it. The outcome is the same in all processes.
  virtual Status Run(std::span<HostActor* const> actors) = 0;
  // What was counted in all processes, by name, in a fixed order: "messages", "packets", "packet
  // hops", ...
  virtual std::vector<std::pair<std::string, int64_t>> Counters() const = 0;
  // The busiest directions of cables of all processes, the busiest first, after Run.
  virtual std::vector<LinkTotal> BusiestLinks() const { return {}; }
  // What was seen in detail, after Run, in the first process; null unless the options ask for it.
  virtual const NetworkLog* Log() const { return nullptr; }
};

// One row per choice: selection, --network=help and "valid values are ..." come from the table.
// What a network can do of hosts that are alike (NetworkOptions::folding).
enum class Folds : uint8_t { kNot, kNearly, kExactly };

struct NetworkChoice {
  std::string name;
  std::string summary;
  Result<std::unique_ptr<Network>> (*make)(const Topology&, const NetworkOptions&);
  Folds folds = Folds::kNot;
  bool merges = false;  // takes loops of plans together (merged_loops.h)
};
const std::vector<NetworkChoice>& NetworkChoices();

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_NETWORK_NETWORK_H_
