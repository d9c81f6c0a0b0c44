// NCCL's own choices deliver on shipped clusters for ranks of any placement: every collective and
// message, of any size, in and out of place, of every type and operation.
//
// RC_PARAMS (of rapidcheck) sets the number of groups and the seed.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/schema/cluster/cluster_file.h"
#include "simccl/nccl/nccl_planner.h"
#include "simccl/testing/proof_testing.h"

namespace drydock {
namespace {

// A cluster of 64 hosts with NCCL. A process has one set of NCCL settings.
class TestCluster {
 public:
  explicit TestCluster(const std::string& name)
      : name_(name),
        input_(LoadCluster("configs/clusters/" + name + ".topo",
                           {"cluster.hosts=64", "nccl.settings.NCCL_COLLNET_ENABLE=1"})
                   .value()),
        planner_(MakeNcclPlanner(input_.topology).value()) {}
  const std::string& name() const { return name_; }
  CollectivePlanner& planner() { return *planner_; }

 private:
  std::string name_;
  ClusterInput input_;
  std::unique_ptr<CollectivePlanner> planner_;
};

TestCluster& Cluster(size_t index) {
  static const auto* const clusters = [] {
    auto* made = new std::vector<std::unique_ptr<TestCluster>>;
    for (const char* name : {"dgx-h100-8", "dgx-h100-8-sharp", "dgx-a100-80g-8"}) {
      made->push_back(std::make_unique<TestCluster>(name));
    }
    return made;
  }();
  return *(*clusters)[index % clusters->size()];
}

using Members = std::vector<Placement::Slot>;

// Draws 1 to 64 members on hosts of one to eight GPUs each, host by host or in random order.
Members AnyGroup() {
  const std::vector<std::vector<int>> lists = {
      {0, 1, 2, 3, 4, 5, 6, 7}, {3}, {0, 2, 4, 6}, {1, 5}, {6, 7, 0}};
  const auto one = [&] { return *rc::gen::elementOf(lists); };
  const auto ranks = static_cast<size_t>(*rc::gen::inRange(1, 65));
  const bool same_on_all = *rc::gen::arbitrary<bool>();
  Members members;
  std::vector<int> gpus = one();
  for (int host = 0; members.size() < ranks; ++host) {
    for (const int gpu : gpus) {
      if (members.size() < ranks) members.push_back({host, gpu});
    }
    if (!same_on_all) gpus = one();
  }
  // Sorted by GPU: the members of a host keep their order, and NCCL searches their kind once.
  if (*rc::gen::arbitrary<bool>()) {
    std::stable_sort(members.begin(), members.end(),
                     [](const auto& a, const auto& b) { return a.gpu < b.gpu; });
  }
  return members;
}

// Some collectives in the network on registered buffers have no expansion.
bool IsNotExpanded(const Error& error) {
  return error.message().find("on buffers that the NICs read and write") != std::string::npos;
}

// GPUs before the H100 do not reduce 8-bit floats.
CommCall AnyCall(int members, bool reduces_fp8) {
  CommCall call;
  call.group_size = members;
  call.collective = static_cast<CollectiveType>(*rc::gen::inRange(0, kCollectiveTypeCount));
  call.type = *rc::gen::elementOf(std::vector<DataType>{
      DataType::kBf16, DataType::kFp32, DataType::kFp64, DataType::kFp8, DataType::kInt8});
  if (call.type == DataType::kFp8 && !reduces_fp8) call.type = DataType::kInt8;
  call.op = static_cast<ReduceOp>(*rc::gen::inRange(0, kReduceOpCount));
  call.root = *rc::gen::inRange(0, members);
  call.peer = (call.root + *rc::gen::inRange(1, std::max(members, 2))) % members;
  // NCCL has no all-to-all in place.
  call.in_place = *rc::gen::arbitrary<bool>() && call.collective != CollectiveType::kAllToAll;
  call.buffers = *rc::gen::elementOf(std::vector{BufferKind::kPlain, BufferKind::kRegistered});
  // Every order of magnitude up to 2^24, and 0.
  const int64_t part = (int64_t{1} << *rc::gen::inRange(0, 25)) * *rc::gen::inRange(64, 128) / 128;
  if (call.collective == CollectiveType::kAllToAllV) {
    for (int pair = 0; pair < members * members; ++pair) {
      call.pair_counts.push_back(pair * 2654435761 % 5 * part / members / 4);
    }
    call.count = part * 2;  // larger than any buffer
  } else {
    call.count = HasParts(call.collective) ? part / members * members : part;
  }
  return call;
}

// On hosts of different sizes NCCL ends CollNetChain at ranks that it did not join to the network.
bool IsUnjoinedChain(const Error& error) {
  return error.message().starts_with("NCCL reduces in the network at member ");
}

TEST(ChoicesPropertyTest, NcclsChoicesDeliver) {
  EXPECT_TRUE(rc::check([] {
    TestCluster& cluster = Cluster(*rc::gen::inRange<size_t>(0, 3));
    const Members members = AnyGroup();
    const Status opened = cluster.planner().OpenGroup(members);
    RC_ASSERT(opened.ok());
    for (int i = 0; i < 4; ++i) {
      const CommCall call = AnyCall(static_cast<int>(members.size()), cluster.name()[4] == 'h');
      const Result<Plan> plan = cluster.planner().PlanCall(call);
      if (!plan.ok() && (IsUnjoinedChain(plan.error()) || IsNotExpanded(plan.error()))) continue;
      const bool sends = !plan.ok() || plan->works[0].algorithm != Algorithm::kLocal;
      const std::string wrong = sends ? Wrong(plan, call) : "";
      if (!wrong.empty()) RC_FAIL(cluster.name() + ", " + NameOf(call) + ": " + wrong);
    }
  }));
}

}  // namespace
}  // namespace drydock
