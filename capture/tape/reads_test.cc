// "Which values does a program read that nobody computed, where, and how often?"
#include "capture/tape/reads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>

#include "capture/tape/testing/program_log.h"

namespace drydock::capture {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> ReadsIn(const ProgramLog& program) {
  const ProcessLog log = program.Read();
  LogRanges ranges(log);
  std::vector<std::string> texts;
  for (const TapeRead& read : FindReads(log, &ranges)) {
    texts.push_back(std::to_string(read.count) + " x " + read.shape + " at " + read.line + ", of " +
                    read.origin + ": " + read.value);
  }
  return texts;
}

TEST(Reads, OfOneLineAreOne) {
  ProgramLog program;
  program.Begin("aten::_local_scalar_dense(Float[])");
  program.HostRead("train.py:5", "aten::sum of Float[9,9]", 4, std::bit_cast<int32_t>(1.5F));
  program.End();
  for (int i = 0; i < 3; ++i) {
    program.Begin("aten::copy_(Long@host[8],Long[8],false)");
    program.HostRead("train.py:7", "aten::topk of Float[9,9]", 64, 0);
    program.End();
  }
  program.Begin("aten::_local_scalar_dense(BFloat16[])");
  for (const int64_t bits : {0, 0x3fc0}) program.HostRead("train.py:9", "", 2, bits);
  program.End();
  EXPECT_THAT(ReadsIn(program),
              ElementsAre("3 x int64[8] at train.py:7, of aten::topk of Float[9,9]: ",
                          "2 x bf16[] at train.py:9, of : ",
                          "1 x fp32[] at train.py:5, of aten::sum of Float[9,9]: 1.5"));
}

TEST(Reads, AnOperatorThatReadsAPartTellsNoShape) {
  ProgramLog program;
  program.Begin("aten::unique(Long[8])");
  program.HostRead("", "", 8, 3);
  program.End();
  program.HostRead("train.py:1", "", 4096, 0);
  EXPECT_THAT(ReadsIn(program),
              ElementsAre("1 x 8 bytes at , of : ", "1 x 4096 bytes at train.py:1, of : "));
}

}  // namespace
}  // namespace drydock::capture
