// Records the log of a packet network: samples every link at an interval and every message.
#ifndef DRYDOCK_NS3_BACKEND_NETWORK_WATCH_H_
#define DRYDOCK_NS3_BACKEND_NETWORK_WATCH_H_

#include <vector>

#include "core/model/fabric/connection_shape.h"
#include "core/network/network_log.h"
#include "ns3-backend/helper/fabric-helper.h"
#include "ns3-backend/model/simulator/windowed-simulator-impl.h"

namespace drydock {

// Samples are events of the simulator, between windows. Must not be moved or copied.
class NetworkWatch {
 public:
  // All arguments except the topology outlive this.
  NetworkWatch(const Topology& topology, const ns3::rdma::FabricHelper& fabric,
               ns3::Ptr<ns3::rdma::WindowedSimulatorImpl> simulator, Time interval);
  NetworkWatch(const NetworkWatch&) = delete;
  NetworkWatch& operator=(const NetworkWatch&) = delete;

  // Call after the run, in all processes. Takes the last sample and gathers all records, in order,
  // in the first process.
  void Finish(Processes* processes);

  const NetworkLog& Log() const { return log_; }

 private:
  struct Counted {
    uint64_t bytes = 0, marked = 0, dropped = 0, repeated = 0;
    int64_t paused = 0;
  };
  using Deliveries = std::vector<MessageRecord>;  // of one host

  static void Deliver(Deliveries* deliveries, const Message& message, int64_t now);
  void Tick();
  void Sample(int64_t now);
  void Gather(Processes* processes);
  Counted CountsOf(uint32_t link, int64_t now) const;
  void AddIdleTimes(Deliveries* deliveries) const;
  // Returns the time of the message on an idle network; `number` counts the messages of its
  // connection.
  Time IdleTime(const Message& message, uint64_t number) const;

  const ns3::rdma::FabricHelper& fabric_;
  ns3::Ptr<ns3::rdma::WindowedSimulatorImpl> simulator_;
  const Time interval_;
  const int64_t mtu_;
  const int64_t header_;
  const ConnectionShape connection_;
  std::vector<Time> nic_latency_;       // by host
  Time sampled_;                        // time of the last sample
  std::vector<Counted> last_;           // by link
  std::vector<Deliveries> deliveries_;  // by host; the host's thread writes them
  NetworkLog log_;
};

}  // namespace drydock

#endif  // DRYDOCK_NS3_BACKEND_NETWORK_WATCH_H_
