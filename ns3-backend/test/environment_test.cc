// Does the caller's environment change a result? ns-3 would read attribute defaults from it. This
// is a separate program because ns-3 reads the environment once per process.
#include <gtest/gtest.h>

#include <cstdlib>

#include "ns3-backend/test/fabrics_testing.h"

namespace drydock {
namespace {

TEST(Environment, AttributeDefaultsAreIgnored) {
  setenv("NS_ATTRIBUTE_DEFAULT", "ns3::rdma::RdmaTransport::WindowBdp=0.0", 1);
  const Outcome out = RunPackets(TwoHosts(FabricShape()), {Transfer(0, 1, 4096 * 1000)});
  EXPECT_EQ(out.TimeOf(Notice::kDelivered, 0, 0), 1000 * (4096 + 82) * 20 + 500'000)
      << "line rate, which a window of no bandwidth-delay product does not allow";
}

}  // namespace
}  // namespace drydock
