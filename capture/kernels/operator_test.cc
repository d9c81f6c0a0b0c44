// "Are the ranges of a log read as the observer wrote them?"
#include "capture/kernels/operator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace drydock::capture {
namespace {

using testing::ElementsAre;
using Kind = OperatorValue::Kind;

TEST(Operator, TensorsNumbersAndWhatIsLeftOut) {
  const OperatorRange range = ParseRange(
      "aten::mm(BFloat16[512,1024:1,512],Float@host[],{Float[2]Half[3,4]},,true,-3,0.5,[7,8],"
      "\"sbhd\") #12");
  EXPECT_EQ(range.kind, RangeKind::kOperator);
  EXPECT_EQ(range.name, "aten::mm");
  EXPECT_EQ(range.sequence, 12);
  ASSERT_EQ(range.arguments.size(), 9u);
  const TensorShape& first = range.arguments[0].tensors.front();
  EXPECT_EQ(first.type, DataType::kBf16);
  EXPECT_THAT(first.sizes, ElementsAre(512, 1024));
  EXPECT_THAT(first.strides, ElementsAre(1, 512));
  EXPECT_EQ(first.bytes(), Bytes(512 * 1024 * 2));
  EXPECT_TRUE(range.arguments[1].tensors.front().on_host);
  EXPECT_EQ(range.arguments[1].tensors.front().elements(), 1);
  ASSERT_EQ(range.arguments[2].tensors.size(), 2u);
  EXPECT_EQ(range.arguments[2].tensors[1].bytes(), Bytes(24));
  EXPECT_EQ(range.arguments[3].kind, Kind::kOther);
  EXPECT_EQ(range.arguments[4].kind, Kind::kBool);
  EXPECT_EQ(range.arguments[4].number, 1);
  EXPECT_EQ(range.arguments[5].number, -3);
  EXPECT_EQ(range.arguments[6].number, 0.5);
  EXPECT_THAT(range.arguments[7].numbers, ElementsAre(7, 8));
  EXPECT_EQ(range.arguments[8].text, "sbhd");
}

TEST(Operator, ADimensionWithoutStrideRepeatsWhatIsStored) {
  const OperatorValues values = ParseValues("(Float[8,1024,64:64,0,1])");
  EXPECT_EQ(values[0].tensors[0].elements(), 8 * 1024 * 64);
  EXPECT_EQ(values[0].tensors[0].stored(), 8 * 64);
}

TEST(Operator, NodesScopesAndModules) {
  const OperatorRange node = ParseRange("backward MmBackward0 #7");
  EXPECT_EQ(node.kind, RangeKind::kBackward);
  EXPECT_EQ(node.name, "MmBackward0");
  EXPECT_EQ(node.sequence, 7);
  EXPECT_NE(ParseRange("backward MmBackward0 #7@3").sequence, node.sequence);
  EXPECT_EQ(ParseRange("backward MmBackward0 #7@3").name, "MmBackward0");
  EXPECT_EQ(ParseRange("aten::mm(Float[2]) #7@3").sequence,
            ParseRange("backward MmBackward0 #7@3").sequence);
  EXPECT_EQ(ParseRange("scope Optimizer.step#AdamW.step").name, "Optimizer.step#AdamW.step");
  EXPECT_EQ(ParseRange("scope Optimizer.step#AdamW.step").kind, RangeKind::kScope);
  const OperatorRange module = ParseRange("module 2:model.layers.3.mlp MLP");
  EXPECT_EQ(module.kind, RangeKind::kModule);
  EXPECT_EQ(module.root, 2);
  EXPECT_EQ(module.path, "model.layers.3.mlp");
  EXPECT_EQ(module.type, "MLP");
  EXPECT_EQ(module.layer, 3);
  // Megatron's layers know their number in the whole model.
  EXPECT_EQ(ParseRange("module 0:decoder.layers.1 TransformerLayer layer=17").layer, 17);
  EXPECT_EQ(ParseRange("module 0: GPTModel").path, "");
  EXPECT_EQ(ParseRange("module 0: GPTModel").layer, -1);
}

TEST(Operator, TextsThatAreCutOrForeignAreRead) {
  EXPECT_EQ(ParseValues("(Float[1,2],{Float[3]Flo").size(), 2u);
  EXPECT_EQ(ParseValues("(Float[1,2],{Float[3]Flo")[1].tensors.size(), 1u);
  EXPECT_EQ(ParseValues("(Quaternion[4],3)")[0].kind, Kind::kOther);
  EXPECT_EQ(ParseValues("(Quaternion[4],3)")[1].number, 3);
  EXPECT_TRUE(ParseValues("").empty());
  EXPECT_TRUE(ParseValues("()").empty());
  EXPECT_EQ(ParseRange("").name, "");
  EXPECT_EQ(ParseRange("module nonsense").root, -1);
  // A dimension and its stride that do not fit together.
  EXPECT_EQ(ParseValues("(Float[4,4:1],5)")[0].kind, Kind::kOther);
}

TEST(Operator, TheFirstTensorOfTheGpu) {
  const OperatorValues values = ParseValues("(Float@host[2],{},{Half[3]})");
  ASSERT_NE(FirstTensor(values), nullptr);
  EXPECT_EQ(FirstTensor(values)->type, DataType::kFp16);
  EXPECT_EQ(FirstTensor(ParseValues("(Float@host[2],3)")), nullptr);
}

}  // namespace
}  // namespace drydock::capture
