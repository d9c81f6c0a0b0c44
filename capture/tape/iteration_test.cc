// "Where do the iterations of a program begin and end?"
#include "capture/tape/iteration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "capture/tape/testing/program_log.h"

namespace drydock::capture {
namespace {

// Counts the launches of each iteration.
std::vector<int> Launches(const ProgramLog& program) {
  const ProcessLog log = program.Read();
  LogRanges ranges(log);
  std::vector<int> counts;
  for (const LogIteration& iteration : FindIterations(log, &ranges)) {
    int count = 0;
    for (size_t i = iteration.begin; i < iteration.end; ++i) {
      const EntryKind kind = log.entries()[i].kind;
      count += kind == EntryKind::kLaunch || kind == EntryKind::kCall ? 1 : 0;
    }
    counts.push_back(count);
  }
  return counts;
}

void Pass(ProgramLog* program) {
  program->Begin("module 0: Model");
  program->Operator("aten::add(Float[8],Float[8],1) #1", "(Float[8])");
  program->End();
  program->Begin("backward AddBackward0 #1");
  program->Operator("aten::mul(Float[8],Float[8])", "(Float[8])");
  program->End();
}

TEST(Iterations, StepToStep) {
  ProgramLog program;
  program.Operator("aten::fill_(Float[8],0)", "(Float[8])");  // makes the model
  for (int i = 0; i < 3; ++i) {
    program.Operator("aten::fill_(Float[8],0)", "(Float[8])");  // zeroes gradients
    Pass(&program);
    Pass(&program);  // accumulates gradients
    program.Step();
  }
  Pass(&program);  // an iteration that the program does not finish
  EXPECT_THAT(Launches(program), testing::ElementsAre(5, 6, 6));
}

TEST(Iterations, SeveralOptimizersStepTogether) {
  ProgramLog program;
  for (int i = 0; i < 2; ++i) {
    Pass(&program);
    program.Step();
    program.Step();
  }
  EXPECT_THAT(Launches(program), testing::ElementsAre(4, 4));
}

TEST(Iterations, OptimizersThatStepInTurnShareAnIteration) {
  ProgramLog program;
  for (int i = 0; i < 3; ++i) {
    Pass(&program);
    program.Step(0);  // a discriminator
    Pass(&program);
    Pass(&program);
    program.Step(1);  // a generator
  }
  Pass(&program);
  program.Step(0);  // an iteration that the program does not finish
  EXPECT_THAT(Launches(program), testing::ElementsAre(8, 8, 8));
}

TEST(Iterations, AnOptimizerThatStepsNowAndThen) {
  ProgramLog program;
  for (int i = 0; i < 4; ++i) {
    Pass(&program);
    program.Step(0);
    if (i % 2 == 1) program.Step(1);
  }
  EXPECT_THAT(Launches(program), testing::ElementsAre(3, 4, 3, 4));
}

TEST(Iterations, WhatTheStepGathersBelongsToIt) {
  ProgramLog program;
  program.Communicator(5, 4);
  for (int i = 0; i < 2; ++i) {
    program.Call(RecordFunction::kBroadcast, 5, 64);  // the next batch
    Pass(&program);
    program.Step();
    program.Operator("aten::copy_(Float[8],Float[8])", "(Float[8])");
    program.Call(RecordFunction::kAllGather, 5, 64);
  }
  EXPECT_THAT(Launches(program), testing::ElementsAre(5, 6));
}

TEST(Iterations, OptimizersThatStepInTheBackwardPass) {
  ProgramLog program;
  for (int i = 0; i < 3; ++i) {
    program.Begin("module 0: Model");
    program.Operator("aten::add(Float[8],Float[8],1) #1", "(Float[8])");
    program.End();
    for (int parameter = 0; parameter < 2; ++parameter) {
      program.Begin("backward torch::autograd::AccumulateGrad");
      program.Step();
      program.End();
    }
  }
  EXPECT_THAT(Launches(program), testing::ElementsAre(3, 3, 3));
}

TEST(Iterations, WithoutAnOptimizerThePeriodDecides) {
  ProgramLog program;
  program.Launch("start", 3);
  for (int i = 0; i < 4; ++i) {
    program.Launch("forward", 8);
    program.Launch("forward", 8);
    program.Launch("backward", 8);
    program.Launch("own_adam", 16);
  }
  EXPECT_THAT(Launches(program), testing::ElementsAre(4, 4, 4));
}

TEST(Iterations, AGraphHoldsTheStep) {
  ProgramLog program;
  program.Add(EntryKind::kBeginCapture, {2});
  Pass(&program);
  program.Step();
  program.Add(EntryKind::kEndCapture, {2, 1});
  program.Add(EntryKind::kInstantiate, {1, 1});
  for (int i = 0; i < 4; ++i) {
    program.Launch("copy_of_the_batch", 8);
    program.Add(EntryKind::kLaunchGraph, {1, 0});
  }
  EXPECT_THAT(Launches(program), testing::ElementsAre(1, 1, 1));
}

TEST(Iterations, NothingIsRepeated) {
  ProgramLog program;
  program.Launch("a", 1);
  program.Launch("b", 1);
  EXPECT_TRUE(Launches(program).empty());
  EXPECT_TRUE(Launches(ProgramLog()).empty());
}

}  // namespace
}  // namespace drydock::capture
