// The seam between the replay and the networks that carry bytes between hosts.
//
// A Network is made for one topology and runs once. Every host of the cluster is one HostActor,
// which replays the host's GPUs and sees the rest of the cluster only through its HostPort. Nothing
// else crosses hosts: an actor learns of another host only from a Message.
//
// Contract
//  - Each callback of an actor runs at a simulated time, Now(), which never decreases for that
//  host.
//  - Only callbacks of a host's actor (and its Start) call that host's HostPort.
//  - Callbacks of one host are ordered by (time, kind, id), never by insertion: timers before
//    deliveries before notices of sending; timers by TimerId, messages by (source host, MessageId).
//    So results do not depend on how a network schedules its own work.
//  - Different hosts may run on different threads. An actor shares no mutable state with another.
//  - Different hosts may run in different processes, if the network supports that (Owns). Every
//    process makes the same network and runs it with the actors of its own hosts.
//  - The run ends when no host has a pending timer and no message is in flight.
#ifndef DRYDOCK_CORE_NETWORK_NETWORK_H_
#define DRYDOCK_CORE_NETWORK_NETWORK_H_

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/processes.h"
#include "core/base/result.h"
#include "core/base/units.h"
#include "core/model/link_total.h"
#include "core/network/message.h"

namespace drydock {

struct NetworkLog;

using TimerId = uint64_t;  // chosen by the actor; an id has at most one pending time

class HostActor {
 public:
  virtual ~HostActor() = default;
  // Called before time starts. May set timers and send.
  virtual void Start() = 0;
  virtual void OnTimer(TimerId id) = 0;
  // The last byte has left the NIC and is acknowledged. A network may omit this notice for control
  // messages.
  virtual void OnSent(const Message& message) = 0;
  // The last byte is in this host's memory.
  virtual void OnDelivered(const Message& message) = 0;
};

class HostPort {
 public:
  virtual ~HostPort() = default;
  virtual Time Now() const = 0;
  // Calls OnTimer(id) at `when`. Setting a pending id moves it. REQUIRES: when >= Now().
  virtual void At(Time when, TimerId id) = 0;
  // REQUIRES: the source is this host, the size is above 0, both NICs exist and differ.
  virtual void Send(const Message& message) = 0;
  // Returns the handle of the route that the last message took, or 0. A later message of the same
  // NICs and flow may carry it in Message::route, which saves the network a look-up.
  virtual uint32_t LastRoute() const { return 0; }
};

// Records all frames on the cables between two ends, such as "host 3/nic0" and "leaf0", in a file
// (pcap).
struct CaptureOptions {
  std::string end;
  std::string other_end;  // empty: all cables of `end`
  std::string file;
};

struct NetworkOptions {
  int threads = 1;
  // How hosts and switches are distributed over processes and threads; "" is the network's default.
  // Never changes a result.
  std::string partitioning;
  Processes* processes = &OneProcess();
  Time log_interval;  // of the samples in Log(); zero: no log is kept
  std::vector<CaptureOptions> captures;
};

class Network {
 public:
  virtual ~Network() = default;
  // Returns whether this process runs the actor of the host.
  virtual bool Owns(HostId) const { return true; }
  // Valid for the lifetime of the network. Actors get their ports before Run.
  virtual HostPort* port(HostId host) = 0;
  // Calls Start on each actor, then runs to the end. actors[i] is host i, or null if another
  // process owns it. Every process returns the same status.
  virtual Status Run(std::span<HostActor* const> actors) = 0;
  // Returns the totals of all processes by name, in a fixed order: "messages", "packets", "packet
  // hops", ...
  virtual std::vector<std::pair<std::string, int64_t>> Counters() const = 0;
  // Returns the busiest links of all processes, the busiest first. REQUIRES: Run has returned.
  virtual std::vector<LinkTotal> BusiestLinks() const { return {}; }
  // Returns the log in the first process, if NetworkOptions::log_interval is above zero; else null.
  // REQUIRES: Run has returned.
  virtual const NetworkLog* Log() const { return nullptr; }
};

}  // namespace drydock

#endif  // DRYDOCK_CORE_NETWORK_NETWORK_H_
