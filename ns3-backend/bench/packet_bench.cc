// Measures packet-hops per second. A packet-hop is one frame, acknowledgements included, that
// crosses one link. The target of the packet engine is stated for this case: a fat-tree, each host
// sends to one other host six links away, 1000 B of payload per packet, an acknowledgement for
// every packet.
#include <benchmark/benchmark.h>
#include <time.h>

#include <memory>

#include "core/base/check.h"
#include "ns3-backend/packet_network.h"
#include "ns3-backend/test/fabrics_testing.h"

namespace drydock {
namespace {

FabricShape TargetShape() {
  FabricShape shape;
  shape.rate = Bandwidth::BitsPerSecond(100'000'000'000);
  shape.delay = Time::Us(1);
  shape.transport.mtu = Bytes(1000);
  shape.transport.header = Bytes(48);
  shape.transport.ack = Bytes(60);
  shape.transport.packets_per_ack = 1;
  return shape;
}

// Mechanisms beyond queues and cables. kAll: finite buffers with PFC, marks, DCQCN, timers for
// losses (one cable has rare bit errors), ports chosen for each packet.
enum Mechanism { kNone, kPfc, kDcqcn, kSelectiveRepeat, kErrors, kFlowlet, kAdaptive, kAll };
const char* const kMechanismNames[] = {"none",   "pfc",     "dcqcn",    "selective repeat",
                                       "errors", "flowlet", "adaptive", "all"};

Topology With(Mechanism mechanism, Topology topology) {
  const auto has = [mechanism](Mechanism one) { return mechanism == one || mechanism == kAll; };
  if (has(kPfc)) {
    topology.transport.flow_control = FlowControl::kPfc;
    for (FabricSwitch& each : topology.fabric.switches) each.buffer = Bytes(32'000'000);
  }
  if (has(kDcqcn)) topology.transport.congestion_control = CongestionControl::kDcqcn;
  if (has(kSelectiveRepeat)) topology.transport.retransmission = Retransmission::kSelectiveRepeat;
  if (mechanism == kFlowlet) topology.fabric.routing = Routing::kFlowlet;
  if (has(kAdaptive)) topology.fabric.routing = Routing::kAdaptive;
  if (has(kErrors)) {
    Fault fault;
    fault.kind = Fault::Kind::kErrors;
    fault.links = {0};
    fault.bit_errors = 1e-12;
    topology.faults = {fault};
  }
  return topology;
}

// Sends one message when the run starts.
class Sender : public HostActor {
 public:
  Sender(HostPort* port, const Message& message) : port_(port), message_(message) {}
  void Start() override { port_->Send(message_); }
  void OnTimer(TimerId) override {}
  void OnSent(const Message&) override {}
  void OnDelivered(const Message&) override {}

 private:
  HostPort* port_;
  Message message_;
};

double CpuSeconds() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// Arguments: k of the fat-tree, packets per host, threads, mechanism.
void Permutation(benchmark::State& state) {
  const auto mechanism = static_cast<Mechanism>(state.range(3));
  const Topology topology =
      With(mechanism, FatTree(static_cast<int>(state.range(0)), TargetShape()));
  state.SetLabel(kMechanismNames[mechanism]);
  const int hosts = topology.host_count();
  double cpu = 0;
  int64_t hops = 0;
  for (auto _ : state) {
    state.PauseTiming();
    auto network = MakePacketNetwork(topology, {.threads = static_cast<int>(state.range(2))});
    std::vector<Sender> senders;
    for (HostId id = 0; id < hosts; ++id) {
      Message message;
      message.source = id;
      message.destination = (id + hosts / 2) % hosts;  // in another pod
      message.size = Bytes(1000 * state.range(1));
      senders.emplace_back(network.value()->port(id), message);
    }
    std::vector<HostActor*> actors;
    for (Sender& sender : senders) actors.push_back(&sender);
    const double before = CpuSeconds();
    state.ResumeTiming();
    CHECK(network.value()->Run(actors).ok());
    state.PauseTiming();
    cpu += CpuSeconds() - before;
    for (const auto& [name, value] : network.value()->Counters()) {
      if (name == "packet hops") hops += value;
    }
    network.value().reset();
    state.ResumeTiming();
  }
  state.counters["hops/s_wall"] =
      benchmark::Counter(static_cast<double>(hops), benchmark::Counter::kIsRate);
  state.counters["hops/s_cpu"] = static_cast<double>(hops) / cpu;
}
BENCHMARK(Permutation)
    ->ArgNames({"k", "packets", "threads", "mechanism"})
    ->ArgsProduct({{8}, {2000}, {1}, benchmark::CreateDenseRange(kNone, kAll, 1)})
    ->ArgsProduct({{8}, {10000}, {1, 2}, {kNone, kAll}})
    ->ArgsProduct({{16}, {250}, {1}, {kNone, kAll}})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

// Builds and destroys a large cluster. Arguments: hosts (of 8 NICs), spines.
void Construction(benchmark::State& state) {
  const Topology topology = RailFabric(static_cast<int>(state.range(0)), 8, 32,
                                       static_cast<int>(state.range(1)), FabricShape());
  for (auto _ : state) {
    auto network = MakePacketNetwork(topology, {});
    benchmark::DoNotOptimize(network);
  }
}
BENCHMARK(Construction)
    ->ArgNames({"hosts", "spines"})
    ->Args({2048, 32})
    ->Args({4096, 128})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace drydock

BENCHMARK_MAIN();
