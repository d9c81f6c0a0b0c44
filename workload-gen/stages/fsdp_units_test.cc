#include "workload-gen/stages/fsdp_units.h"

#include <gmock/gmock.h>

#include "workload-gen/stages/data_parallel.h"
#include "workload-gen/testing/sharded_testing.h"

namespace drydock {
namespace {

using ::testing::ElementsAre;

std::vector<Bucket> BucketsOf(Overrides overrides) {
  overrides.insert(overrides.end(),
                   {"training.framework=megatron", "training.distributed_optimizer=true"});
  const TrainingJob job = *ParseShardedJob(overrides);
  return MakeChunkBuckets(job, TestLayout(job), 0)[0].buckets;
}

std::vector<int64_t> Sizes(const std::vector<Bucket>& buckets) {
  std::vector<int64_t> sizes;
  for (const Bucket& bucket : buckets) sizes.push_back(bucket.elements);
  return sizes;
}

constexpr const char* kUnits = "megatron_fsdp.sharding=optim_grads_params";

TEST(FsdpUnits, EachLayerIsAUnitBehindWhatLiesOutside) {
  const std::vector<Bucket> buckets = BucketsOf({kUnits});
  EXPECT_THAT(Sizes(buckets), ElementsAre(kEmbeddingElements + kHeadElements, kLayerElements,
                                          kLayerElements, kLayerElements, kLayerElements));
  EXPECT_EQ(buckets[0].unit, -1);
  EXPECT_EQ(buckets[4].unit, 3);
}

// A bucket outside units closes when it reaches the size; layers are never split.
TEST(FsdpUnits, BucketsOutsideUnitsHaveASize) {
  EXPECT_THAT(
      Sizes(BucketsOf({kUnits, "overlap.grad_reduce=true", "training.bucket_elements=1000"})),
      ElementsAre(kEmbeddingElements, kHeadElements, kLayerElements, kLayerElements, kLayerElements,
                  kLayerElements));
}

TEST(FsdpUnits, WithoutShardingThereAreNoUnits) {
  EXPECT_THAT(Sizes(BucketsOf({"megatron_fsdp.sharding=no_shard"})), ElementsAre(kAllElements));
}

// The experts of a layer are a bucket of their own, padded for the ranks that hold the same.
TEST(FsdpUnits, ExpertsAreApart) {
  const std::vector<Bucket> buckets =
      BucketsOf({kUnits, "model.experts=4", "model.experts_per_token=2", "parallel.expert=4"});
  ASSERT_EQ(buckets.size(), 9u);
  EXPECT_FALSE(buckets[1].expert);
  EXPECT_TRUE(buckets[2].expert);
  EXPECT_EQ(buckets[2].unit, 0);
  EXPECT_EQ(buckets[2].elements, 3 * 64 * 160);  // one expert a rank
}

TEST(FsdpUnits, TheWindowReachesHalfTheCommunicationSize) {
  const std::vector<Bucket> buckets = BucketsOf({kUnits});
  MegatronFsdpRules rules;
  rules.sharding = ParameterSharding::kParameters;
  rules.communication_elements = 2 * (kLayerElements + 1);
  EXPECT_THAT(GatherWindow(buckets, {1}, true, rules), ElementsAre(1, 2, 3));
  EXPECT_THAT(GatherWindow(buckets, {4}, false, rules), ElementsAre(4, 3, 2));
  EXPECT_EQ(GatheredElements(buckets, rules), 3 * kLayerElements);
  rules.communication_elements = 2 * kLayerElements;
  EXPECT_THAT(GatherWindow(buckets, {1}, true, rules), ElementsAre(1, 2));
  EXPECT_THAT(GatherWindow(buckets, {1}, false, rules), ElementsAre(1, 0));
}

// Two buffers hold two units; what lies outside units looks no further.
TEST(FsdpUnits, TwoBuffersHoldTwoUnits) {
  const std::vector<Bucket> buckets = BucketsOf({kUnits});
  MegatronFsdpRules rules;
  rules.sharding = ParameterSharding::kParameters;
  rules.double_buffer = true;
  EXPECT_THAT(GatherWindow(buckets, {1}, true, rules), ElementsAre(1, 2));
  EXPECT_THAT(GatherWindow(buckets, {0}, true, rules), ElementsAre(0));
  EXPECT_EQ(GatheredElements(buckets, rules), 2 * kLayerElements);
}

TEST(FsdpUnits, TheCommunicationSizeIsAtLeastABillion) {
  std::vector<Bucket> buckets = BucketsOf({kUnits});
  MegatronFsdpRules rules;
  rules.sharding = ParameterSharding::kParameters;
  EXPECT_EQ(CommunicationElements(buckets, rules), 1000000000);
  for (Bucket& bucket : buckets) bucket.elements = 900000000;
  EXPECT_EQ(CommunicationElements(buckets, rules), 1800000000);
}

}  // namespace
}  // namespace drydock
