#include "core/model/calls/call_words.h"

#include <gtest/gtest.h>

namespace drydock {
namespace {

TEST(CallWordsTest, AcceptsNamesOfDrydockAndNccl) {
  for (const char* word :
       {"all-reduce", "all_reduce", "allreduce", "ncclAllReduce", "ALL_REDUCE"}) {
    EXPECT_EQ(*ParseCollective(word), CollectiveType::kAllReduce) << word;
  }
  EXPECT_EQ(*ParseCollective("alltoall"), CollectiveType::kAllToAll);
  EXPECT_EQ(*ParseDataType("half"), DataType::kFp16);
  EXPECT_EQ(*ParseDataType("ncclBfloat16"), DataType::kBf16);
  EXPECT_EQ(*ParseReduceOp("average"), ReduceOp::kAverage);
}

TEST(CallWordsTest, RefusesUnknownNames) {
  EXPECT_EQ(ParseCollective("all_reduse").error().message().substr(0, 73),
            "there is no collective 'all_reduse'; did you mean 'all-reduce'?; valid va");
  EXPECT_EQ(ParseReduceOp("summ").error().message().substr(0, 70),
            "there is no reduction 'summ'; did you mean 'sum'?; valid values are su");
}

TEST(CallWordsTest, NamesOfNcclTests) {
  EXPECT_EQ(NcclTestsName(DataType::kFp32), "float");
  EXPECT_EQ(NcclTestsName(DataType::kBf16), "bfloat16");
  EXPECT_EQ(NcclTestsName(DataType::kInt8), "int8");
}

TEST(CallWordsTest, ParsesSizesAsNcclTestsDoes) {
  EXPECT_EQ(ParseCallSize("8")->count(), 8);
  EXPECT_EQ(ParseCallSize("64M")->count(), 64 << 20);
  EXPECT_EQ(ParseCallSize("8g")->count(), int64_t{8} << 30);
  EXPECT_EQ(ParseCallSize("64 MB")->count(), 64000000);
  EXPECT_EQ(ParseCallSize("64MiB")->count(), 64 << 20);
  EXPECT_EQ(ParseCallSize("0").error().message().substr(0, 16), "'0' has no unit;");
  EXPECT_EQ(ParseCallSize("0 B").error().message(),
            "'0 B' is not a size of a call; it must be above 0");
  EXPECT_EQ(ParseCallSize("99999999T").error().message(), "'99999999T' is too large");
  EXPECT_EQ(ParseCallSize("-8").error().message().substr(0, 4), "'-8'");
}

}  // namespace
}  // namespace drydock
