// "What do the launches of an operator read and write?"
#include "capture/kernels/traffic.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace drydock::capture {
namespace {

using testing::ElementsAre;

Bytes Traffic(const char* range, const char* outputs) {
  return TrafficOf(ParseRange(range), ParseValues(outputs));
}

TEST(Traffic, OfOperators) {
  EXPECT_EQ(Traffic("aten::add(Float[100],Float[100],1)", "(Float[100])"), Bytes(1200));
  EXPECT_EQ(Traffic("aten::add(Float[10,10],Float[10,10:0,1],1)", "(Float[10,10])"), Bytes(840));
  EXPECT_EQ(Traffic("aten::add_(Float[100],Half[100],1)", "(Float[100])"), Bytes(1000));
  EXPECT_EQ(Traffic("aten::copy_(Float[100],Half[100],false)", "(Float[100])"), Bytes(600));
  EXPECT_EQ(Traffic("aten::fill_(Float[100],0)", "(Float[100])"), Bytes(400));
  EXPECT_EQ(Traffic("aten::sum(Half[64,32],[0],false)", "(Half[32])"), Bytes(4096 + 64));
  EXPECT_EQ(Traffic("aten::index(Float[1000000,8],{Long[4]})", "(Float[4,8])"),
            Bytes(2 * 128 + 32));
  EXPECT_EQ(
      Traffic("aten::index_put_(Float[1000000,8],{Long[4]},Float[4,8],true)", "(Float[1000000,8])"),
      Bytes(3 * (32 + 128)));
  EXPECT_EQ(
      Traffic("aten::nll_loss_forward(Float[64,32000],Long[64],,1,-100)", "(Float[],Float[])"),
      Bytes(1024));
  EXPECT_EQ(Traffic("aten::_foreach_add_({Float[4]Float[6]},{Float[4]Float[6]},1)", "()"),
            Bytes(120));
  EXPECT_EQ(Traffic("aten::mul(Float[100],Float@host[])", "(Float[100])"), Bytes(800));
}

TEST(Traffic, AdamOfApex) {
  EXPECT_EQ(TrafficOf(ParseRange("amp_C::multi_tensor_adam(65536,Int[1],{Half[10]},{Float[10]},"
                                 "{Float[10]},{Float[10]},0.001)"),
                      {}),
            Bytes(20 + 2 * 120));
}

TEST(Traffic, EachLaunchHasItsPart) {
  const std::array<int64_t, 3> blocks = {100, 1, 100};
  // A sort goes over its input once more; a small kernel between counts little.
  EXPECT_THAT(DealOut(ParseRange("aten::sort(Float[1000])"), Bytes(4000), blocks),
              ElementsAre(Bytes(4000), Bytes(40), Bytes(4000)));
  // Each launch on lists has some of the tensors.
  EXPECT_THAT(DealOut(ParseRange("aten::cat({Float[500]Float[505]})"), Bytes(4020), blocks),
              ElementsAre(Bytes(2000), Bytes(20), Bytes(2000)));
  EXPECT_TRUE(DealOut(ParseRange("aten::sort(Float[1000])"), Bytes(4000), {}).empty());
}

TEST(Traffic, AKernelByItsBytes) {
  const Submodule s = TrafficSubmodule(Bytes(4000), true);
  const auto* add = s.As<submodule::Add>();
  ASSERT_NE(add, nullptr);
  EXPECT_EQ(add->rows * add->n * (add->summands + 1) * SizeOf(s.type).count(), 4000);
  EXPECT_EQ(s.pass, Pass::kBackward);
  EXPECT_EQ(TrafficSubmodule(Bytes(), false).As<submodule::Add>()->n, 1);
}

}  // namespace
}  // namespace drydock::capture
