// Runs orders over the fluid network, for tests that compare it with the packet network.
#ifndef DRYDOCK_TESTS_INTEGRATION_FLUID_RUNS_H_
#define DRYDOCK_TESTS_INTEGRATION_FLUID_RUNS_H_

#include <cstdint>
#include <vector>

#include "core/base/result.h"
#include "ns3-backend/test/fabrics_testing.h"

namespace drydock {

// Of FabricShape's default.
inline constexpr int64_t kPsPerByte = 20;  // at 400 Gbps
inline constexpr int64_t kFullFrame = (4096 + 82) * kPsPerByte;
inline constexpr int64_t kDelay = 500'000;

Status TryFluid(const Topology& topology, std::vector<Order> orders, Outcome* outcome,
                int threads = 1);
// Must succeed.
Outcome RunFluid(const Topology& topology, std::vector<Order> orders, int threads = 1);

// The same over the analytical network.
Outcome RunAnalytical(const Topology& topology, std::vector<Order> orders);

// When the message of `orders[i]` was delivered, ps.
int64_t Delivered(const Outcome& outcome, const std::vector<Order>& orders, size_t i);

// Messages of all sizes at random times between all NICs, in bursts and alone.
std::vector<Order> RandomOrders(const Topology& topology, uint64_t seed, int count);

}  // namespace drydock

#endif  // DRYDOCK_TESTS_INTEGRATION_FLUID_RUNS_H_
