// "Which products does a submodule have?"
#include "workload-gen/graph/diff/piece.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace drydock {
namespace {

std::vector<std::string> MeaningsOf(SubmoduleWork work, Pass pass) {
  Submodule submodule;
  submodule.pass = pass;
  submodule.work = std::move(work);
  std::vector<std::string> out;
  for (const PieceText& piece : PiecesOf(submodule)) out.push_back(piece.meaning);
  return out;
}

using ::testing::ElementsAre;

TEST(PieceTest, LinearsAndTheirGradients) {
  const submodule::Linear linear{.rows = 100, .n = 20, .k = 30};
  EXPECT_THAT(MeaningsOf(linear, Pass::kForward), ElementsAre("product 20 x 100 x 30 bf16"));
  EXPECT_THAT(MeaningsOf(linear, Pass::kBackwardActivation),
              ElementsAre("product 30 x 100 x 20 bf16"));
  EXPECT_THAT(MeaningsOf(linear, Pass::kBackwardWeight), ElementsAre("product 20 x 30 x 100 bf16"));
  EXPECT_THAT(MeaningsOf(linear, Pass::kBackward),
              ElementsAre("product 30 x 100 x 20 bf16", "product 20 x 30 x 100 bf16"));
}

TEST(PieceTest, GroupedLinears) {
  submodule::GroupedLinear grouped{.rows = 100, .n = 20, .k = 30, .experts = 2};
  EXPECT_THAT(MeaningsOf(grouped, Pass::kForward),
              ElementsAre("product 20 x 50 x 30 bf16", "product 20 x 50 x 30 bf16"));
  grouped.one_kernel = true;
  EXPECT_THAT(MeaningsOf(grouped, Pass::kForward),
              ElementsAre("product 20 x 50 x 30 bf16, batch of 2"));
}

TEST(PieceTest, Attention) {
  submodule::Attention attention{
      .batch = 2, .sequence = 128, .heads = 4, .kv_heads = 1, .head_dim = 16};
  EXPECT_THAT(MeaningsOf(attention, Pass::kForward),
              ElementsAre("product 128 x 128 x 16 bf16, batch of 8",
                          "product 16 x 128 x 128 bf16, batch of 8",
                          "attention fwd bf16, 0 B, softmax of 8 x 128 x 128"));
  EXPECT_EQ(MeaningsOf(attention, Pass::kBackward).size(), 5u);
  attention.fused = attention.causal = true;
  EXPECT_THAT(MeaningsOf(attention, Pass::kForward),
              ElementsAre("attention fwd bf16, batch 2, 4 heads of 16, 1 of keys, 128 queries, 128 "
                          "keys, causal"));
}

TEST(PieceTest, Calls) {
  CommCall call{.collective = CollectiveType::kBroadcast, .count = 8, .root = 3, .group_size = 4};
  EXPECT_EQ(PieceOf(call, OpKind::kCollective).meaning,
            "broadcast 8 x bf16 = 16 B over 4 from member 3");
  call = {.collective = CollectiveType::kAllToAllV, .count = 8, .group_size = 2};
  call.pair_counts = {1, 2, 3, 4};
  const std::string one = PieceOf(call, OpKind::kCollective).meaning;
  call.pair_counts = {1, 3, 2, 4};
  EXPECT_NE(PieceOf(call, OpKind::kCollective).meaning, one);
  call = {
      .collective = CollectiveType::kSendRecv, .count = 8, .root = 0, .peer = 1, .group_size = 2};
  EXPECT_EQ(PieceOf(call, OpKind::kRecv).meaning, "recv 8 x bf16 = 16 B");
}

}  // namespace
}  // namespace drydock
