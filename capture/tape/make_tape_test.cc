// "Does the tape have what the rank asks of its GPU in one iteration, where it asks it?"
#include "capture/tape/make_tape.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "capture/tape/tape_text.h"
#include "capture/tape/testing/program_log.h"
#include "simccl/record/workload/program.h"

namespace drydock::capture {
namespace {

using testing::HasSubstr;

RankTape TapeOf(const ProgramLog& program, int iteration = 1) {
  const ProcessLog log = program.Read();
  return MakeTape(log, {iteration, 4}).value();
}

// The lines of entries.
std::string Lines(const RankTape& tape) {
  std::string lines;
  const std::string text = TapeText(tape, {});
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at);
    if (text[at] == '[') lines += text.substr(at, end + 1 - at);
    at = end + 1;
  }
  return lines;
}

TEST(MakeTape, OnePassThroughALayer) {
  ProgramLog program;
  program.Begin("module 0: Model");
  program.Begin("module 0:layers.2 Block");
  program.Begin("module 0:layers.2.mlp.fc1 Linear");
  program.Begin("aten::linear(BFloat16[64,32],BFloat16[128,32],) #4");
  program.Begin("aten::addmm(BFloat16[128],BFloat16[64,32],BFloat16[32,128:1,32],1,1) #5");
  program.Product(128, 64, 32, true, false);
  program.End("(BFloat16[64,128])");
  program.End("(BFloat16[64,128])");
  program.End();
  program.Begin(
      "aten::native_layer_norm(BFloat16[64,128],[128],BFloat16[128],BFloat16[128],1e-05) #6");
  program.Launch("norm", 64);
  program.Launch("norm_end", 1);
  program.End("(BFloat16[64,128],Float[64,1],Float[64,1])");
  program.End();
  program.End();
  program.Operator("aten::mean(BFloat16[64,128]) #7", "(BFloat16[])");
  program.Begin("autograd::engine::evaluate_function: AddmmBackward0()");
  program.Begin("backward AddmmBackward0 #5");
  program.Begin("aten::mm(BFloat16[64,128],BFloat16[128,32])");
  program.Product(32, 64, 128, false, false);
  program.End("(BFloat16[64,32])");
  program.Begin("aten::mm(BFloat16[128,64:1,128],BFloat16[64,32])");
  program.Product(32, 128, 64, false, true);
  program.End("(BFloat16[128,32])");
  program.End();
  program.Operator("aten::sum(BFloat16[64,128],[0],false)", "(BFloat16[128])");
  program.End("()");
  program.Begin("autograd::engine::evaluate_function: torch::autograd::AccumulateGrad()");
  program.Begin("backward torch::autograd::AccumulateGrad");
  program.Operator("aten::add_(BFloat16[128,32],BFloat16[128,32],1)", "(BFloat16[128,32])");
  program.End();
  program.End("()");
  program.Operator("aten::linalg_vector_norm(BFloat16[128,32])", "(Float[])");
  program.Step();
  const RankTape tape = TapeOf(program);
  EXPECT_EQ(
      Lines(tape),
      "[forward layer 2 micro-batch 0] stream 0: mlp.fc1.addmm: linear fwd bf16 rows=64 n=128 "
      "k=32\n"
      "[forward layer 2 micro-batch 0] stream 0: native_layer_norm: norm fwd bf16 rows=64 n=128 "
      "bias\n"
      "[forward micro-batch 0] stream 0: mean: add fwd bf16 rows=1 n=4097 top_k=1\n"
      "[backward layer 2 micro-batch 0] stream 0: mlp.fc1.mm: linear dgrad bf16 rows=64 n=128 "
      "k=32\n"
      "[backward layer 2 micro-batch 0] stream 0: mlp.fc1.mm: linear wgrad bf16 rows=64 n=128 "
      "k=32\n"
      "[backward layer 2 micro-batch 0] stream 0: mlp.fc1.sum: add bwd bf16 rows=1 n=4160 top_k=1\n"
      "[backward layer 2 micro-batch 0] stream 0: mlp.fc1.add_: add bwd bf16 rows=1 n=6144 "
      "top_k=1\n"
      "[optimizer] stream 0: linalg_vector_norm: add fwd bf16 rows=1 n=2049 top_k=1\n"
      "[optimizer] stream 0: _foreach_add_: add fwd bf16 rows=1 n=200 top_k=1\n");
  // The norm has a model of its own; all other launches are estimates.
  EXPECT_EQ(tape.estimates.size(), 5u);
  EXPECT_EQ(tape.estimates.at("kernel of aten::sum").launches, 1);
  EXPECT_EQ(tape.estimates.at("kernel of aten::sum").bytes, Bytes(64 * 128 * 2 + 256));
  EXPECT_EQ(tape.start.iterations, 1);
}

TEST(MakeTape, TheForwardPassIsRepeatedInTheBackwardPass) {
  ProgramLog program;
  program.Begin("module 0: Model");
  program.Begin("module 0:layers.0 Block");
  program.Begin("CheckpointFunction(BFloat16[64,32]) #3");
  program.Operator("aten::gelu(BFloat16[64,32])", "(BFloat16[64,32])");
  program.End("(BFloat16[64,32])");
  program.End();
  program.End();
  program.Begin("backward CheckpointFunctionBackward #3");
  program.Begin("aten::mm(BFloat16[64,32],BFloat16[32,128:1,32]) #9");
  program.Product(128, 64, 32, true, false);
  program.End("(BFloat16[64,128])");
  program.Begin("backward MmBackward0 #9");
  program.Begin("aten::mm(BFloat16[64,128],BFloat16[128,32])");
  program.Product(32, 64, 128, false, false);
  program.End("(BFloat16[64,32])");
  program.End();
  program.End();
  program.Step();
  EXPECT_EQ(Lines(TapeOf(program)),
            "[forward layer 0 micro-batch 0] stream 0: gelu: add fwd bf16 rows=1 n=2048 top_k=1\n"
            "[recompute layer 0 micro-batch 0] stream 0: mm: linear fwd bf16 rows=64 n=128 k=32\n"
            "[backward layer 0 micro-batch 0] stream 0: mm: linear dgrad bf16 rows=64 n=128 k=32\n"
            "[optimizer] stream 0: _foreach_add_: add fwd bf16 rows=1 n=200 top_k=1\n");
}

TEST(MakeTape, AStepMayCallTheModel) {
  ProgramLog program;
  program.Begin("scope Optimizer.step#AdamW.step");
  program.Begin("module 0: Model");
  program.Operator("aten::relu(Float[8]) #1", "(Float[8])");
  program.End();
  program.Operator("aten::add_(Float[8],Float[8],1)", "(Float[8])");
  program.End();
  EXPECT_EQ(Lines(TapeOf(program)),
            "[forward micro-batch 0] stream 0: relu: add fwd bf16 rows=1 n=16 top_k=1\n"
            "[optimizer] stream 0: add_: add fwd bf16 rows=1 n=24 top_k=1\n");
}

TEST(MakeTape, StreamsEventsCopiesAndWaitsOfTheHost) {
  ProgramLog program;
  program.Add(EntryKind::kStream, {2, 0, 0, 0});
  for (int i = 0; i < 2; ++i) {
    program.Begin("module 0: Model");
    program.Operator("aten::add(Float[8],Float[8],1) #1", "(Float[8])");
    program.Add(EntryKind::kRecordEvent, {7, 0});
    program.Add(EntryKind::kWaitEvent, {2, 7});
    program.Operator("aten::relu(Float[8]) #2", "(Float[8])", 2);
    // From the GPU to memory that is not pinned: the host waits.
    program.Add(EntryKind::kCopy, {2, 0, 4, 0, 1});
    program.Add(EntryKind::kCopy, {1, 2, 4096, 2, 0});
    program.Add(EntryKind::kCopy, {2, 2, 64, 0, 0});
    program.Add(EntryKind::kSyncDevice, {});
    program.End();
    program.Step();
  }
  const RankTape tape = TapeOf(program, 2);
  EXPECT_EQ(Lines(tape),
            "[forward micro-batch 0] stream 0: add: add fwd bf16 rows=1 n=24 top_k=1\n"
            "[other] stream 0: event 1\n"
            "[other] stream 1: waits for event 1\n"
            "[forward micro-batch 0] stream 1: relu: add fwd bf16 rows=1 n=16 top_k=1\n"
            "[forward micro-batch 0] stream 0: copy to host, 4 B\n"
            "[other] the host waits for stream 0\n"
            "[forward micro-batch 0, host waits] stream 1: copy from host, 4096 B\n"
            "[forward micro-batch 0] stream 0: copy: add fwd bf16 rows=1 n=32 top_k=1\n"
            "[other] the host waits for all streams\n"
            "[optimizer, host waits for all] stream 0: _foreach_add_: add fwd bf16 rows=1 n=200 "
            "top_k=1\n");
  Recording recording;
  RecordedRank rank;
  rank.entries = tape.entries;
  RecordTables tables;
  RecordProgram made = MakeRecordProgram(recording, rank, &tables).value();
  SetPlaces(tape, made.entry_of_op, &made.program);
  ASSERT_EQ(made.program.ops.size(), 6u);
  EXPECT_EQ(made.program.ops[2].kind, OpKind::kStore);
  EXPECT_EQ(made.program.ops[3].kind, OpKind::kLoad);
  EXPECT_EQ(tape.transfers[made.program.ops[3].work].bytes, Bytes(4096));
  EXPECT_EQ(made.program.ops[3].host_waits, HostWait::kOpReady);
  EXPECT_EQ(made.program.ops[5].host_waits, HostWait::kDeviceSync);
}

TEST(MakeTape, CallsAndTheirPhases) {
  ProgramLog program;
  program.Mark("group 0 0-3 default_pg");
  program.Communicator(50, 4);
  program.Mark("ranks 0-3 0");
  program.Begin("module 0: Model");
  program.Operator("aten::add(Float[8],Float[8],1) #1", "(Float[8])");
  program.Call(RecordFunction::kAllReduce, 50, 4096);
  program.End();
  program.Begin("backward AddBackward0 #1");
  program.Call(RecordFunction::kAllReduce, 50, 8192);
  program.End();
  program.Begin("backward torch::autograd::AccumulateGrad");
  program.Call(RecordFunction::kReduceScatter, 50, 100000);
  program.End();
  program.Call(RecordFunction::kReduceScatter, 50, 200000);
  program.Call(RecordFunction::kAllReduce, 50, 1);  // of the norm
  program.Step();
  program.Call(RecordFunction::kAllGather, 50, 3000);
  const RankTape tape = TapeOf(program);
  std::vector<std::pair<uint64_t, Phase>> calls;
  for (size_t i = 0; i < tape.entries.size(); ++i) {
    if (tape.entries[i].kind == RecordKind::kCall) {
      calls.emplace_back(tape.entries[i].count, tape.places[i].phase);
    }
  }
  EXPECT_THAT(calls,
              testing::ElementsAre(
                  std::pair(4096, Phase::kForward), std::pair(8192, Phase::kBackward),
                  std::pair(100000, Phase::kGradientSync), std::pair(200000, Phase::kGradientSync),
                  std::pair(1, Phase::kOptimizer), std::pair(3000, Phase::kOptimizer)));
}

TEST(MakeTape, AGraphIsWhatItsCaptureSaw) {
  ProgramLog program;
  program.Add(EntryKind::kStream, {2, 0, 0, 0});
  program.Add(EntryKind::kStream, {3, 0, 0, 0});
  program.Add(EntryKind::kBeginCapture, {2});
  program.Begin("module 0: Model");
  program.Operator("aten::add(Float[8],Float[8],1) #1", "(Float[8])", 2);
  program.Add(EntryKind::kRecordEvent, {7, 2});
  program.Add(EntryKind::kWaitEvent, {3, 7});
  program.Operator("aten::relu(Float[8]) #2", "(Float[8])", 3);
  program.Add(EntryKind::kRecordEvent, {8, 3});
  program.Add(EntryKind::kWaitEvent, {2, 8});
  program.End();
  program.Add(EntryKind::kEndCapture, {2, 1});
  program.Add(EntryKind::kInstantiate, {1, 1});
  for (int i = 0; i < 2; ++i) {
    program.Operator("aten::copy_(Float[8],Float[8])", "(Float[8])");
    program.Add(EntryKind::kLaunchGraph, {1, 0});
    program.Add(EntryKind::kLaunchGraph, {1, 0});
    program.Step();
  }
  // Kernels of a graph are estimates each time that it is launched.
  const RankTape tape = TapeOf(program, 2);
  EXPECT_EQ(tape.estimates.at("kernel of aten::relu").launches, 2);
  EXPECT_EQ(tape.estimates.at("kernel of aten::relu").bytes, Bytes(2 * 64));
  EXPECT_THAT(Lines(tape),
              HasSubstr("stream 0: copy_: add fwd bf16 rows=1 n=16 top_k=1\n"
                        "[forward, a graph] stream 0: add: add fwd bf16 rows=1 n=24 top_k=1\n"
                        "[other] stream 0: event 1\n"
                        "[other] stream 1: waits for event 1\n"
                        "[forward, in the graph] stream 1: relu: add fwd bf16 rows=1 n=16 top_k=1\n"
                        "[other] stream 1: event 2\n"
                        "[other] stream 0: waits for event 2\n"));
}

// What an operator moves, its products and its launches move once.
TEST(MakeTape, ALaunchBesideAProduct) {
  ProgramLog program;
  program.Begin("module 0: Model");
  program.Begin("aten::linear_with_bias(BFloat16[64,32],BFloat16[128,32],BFloat16[128])");
  program.Product(128, 64, 32, true, false);
  program.Launch("add_bias", 8);
  program.End("(BFloat16[64,128])");
  program.Begin("aten::linear_with_output(BFloat16[64,32],BFloat16[128,32])");
  program.Product(128, 64, 32, true, false);
  program.Launch("relu", 8);
  program.End("(BFloat16[64,128],BFloat16[64,128])");
  program.End();
  program.Step();
  const RankTape tape = TapeOf(program);
  EXPECT_EQ(tape.estimates.at("add_bias of aten::linear_with_bias").bytes, Bytes(2 * 128));
  EXPECT_EQ(tape.estimates.at("relu of aten::linear_with_output").bytes, Bytes(2 * 64 * 128));
}

TEST(MakeTape, TheHostsTimeIsThatOfItsThread) {
  ProgramLog program;  // each entry takes 1 ns of CPU time
  program.Begin("module 0: Model");
  program.Operator("aten::relu(Float[8])", "(Float[8])");
  program.Operator("aten::relu(Float[8])", "(Float[8])");
  program.Operator("aten::relu(Float[8])", "(Float[8])");
  program.End();
  program.Step();
  const RankTape tape = TapeOf(program);
  // The first of three has nothing before it, the others two entries of ranges and themselves.
  EXPECT_EQ(tape.submodules[0].host, Time::Ns((0 + 3 + 3) / 3));
}

TEST(MakeTape, ARunOfItsOwnMeasuresTheHost) {
  ProgramLog program, timed, other;
  program.Begin("module 0: Model");
  for (int i = 0; i < 3; ++i) {
    program.Operator("aten::relu(Float[8])", "(Float[8])");
    timed.Launch("kernel", 8);
    other.Product(8, 8, 8, false, false);
  }
  program.End();
  program.Step();
  timed.Launch("kernel", 8);
  other.Launch("kernel", 8);
  const ProcessLog log = program.Read(), alone = timed.Read(), unlike = other.Read();
  const RankTape tape = MakeTape(log, {1, 4, &alone}).value();
  EXPECT_TRUE(tape.host.is_alone);
  EXPECT_EQ(tape.host.blocks,
            Time::Ns(3));  // an entry takes 1 ns, and the first has none before it
  EXPECT_FALSE(MakeTape(log, {1, 4, &unlike}).value().host.is_alone);
}

TEST(MakeTape, MemoryAndWhatNoOperatorExplains) {
  ProgramLog program;
  program.Begin("module 0: Model");
  program.Launch("_ZN4apex6kernelIfEEvPT_", 8);
  program.End();
  program.Step();
  program.Mark("memory 1000 2048");
  program.Mark("processor A CPU");
  const RankTape tape = TapeOf(program);
  EXPECT_EQ(tape.memory.allocated, Bytes(1000));
  EXPECT_EQ(tape.memory.reserved, Bytes(2048));
  EXPECT_EQ(tape.host.processor, "A CPU");
  ASSERT_EQ(tape.estimates.count("apex::kernel"), 1u);
  EXPECT_EQ(tape.estimates.at("apex::kernel").unknown, 1);
}

TEST(MakeTape, KernelsOfLibraries) {
  ProgramLog program;
  program.Begin("module 0: Model");
  program.Attention();
  program.Begin(
      "aten::_scaled_dot_product_cudnn_attention(Half[1,2,64,32],Half[1,2,64,32],"
      "Half[1,2,64,32],,false,0,true,false)");
  program.Attention();
  program.End("()");
  program.Traffic("norm", 4000);
  program.End();
  program.Step();
  const RankTape tape = TapeOf(program);
  EXPECT_THAT(
      Lines(tape),
      HasSubstr("stream 0: attention: attention fwd bf16 batch=1 sequence=64 heads=2 kv_heads=2 "
                "head_dim=32 fused\n"
                "[forward micro-batch 0] stream 0: _scaled_dot_product_cudnn_attention: attention "
                "fwd fp16 batch=1 sequence=64 heads=2 kv_heads=2 head_dim=32 causal fused\n"
                "[forward micro-batch 0] stream 0: traffic: add fwd bf16 rows=1 n=1000 top_k=1\n"));
  EXPECT_EQ(tape.attention_backend, "cudnn");
  EXPECT_EQ(tape.estimates.at("norm of cudnn").bytes, Bytes(4000));
}

TEST(MakeTape, ProgramsThatMakeTooFewIterations) {
  ProgramLog program;
  program.Begin("module 0: Model");
  program.Operator("aten::relu(Float[8])", "(Float[8])");
  program.End();
  program.Step();
  const ProcessLog log = program.Read();
  EXPECT_EQ(MakeTape(log, {3, 4}).error().message(),
            "rank 3 makes 1 iteration, and the tape is of iteration 3; run the program for more "
            "steps, or choose an earlier iteration");
  const ProcessLog empty = ProgramLog().Read();
  EXPECT_EQ(MakeTape(empty, {3, 4}).error().message(),
            "rank 3 never reaches a step: its program ends without a step of an optimizer, and "
            "nothing that it does is repeated");
}

TEST(MakeTape, AProgramThatTrainsOnTheCpu) {
  ProgramLog program;
  program.Begin("scope Optimizer.step#SGD.step");
  program.Mark("optimizer 0");
  program.End();
  const ProcessLog log = program.Read();
  EXPECT_EQ(MakeTape(log, {1, 4}).error().message(),
            "rank 3 asks nothing of a GPU in iteration 1: the program trains on the CPU");
}

}  // namespace
}  // namespace drydock::capture
