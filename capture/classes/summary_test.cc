#include "capture/classes/summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "capture/classes/testing/tape_builder.h"

namespace drydock::capture {
namespace {

using ::testing::ElementsAre;

TEST(SummaryTest, NamesOfCommands) {
  EXPECT_EQ(NameOfCommand({"python", "/a/pretrain_gpt.py", "--tp", "8"}), "pretrain_gpt.py");
  EXPECT_EQ(NameOfCommand({"python", "-W", "ignore", "-u", "a.py"}), "a.py");
  EXPECT_EQ(NameOfCommand({"python", "-m", "torchtitan.train", "a"}), "torchtitan.train");
  EXPECT_EQ(NameOfCommand({"python", "-c", "pass"}), "python -c");
  EXPECT_EQ(NameOfCommand({"/bin/program"}), "program");
}

TEST(SummaryTest, SaysWhatWasTakenForGranted) {
  testing::TapeBuilder b(0, 8);
  b.Grid("TENSOR_MODEL_PARALLEL_GROUP", 2, 1);
  b.Grid("DATA_PARALLEL_GROUP", 4, 2);
  b.tape.estimates["copy"] = {3, Bytes(10), 1};
  b.tape.reads = {{"train.py:41", "fp32[]", "aten::sum of Float[4096,4096]", "0", 12},
                  {"", "int64[8]", "", "", 1}};
  for (const DataType type : {DataType::kFp64, DataType::kInt8}) {
    b.Work("mm", 1000);
    b.tape.submodules.back().work = submodule::FlopsAndBytes{};
    b.tape.submodules.back().type = type;
  }
  WorldGroups groups(8);
  groups.Add(b.tape.groups);
  ClassTape tape = *MakeClassTape(b.tape, groups), other = tape;
  tape.memory.allocated = Bytes(100);
  other.memory.allocated = Bytes(99);
  CaptureSummary summary;
  summary.torch_version = "2.9.1";
  summary.iteration = 3;
  summary.ranks_run = 3;
  summary.refused["cufftCreate of libcufft.so.11"] = {0, 4, 7};
  summary.Compare(tape, other);
  Workload workload;
  GpuSpec& gpu = workload.topology.gpus.emplace_back();
  gpu.dense_rate[static_cast<size_t>(DataType::kInt8)] = FlopRate(1e12);
  std::vector<std::string> notes;
  Describe({"python", "a.py"}, groups,
           {{{0, 1, 2, 3, 4, 5, 6, 7}, std::make_shared<const ClassTape>(tape)}}, summary,
           &workload, &notes);
  EXPECT_EQ(workload.totals.model_name, "a.py");
  EXPECT_EQ(workload.totals.layout, "TP2, DP4, captured: 8 ranks in 1 class");
  EXPECT_THAT(notes,
              ElementsAre("3 of 8 ranks ran",
                          "ranks of a class differ by up to 0.00 % in what their optimizer moves "
                          "and 1.00 % in memory, as shards do; the first rank stands for all",
                          "estimated: 3 launches of 1 kernel, by the bytes of their operators",
                          "no model of kernels: 1 product of int8 at the dense rate of int8 that "
                          "the GPU's file states",
                          "no model of kernels: 1 product of fp64 at the dense rate of fp32 that "
                          "the GPU's file states, as it states none of fp64",
                          "unknown: 1 launch, as long as an empty kernel",
                          "values that nobody computed: 13 reads by the host at 2 places; the "
                          "program may branch on them",
                          "train.py:41 reads fp32[] that depends on aten::sum of "
                          "Float[4096,4096]; it is 0: 12 times",
                          "a library reads int64[8]; it is zero or balanced: 1 time",
                          "ranks 0, 4, 7 call cufftCreate of libcufft.so.11, which a capture does "
                          "not have; the program went on"));
  EXPECT_EQ(workload.assumptions[1].value, "3");
}

}  // namespace
}  // namespace drydock::capture
