#include "workload-gen/graph/text/workload_text.h"

#include <gmock/gmock.h>

#include "workload-gen/testing/job_testing.h"

namespace drydock {
namespace {

using testing::HasSubstr;

TEST(WorkloadText, TablesNameEverything) {
  const std::string text = TablesText(TestWorkload());
  EXPECT_THAT(text, HasSubstr("model test: 466048 parameters, 8 ranks in 2 classes: TP2 PP2 DP2, 4 "
                              "micro-batches\n"));
  EXPECT_THAT(text, HasSubstr("role 0: tp (tensor), 8 ranks\n"));
  EXPECT_THAT(text, HasSubstr("role 6: pp-next (pipeline), 4 ranks\n"));
  EXPECT_THAT(text, HasSubstr("group 0: 0 1\n"));
  EXPECT_THAT(text, HasSubstr("attention.core attention fwd fp16 batch 2 sequence 32 heads 4/4 "
                              "head_dim 8 causal fused, "));
  EXPECT_THAT(text, HasSubstr("call 2: send-recv 4096 x fp16 = 8.192 KB from 0 to 1\n"));
}

TEST(WorkloadText, ProgramsAreOneLineAnOp) {
  const std::string text = ProgramText(TestWorkload(), 1);
  EXPECT_THAT(text, HasSubstr("class 1: "));
  EXPECT_THAT(text, HasSubstr("0 pp-recv-prev forward mb0.0: recv send-recv 4096 x fp16 = 8.192 KB "
                              "from 0 to 1 pp-prev tag 0\n"));
  EXPECT_THAT(text, HasSubstr("mb0.0 layer4: attention.fwd"));
  EXPECT_THAT(text, HasSubstr(" after "));
}

TEST(WorkloadText, AbbreviatesLongGroups) {
  const std::string text = TablesText(TestWorkload({"training.global_batch=64"}, 8, 4));
  EXPECT_THAT(text, HasSubstr(" 13 14 15 ... (32 ranks)\n"));
}

}  // namespace
}  // namespace drydock
