#include "tests/validation/steady_flows.h"

#include <algorithm>

#include "ns3-backend/packet_network.h"

namespace drydock {
namespace {

class Sender : public HostActor {
 public:
  Sender(HostId host, HostPort* port, const std::vector<Flow>& flows) : port_(port) {
    for (const Flow& flow : flows) {
      if (flow.from == host) flow_ = flow;
    }
  }
  void Start() override {
    if (flow_.end > Time()) port_->At(flow_.begin, 0);
  }
  void OnTimer(TimerId) override {
    for (int i = 0; i < kUnderWay; ++i) SendPiece();
  }
  void OnSent(const Message&) override { SendPiece(); }
  void OnDelivered(const Message&) override {}

 private:
  static constexpr int kUnderWay = 200;
  static constexpr int64_t kPiece = 10'000;

  void SendPiece() {
    if (port_->Now() >= flow_.end || sent_ >= flow_.total) return;
    Message message;
    message.id = next_++;
    message.source = flow_.from;
    message.destination = flow_.to;
    message.flow = flow_.number;
    message.size = Bytes(std::min(kPiece, flow_.total - sent_));
    sent_ += message.size.count();
    port_->Send(message);
  }

  HostPort* port_;
  Flow flow_;
  int64_t sent_ = 0;
  MessageId next_ = 0;
};

}  // namespace

Delivered DeliveredIn(const NetworkLog& log, Time interval) {
  Delivered bytes;
  for (const MessageRecord& record : log.messages) {
    bytes[record.delivered.ps() / interval.ps()][record.message.source] +=
        record.message.size.count();
  }
  return bytes;
}

double GbpsOf(int64_t bytes, Time interval) {
  return static_cast<double>(bytes) * 8e3 / static_cast<double>(interval.ps());
}

Result<NetworkLog> RunFlows(const Topology& topology, const std::vector<Flow>& flows,
                            Time interval) {
  ASSIGN_OR_RETURN(const auto network,
                   MakePacketNetwork(topology, {.threads = 1, .log_interval = interval}));
  std::vector<Sender> senders;
  for (HostId host = 0; host < topology.host_count(); ++host) {
    senders.emplace_back(host, network->port(host), flows);
  }
  std::vector<HostActor*> actors;
  for (Sender& sender : senders) actors.push_back(&sender);
  RETURN_IF_ERROR(network->Run(actors));
  return *network->Log();
}

}  // namespace drydock
