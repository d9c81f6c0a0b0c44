#include "workload-gen/routing/token_routing.h"

#include <cmath>

#include "workload-gen/testing/job_testing.h"

namespace drydock {
namespace {

TrainingJob Job(std::vector<std::string> more) {
  std::vector<std::string> overrides = {
      "model.bias=false",        "model.experts=16",    "model.experts_per_token=4",
      "model.expert_ffn=64",     "parallel.pipeline=1", "parallel.sequence_parallel=true",
      "parallel.expert_tensor=1"};
  overrides.insert(overrides.end(), more.begin(), more.end());
  return TestJob(overrides);
}

TEST(TokenRouting, MeanLoadKeepsTheNumberOfCopies) {
  const TrainingJob job = Job({"parallel.expert=8"});
  const TokenRouting routing = RouteTokens(job, TestLayout(job), ExpertLoad::kMean);
  EXPECT_EQ(routing.tokens, 32);
  EXPECT_EQ(routing.sent, 128);
  EXPECT_EQ(routing.received, 128);
}

// All ranks together receive as many copies as they send.
TEST(TokenRouting, ImbalanceKeepsTheNumberOfCopies) {
  const TrainingJob job = Job({"parallel.expert=4", "training.moe_imbalance=2.5"});
  const ParallelLayout layout = TestLayout(job);
  const TokenRouting busy = RouteTokens(job, layout, ExpertLoad::kBusiest);
  const TokenRouting other = RouteTokens(job, layout, ExpertLoad::kOthers);
  EXPECT_EQ(busy.to_busiest, 80);
  EXPECT_EQ(busy.to_each, 16);
  EXPECT_EQ(busy.received + 3 * other.received, 4 * busy.sent);
  const CommCall out = TokenExchange(busy, layout, DataType::kBf16, 10, /*back=*/false);
  const CommCall back = TokenExchange(busy, layout, DataType::kBf16, 10, /*back=*/true);
  EXPECT_EQ(out, TokenExchange(other, layout, DataType::kBf16, 10, false));
  EXPECT_EQ(out.count, 3200);  // what the busiest receives
  for (size_t from = 0; from < 4; ++from) {
    for (size_t to = 0; to < 4; ++to) {
      EXPECT_EQ(out.pair_counts[from * 4 + to], to == 0 ? 800 : 160);
      EXPECT_EQ(back.pair_counts[to * 4 + from], out.pair_counts[from * 4 + to]);
    }
  }
}

TEST(TokenRouting, CapacityLimitsTheBusyRank) {
  const TrainingJob job =
      Job({"parallel.expert=4", "training.moe_imbalance=2.5", "training.moe_capacity_factor=1"});
  const TokenRouting routing = RouteTokens(job, TestLayout(job), ExpertLoad::kBusiest);
  EXPECT_EQ(routing.to_busiest, 32);
  EXPECT_EQ(routing.to_each, 16);
  EXPECT_FALSE(routing.padded);
}

TEST(TokenRouting, ShareOfTokensThatNeedAPart) {
  EXPECT_DOUBLE_EQ(8 * ShareInPart(8, 1, 8, 1), 1);
  EXPECT_DOUBLE_EQ(4 * ShareInPart(8, 8, 4, 1), 4);
  EXPECT_NEAR(ShareInPart(8, 2, 4, 1), 1 - 15.0 / 28, 1e-12);  // C(6, 2) / C(8, 2)
  EXPECT_NEAR(32 * ShareInPart(256, 8, 32, 1), 7.267, 0.001);
  EXPECT_NEAR(ShareInPart(256, 8, 32, 2), 1 - std::pow(1 - 7.267 / 32, 2), 0.001);
}

// Two hosts of four GPUs: a token crosses the network once, to the GPU with the sender's index,
// which forwards it.
TEST(TokenRouting, DeepEpCrossesTheNetworkOnceAHost) {
  const TrainingJob job = Job({"parallel.expert=8", "training.moe_dispatcher=flex",
                               "model.experts=8", "model.experts_per_token=8"});
  const ParallelLayout layout = TestLayout(job, 2, 4);
  const CommCall call = LibraryExchange(job, layout, 4, 10, DataType::kBf16, 3, false);
  ASSERT_EQ(call.pair_counts.size(), 64u);
  EXPECT_EQ(call.pair_counts[0 * 8 + 1], 60);  // own and the other host's tokens, to every rank
  EXPECT_EQ(call.pair_counts[0 * 8 + 4], 30);  // over the network
  EXPECT_EQ(call.pair_counts[0 * 8 + 5], 0);
  EXPECT_EQ(call.count, 4 * 60 + 30);
  EXPECT_EQ(call.buffers, BufferKind::kDeepEp);
  EXPECT_EQ(call.sms, 20);
}

// The first rank gets twice the mean. Of its own host, every token needs it more often; the other
// ranks get less.
TEST(TokenRouting, MoreTokensGoToTheBusiestRank) {
  const TrainingJob job =
      Job({"parallel.expert=8", "training.moe_dispatcher=flex", "model.experts=64",
           "model.experts_per_token=8", "training.moe_imbalance=2"});
  const ParallelLayout layout = TestLayout(job, 2, 4);
  const CommCall out = LibraryExchange(job, layout, 4, 1000, DataType::kBf16, 1, false);
  const CommCall back = LibraryExchange(job, layout, 4, 1000, DataType::kBf16, 1, true);
  EXPECT_EQ(out.pair_counts[1 * 8 + 0], 1795);  // 2000 (1 - 0.321²)
  EXPECT_EQ(out.pair_counts[1 * 8 + 2], 1245);  // 2000 (1 - 0.321^(6/7))
  EXPECT_GT(out.pair_counts[4 * 8 + 0], out.pair_counts[0 * 8 + 4]) << "to the busy host";
  for (size_t from = 0; from < 8; ++from) {
    for (size_t to = 0; to < 8; ++to) {
      EXPECT_EQ(back.pair_counts[to * 8 + from], out.pair_counts[from * 8 + to]);
    }
  }
}

TEST(TokenRouting, HybridEpHasItsOwnSms) {
  const auto exchange = [](const std::string& more) {
    const TrainingJob job = Job({"parallel.expert=8", "training.moe_dispatcher=hybridep",
                                 "model.experts=8", "model.experts_per_token=8", more});
    return LibraryExchange(job, TestLayout(job, 2, 4), 4, 10, DataType::kBf16, 3, false);
  };
  EXPECT_EQ(exchange("training.moe_aux_loss=true").buffers, BufferKind::kHybridEp);
  EXPECT_EQ(exchange("training.moe_aux_loss=true").sms, 16);
  EXPECT_EQ(exchange("training.moe_dispatch_sms=32").sms, 32);
}

// A copy for each expert goes straight to its rank, on whatever host that is.
TEST(TokenRouting, LowLatencySendsACopyForEachExpert) {
  const TrainingJob job =
      Job({"parallel.expert=8", "training.moe_dispatcher=flex", "training.moe_deepep=low-latency",
           "training.moe_grouped_kernel=one", "model.experts=8", "model.experts_per_token=4",
           "model.hidden=2048"});
  const ParallelLayout layout = TestLayout(job, 2, 4);
  TokenRouting routing = RouteTokens(job, layout, ExpertLoad::kMean);
  const CommCall call = LowLatencyExchange(routing, layout, DataType::kBf16, 3, false);
  ASSERT_EQ(call.pair_counts.size(), 64u);
  for (const int64_t count : call.pair_counts) EXPECT_EQ(count, routing.tokens * 4 / 8 * 3);
  EXPECT_EQ(call.count, routing.tokens * 4 * 3);
  EXPECT_EQ(call.buffers, BufferKind::kDeepEpLowLatency);
  EXPECT_EQ(call.sms, 1);
}

}  // namespace
}  // namespace drydock
