#include "workload-gen/stages/gradient_buckets.h"

#include <gtest/gtest.h>

#include "workload-gen/stages/data_parallel.h"
#include "workload-gen/testing/job_testing.h"

namespace drydock {
namespace {

std::vector<int64_t> BucketsOf(const std::string& config) {
  const TrainingJob job = *LoadTrainingJob(
      config, {"parallel.tensor=1", "parallel.sequence_parallel=false", "parallel.pipeline=1"});
  const ParallelLayout layout = TestLayout(job);
  std::vector<int64_t> sizes;
  const std::vector<ChunkBuckets> chunks = MakeChunkBuckets(job, layout, 0);
  for (const Bucket& bucket : chunks[0].buckets) {
    sizes.push_back(bucket.elements);
  }
  return sizes;
}

TEST(GradientBuckets, OfLlama27BOnEightRanks) {
  const std::vector<int64_t> sizes = BucketsOf("configs/models/llama-2-7b.yaml");
  ASSERT_EQ(sizes.size(), 98u);
  const std::vector<int64_t> start = {131072000, 45092864, 90177536, 50335744, 61870080, 90177536};
  EXPECT_EQ(std::vector<int64_t>(sizes.begin(), sizes.begin() + 6), start);
  EXPECT_EQ(sizes.back(), 147853312);
}

TEST(GradientBuckets, OfLlama38BOnEightRanks) {
  const std::vector<int64_t> sizes = BucketsOf("configs/models/llama-3-8b.yaml");
  ASSERT_EQ(sizes.size(), 98u);
  EXPECT_EQ(sizes[0], 525336576);
  EXPECT_EQ(sizes[1], 58724352);
  for (size_t i = 2; i + 3 < 97; i += 3) {
    EXPECT_EQ(sizes[i], 117440512);
    EXPECT_EQ(sizes[i + 1], 41951232);
    EXPECT_EQ(sizes[i + 2], 58720256);
  }
  EXPECT_EQ(sizes.back(), 525336576);
}

std::vector<Parameter> List(std::vector<int64_t> elements) {
  std::vector<Parameter> list;
  for (const int64_t n : elements)
    list.push_back({ParameterKind::kFc1Weight, 0, n, false, false, false});
  return list;
}

TEST(GradientBuckets, FillFromTheEndAndKeepTheCrossingParameter) {
  const std::vector<Bucket> buckets = MakeBuckets(List({7, 5, 4, 3}), {6, false, 1, false});
  ASSERT_EQ(buckets.size(), 2u);
  EXPECT_EQ(buckets[0].elements, 7);
  EXPECT_EQ(buckets[0].parameters, (std::vector<size_t>{3, 2}));
  EXPECT_EQ(buckets[1].elements, 12);
}

TEST(GradientBuckets, ShardsAreAlignedAndPadded) {
  const std::vector<Bucket> buckets = MakeBuckets(List({1, 1}), {0, true, 3, false});
  ASSERT_EQ(buckets.size(), 1u);
  EXPECT_EQ(buckets[0].elements, 384);  // 1, up to 64, 1 more, up to lcm(3, 128)
}

TEST(GradientBuckets, ASharedEmbeddingHasASeparateBucket) {
  std::vector<Parameter> list = List({128, 128, 128});
  list[1].tied = true;
  EXPECT_EQ(MakeBuckets(list, {0, true, 1, false}).size(), 3u);
  EXPECT_EQ(MakeBuckets(list, {0, false, 1, false}).size(), 1u);
}

TEST(GradientBuckets, DefaultSizeGrowsWithTheGroup) {
  EXPECT_EQ(DefaultBucketElements(8), 40000000);
  EXPECT_EQ(DefaultBucketElements(64), 64000000);
}

}  // namespace
}  // namespace drydock
