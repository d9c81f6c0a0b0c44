// For every algorithm and protocol, on 2 to 64 ranks of any placement: the expanded programs give
// every rank exactly the data that the collective defines, and no channels wait for each other in a
// cycle.
//
// RC_PARAMS (of rapidcheck) sets the number of groups and the seed.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <string>
#include <vector>

#include "simccl/expand/expand.h"
#include "simccl/expand/plan_builder.h"
#include "simccl/testing/expand_testing.h"
#include "simccl/testing/proof_testing.h"

namespace drydock {
namespace {

// Returns "" if the collective delivers.
std::string ErrorIn(const NcclCommunicator& comm, const hacknccl_collective& work) {
  PlanBuilder builder(comm);
  if (const Status expanded = ExpandCollective(work, &builder); !expanded.ok()) {
    return expanded.error().ToString();
  }
  return Wrong(builder.Finish(), CallOf(comm, work));
}

std::string Describe(const hacknccl_collective& work) {
  return "function " + std::to_string(work.function) + ", algorithm " +
         std::to_string(work.algorithm) + ", protocol " + std::to_string(work.protocol) + ", " +
         std::to_string(work.count) + " elements of " + std::to_string(work.element_bytes) +
         " B, chunks of " + std::to_string(work.chunk_lo) + " B, " +
         std::to_string(work.channel_hi + 1) + " channels";
}

// Lists of GPUs in rank order. There are few, since NCCL searches each kind of host once.
const std::vector<std::vector<int>> kGpus = {{0, 1, 2, 3, 4, 5, 6, 7},
                                             {0},
                                             {5},
                                             {0, 1, 2, 3},
                                             {0, 2, 4, 6},
                                             {2, 7},
                                             {4, 5, 6},
                                             {0, 1, 2, 3, 4},
                                             {7, 2, 5, 0},
                                             {6, 5, 4, 3, 2, 1, 0}};

// Draws 2 to 64 ranks.
GroupShape AnyShape() {
  const auto host = static_cast<TestHost>(*rc::gen::inRange(0, int{kTestHosts}));
  const int ranks = *rc::gen::inRange(2, 65);
  const auto one = [] { return *rc::gen::elementOf(kGpus); };
  GroupShape shape = {host, {}, *rc::gen::arbitrary<bool>()};
  const bool same_on_all = *rc::gen::arbitrary<bool>();
  std::vector<int> gpus = one();
  while (shape.ranks() < ranks) {
    const size_t room = static_cast<size_t>(64 - shape.ranks());
    shape.gpus.push_back(gpus.size() <= room ? gpus : kGpus[1]);
    if (!same_on_all) gpus = one();
  }
  if (shape.ranks() == 1) shape.gpus.push_back(kGpus[1]);
  return shape;
}

// A multiple of 16 B; NVLS within a host cuts its last loop in multiples of 16 KiB.
int64_t AnyChunk(const KernelChoice& choice) {
  const bool nvls = choice.algorithm == HACKNCCL_NVLS && choice.function == HACKNCCL_ALL_REDUCE;
  return nvls ? 16384 * *rc::gen::inRange(1, 4) : 16 * *rc::gen::inRange(1, 65);
}

// One element, or up to about four loops of every channel.
int64_t AnyCount(const NcclCommunicator& comm, const KernelChoice& choice, int64_t chunk,
                 int channels) {
  const bool whole = choice.function == HACKNCCL_ALL_REDUCE;
  const int64_t loop = chunk * channels * (whole ? comm.shape().ranks : 1);
  return *rc::gen::oneOf(rc::gen::inRange<int64_t>(1, 9),
                         rc::gen::inRange<int64_t>(1, std::max<int64_t>(4 * loop, 2)));
}

hacknccl_collective AnyWork(const NcclCommunicator& comm) {
  const KernelChoice choice =
      *rc::gen::suchThat(rc::gen::elementOf(KernelChoices()),
                         [&comm](const KernelChoice& each) { return Offers(comm, each); });
  const bool moves =
      choice.function == HACKNCCL_ALL_GATHER || choice.function == HACKNCCL_BROADCAST;
  const int element_bytes = moves ? 1 : 1 << *rc::gen::inRange(0, 4);  // NCCL moves bytes
  const int channels = *rc::gen::inRange(1, 4);
  const int64_t chunk = AnyChunk(choice);
  const int64_t bytes = AnyCount(comm, choice, chunk, channels);
  hacknccl_collective work =
      KernelWork(comm, choice, element_bytes, (bytes + element_bytes - 1) / element_bytes, chunk,
                 std::min(channels, comm.shape().ring_channels));
  work.root = *rc::gen::inRange(0, comm.shape().ranks);
  return work;
}

TEST(ExpandPropertyTest, AnyCollectiveOnAnyGroupDelivers) {
  EXPECT_TRUE(rc::check([] {
    const GroupShape shape = AnyShape();
    const NcclCommunicator comm = Open(shape);
    for (int i = 0; i < 8; ++i) {
      const hacknccl_collective work = AnyWork(comm);
      const std::string wrong = ErrorIn(comm, work);
      if (!wrong.empty()) RC_FAIL(shape.ToString() + "; " + Describe(work) + ": " + wrong);
    }
  }));
}

// Small parts: a window holds a part of every host, which are more than the slots of a connection.
TEST(ExpandPropertyTest, WindowsOfMorePiecesThanSlotsDeliver) {
  const NcclCommunicator comm = Open(SameGpusOnHosts(kH100Sharp, 9, {4, 5, 6}));
  for (const int function : {HACKNCCL_ALL_GATHER, HACKNCCL_REDUCE_SCATTER}) {
    const KernelChoice choice = {function, HACKNCCL_COLLNET_DIRECT, HACKNCCL_SIMPLE};
    ASSERT_TRUE(Offers(comm, choice));
    const hacknccl_collective work = KernelWork(comm, choice, 1, 1, 16, 1);
    EXPECT_EQ(ErrorIn(comm, work), "") << Describe(work);
  }
}

// Every available algorithm: with one rank per host, on full hosts and a partly filled one, and on
// one host.
TEST(ExpandPropertyTest, EveryNumberOfRanksDelivers) {
  const std::vector<int>& all = kGpus[0];
  for (int ranks = 2; ranks <= 64; ++ranks) {
    const TestHost host = ranks % 2 == 0 ? kH100Sharp : kA100Sharp;
    std::vector<GroupShape> shapes = {SameGpusOnHosts(host, ranks, kGpus[1])};
    shapes.push_back(SameGpusOnHosts(host, ranks / 8, all));
    if (ranks % 8 > 0) shapes.back().gpus.emplace_back(all.begin(), all.begin() + ranks % 8);
    if (ranks <= 8) shapes.back().host = kH100;
    for (const GroupShape& shape : shapes) {
      const NcclCommunicator comm = Open(shape);
      for (const KernelChoice& choice : KernelChoices()) {
        if (!Offers(comm, choice)) continue;
        const hacknccl_collective work =
            KernelWork(comm, choice, 1, 1001 + 64 * ranks, 512, 1 + ranks % 2);
        EXPECT_EQ(ErrorIn(comm, work), "") << shape.ToString() << "; " << Describe(work);
      }
    }
  }
}

}  // namespace
}  // namespace drydock
