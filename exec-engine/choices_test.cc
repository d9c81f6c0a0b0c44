#include "exec-engine/choices.h"

#include <gtest/gtest.h>

#include "exec-engine/testing.h"

namespace drydock {
namespace {

std::vector<std::string> Unused(const char* network, const Topology& topology) {
  return UnusedSettings(**FindNetwork(network), topology);
}

TEST(ChoicesTest, OnlyThePacketNetworkHasQueues) {
  Topology topology = testing::SmallCluster(2, 2);
  EXPECT_TRUE(Unused("analytical", topology).empty());
  topology.transport.congestion_control = "dcqcn";
  topology.transport.flow_control = "pfc";
  topology.transport.attributes = {{"Dcqcn::Gain", "0.1"}};
  topology.fabric.routing = "spray";
  EXPECT_EQ(
      Unused("analytical", topology),
      (std::vector<std::string>{"transport.congestion_control dcqcn", "transport.flow_control pfc",
                                "transport.attributes.Dcqcn::Gain 0.1", "fabric.routing spray"}));
  EXPECT_TRUE(Unused("packet", topology).empty());
  topology.transport.attributes.emplace_back("FaultInjector::RerouteTime", "1 ms");
  EXPECT_EQ(
      Unused("fluid", topology),
      (std::vector<std::string>{"transport.congestion_control dcqcn", "transport.flow_control pfc",
                                "transport.attributes.Dcqcn::Gain 0.1"}))
      << "its flows take the ways of the packets";
  topology = testing::SmallCluster(2, 2);
  topology.nccl_settings = {{"NCCL_ALGO", "Ring"}, {"NCCL_IB_QPS_PER_CONNECTION", "4"}};
  EXPECT_EQ(Unused("analytical", topology),
            (std::vector<std::string>{"nccl.settings.NCCL_IB_QPS_PER_CONNECTION 4"}))
      << "NCCL plans the same for any number";
}

}  // namespace
}  // namespace drydock
