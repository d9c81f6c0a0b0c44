#include "tests/integration/fluid_runs.h"

#include <random>
#include <utility>

#include "core/base/check.h"
#include "exec-engine/networks/analytical_network.h"
#include "exec-engine/networks/fluid/fluid_network.h"

namespace drydock {

Status TryFluid(const Topology& topology, std::vector<Order> orders, Outcome* outcome,
                int threads) {
  NetworkOptions options;
  options.threads = threads;
  ASSIGN_OR_RETURN(const auto network, MakeFluidNetwork(topology, options));
  const Status status = RunOrders(topology, network.get(), std::move(orders), &outcome->notices);
  outcome->counters = network->Counters();
  return status;
}

Outcome RunFluid(const Topology& topology, std::vector<Order> orders, int threads) {
  Outcome outcome;
  const Status status = TryFluid(topology, std::move(orders), &outcome, threads);
  CHECK_NOTE(status.ok(), status.ok() ? "" : status.error().message());
  return outcome;
}

Outcome RunAnalytical(const Topology& topology, std::vector<Order> orders) {
  Outcome outcome;
  auto network = MakeAnalyticalNetwork(topology, {});
  CHECK(network.ok());
  CHECK(RunOrders(topology, network->get(), std::move(orders), &outcome.notices).ok());
  return outcome;
}

int64_t Delivered(const Outcome& outcome, const std::vector<Order>& orders, size_t i) {
  return outcome.TimeOf(Notice::kDelivered, orders[i].message.source, i);
}

std::vector<Order> RandomOrders(const Topology& topology, uint64_t seed, int count) {
  std::mt19937_64 random(seed);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<uint64_t>(n)); };
  std::vector<Order> orders;
  Time at;
  while (static_cast<int>(orders.size()) < count) {
    const HostId from = below(topology.host_count()), to = below(topology.host_count());
    if (from == to) continue;
    if (below(4) == 0) at += Time::Ns(below(20'000));
    const int64_t bytes = 1 + below(1 << (4 + below(19)));
    orders.push_back(Transfer(from, to, bytes, at, static_cast<uint32_t>(below(4))));
    orders.back().message.source_nic =
        static_cast<int16_t>(below(topology.host_kinds[0].nics.count));
    orders.back().message.destination_nic =
        static_cast<int16_t>(below(topology.host_kinds[0].nics.count));
  }
  return orders;
}

}  // namespace drydock
