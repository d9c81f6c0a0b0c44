// NCCL's choices deliver on every shipped kind of host, for groups of many shapes.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/model/calls/grouped_call.h"
#include "core/schema/cluster/cluster_file.h"
#include "simccl/nccl/nccl_planner.h"
#include "simccl/proof/interpreter.h"

namespace drydock {
namespace {

using Members = std::vector<Placement::Slot>;

Members On(int hosts, const std::vector<int>& gpus) {
  Members members;
  for (int host = 0; host < hosts; ++host) {
    for (const int gpu : gpus) members.push_back({host, gpu});
  }
  return members;
}

std::vector<Members> Groups() {
  std::vector<Members> groups = {On(1, {0, 1, 2, 3, 4, 5, 6, 7}), On(1, {2, 7}), On(2, {0, 3, 6}),
                                 On(2, {5}), On(2, {7, 2, 5, 0})};
  Members uneven = On(1, {0, 1, 2, 3, 4});
  uneven.push_back({1, 6});
  uneven.push_back({1, 7});
  Members turns;
  for (const int gpu : {1, 4, 6}) {
    turns.push_back({1, gpu});
    turns.push_back({0, gpu});
  }
  groups.push_back(uneven);
  groups.push_back(turns);
  return groups;
}

std::vector<CommCall> Calls(int members) {
  std::vector<CommCall> calls;
  for (const CollectiveType type :
       {CollectiveType::kAllReduce, CollectiveType::kAllGather, CollectiveType::kReduceScatter,
        CollectiveType::kBroadcast, CollectiveType::kAllToAll, CollectiveType::kSendRecv}) {
    for (const int64_t part : {700, 60'000}) {
      CommCall call;
      call.collective = type;
      call.type = DataType::kFp16;
      call.count = part * members;
      call.group_size = members;
      if (type == CollectiveType::kSendRecv) call.peer = members - 1;
      calls.push_back(call);
    }
  }
  return calls;
}

void ExpectDeliveries(const Topology& topology, const std::vector<Members>& groups) {
  const auto planner = MakeNcclPlanner(topology);
  ASSERT_TRUE(planner.ok()) << planner.error().ToString();
  for (const Members& members : groups) {
    const Status opened = (*planner)->OpenGroup(members);
    ASSERT_TRUE(opened.ok()) << opened.error().ToString();
    for (const CommCall& call : Calls(static_cast<int>(members.size()))) {
      const Result<Plan> plan = (*planner)->PlanCall(call);
      ASSERT_TRUE(plan.ok()) << NameOf(call) << ": " << plan.error().ToString();
      EXPECT_EQ(CheckPlan(*plan, call), "") << NameOf(call);
    }
  }
}

class HostsTest : public ::testing::TestWithParam<const char*> {};

TEST_P(HostsTest, NcclsChoicesDeliver) {
  const Result<ClusterInput> cluster =
      LoadCluster(std::string("configs/clusters/") + GetParam() + ".topo", {});
  ASSERT_TRUE(cluster.ok()) << cluster.error().ToString();
  ExpectDeliveries(cluster->topology, Groups());
}

INSTANTIATE_TEST_SUITE_P(Clusters, HostsTest,
                         ::testing::Values("dgx-a100-80g-8", "hgx-a100-4nic-8", "dgx-h100-8",
                                           "dgx-h100-8-sharp", "dgx-h200-8", "dgx-b200-8",
                                           "gb200-nvl72-2", "l40s-pcie-4", "dgx-1-v100-2"),
                         [](const auto& each) {
                           std::string name = each.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

// Settings that divide a machine or a rack into several hosts.
class SplitHostsTest
    : public ::testing::TestWithParam<std::pair<const char*, std::vector<std::string>>> {};

TEST_P(SplitHostsTest, NcclsChoicesDeliver) {
  Result<ClusterInput> cluster =
      LoadCluster(std::string("configs/clusters/") + GetParam().first + ".topo", {});
  ASSERT_TRUE(cluster.ok()) << cluster.error().ToString();
  for (const std::string& name : GetParam().second) {
    cluster->topology.nccl_settings.emplace_back(name, "1");
  }
  ExpectDeliveries(cluster->topology, Groups());
}

INSTANTIATE_TEST_SUITE_P(
    Settings, SplitHostsTest,
    ::testing::Values(std::pair("dgx-h100-8", std::vector<std::string>{"NCCL_P2P_DISABLE"}),
                      std::pair("dgx-a100-80g-8",
                                std::vector<std::string>{"NCCL_P2P_DISABLE", "NCCL_SHM_DISABLE"}),
                      std::pair("gb200-nvl72-2", std::vector<std::string>{"NCCL_P2P_DISABLE"})),
    [](const auto& each) { return "Number" + std::to_string(each.index); });

// An A100 host and an H100 host: the host kind of one cluster added to the other.
TEST(MixedHostsTest, NcclsChoicesDeliver) {
  Result<ClusterInput> a100 = LoadCluster("configs/clusters/dgx-a100-80g-8.topo", {});
  const Result<ClusterInput> h100 = LoadCluster("configs/clusters/dgx-h100-8.topo", {});
  ASSERT_TRUE(a100.ok() && h100.ok());
  Topology& topology = a100->topology;
  topology.gpus.push_back(h100->topology.gpus[0]);
  topology.host_kinds.push_back(h100->topology.host_kinds[0]);
  topology.host_kinds.back().gpu = 1;
  topology.hosts[1] = 1;
  ExpectDeliveries(topology, {On(2, {0, 1, 2, 3, 4, 5, 6, 7}), On(2, {3}), On(3, {1, 6})});
}

}  // namespace
}  // namespace drydock
