#include "workload-gen/graph/check/communicators.h"

#include <gmock/gmock.h>

#include <set>

#include "workload-gen/layout/process_groups.h"
#include "workload-gen/testing/job_testing.h"

namespace drydock {
namespace {

// TP2 PP2 DP2 on two hosts of four GPUs: ranks 0..3 and 4..7.
TEST(Communicators, GroupsOfOnePlacementShareACommunicator) {
  const Workload w = TestWorkload({}, 2, 4);
  const std::vector<size_t> first_of = FirstOfPlacement(w);
  const auto first = [&](Role role, int rank) {
    return first_of[static_cast<size_t>(w.group_of_rank[role][static_cast<size_t>(rank)])];
  };
  EXPECT_EQ(first(kTensorRole, 0), first(kTensorRole, 4));  // GPUs 0 and 1, of either host
  EXPECT_NE(first(kTensorRole, 0), first(kTensorRole, 2));  // GPUs 2 and 3
  EXPECT_NE(first(kTensorRole, 0), first(kPipelineRole, 0));
  EXPECT_NE(first(kPipelineRole, 0), first(kPipelineRole, 1));
  for (size_t group = 0; group < first_of.size(); ++group)
    EXPECT_EQ(first_of[first_of[group]], first_of[group]);
}

TEST(Communicators, DistinguishesKindsOfHosts) {
  Workload w = TestWorkload({}, 2, 4);
  w.topology.host_kinds.push_back(w.topology.host_kinds[0]);
  w.topology.hosts[1] = 1;
  const std::vector<size_t> first_of = FirstOfPlacement(w);
  EXPECT_NE(first_of[static_cast<size_t>(w.group_of_rank[kTensorRole][0])],
            first_of[static_cast<size_t>(w.group_of_rank[kTensorRole][4])]);
}

TEST(Communicators, TheNumberOfPlacementsDoesNotGrowWithTheCluster) {
  const auto cases = [](int hosts) {
    const Workload w = TestWorkload({"training.global_batch=64"}, hosts, 4);
    const std::vector<size_t> first_of = FirstOfPlacement(w);
    return std::set<size_t>(first_of.begin(), first_of.end()).size();
  };
  EXPECT_EQ(cases(8), cases(16));
}

TEST(Communicators, AMissingLibraryIsAnError) {
  const Result<size_t> created = CreateCommunicators(TestWorkload(), {"no/such.so", false});
  ASSERT_FALSE(created.ok());
  EXPECT_THAT(created.error().ToString(), testing::HasSubstr("no/such.so: error: "));
}

}  // namespace
}  // namespace drydock
