#include "workload-gen/program/program_builder.h"

#include <gmock/gmock.h>

namespace drydock {
namespace {

using testing::ElementsAre;

class ProgramBuilderTest : public testing::Test {
 protected:
  ProgramBuilderTest() : tables_(&workload_), b_(&tables_) {
    Submodule s;
    s.name = "x.y";
    x_ = tables_.Intern(s);
    call_.count = 4;
    call_.group_size = 2;
  }
  std::vector<uint32_t> DependenciesOf(const Program& p, size_t op) {
    const auto span = p.dependencies(op);
    return {span.begin(), span.end()};
  }

  Workload workload_;
  WorkTables tables_;
  ProgramBuilder b_;
  CommCall call_;
  uint32_t x_ = 0;
};

TEST_F(ProgramBuilderTest, ComputeBetweenCommunicationIsOneOp) {
  b_.Compute(x_);
  b_.Compute(x_);
  b_.Collective(kTensorRole, kTensorStream, call_);
  b_.Compute(x_);
  const Program p = b_.Finish();
  ASSERT_EQ(p.ops.size(), 3u);
  EXPECT_EQ(workload_.blocks[p.ops[0].work].submodules.size(), 2u);
  EXPECT_THAT(DependenciesOf(p, 1), ElementsAre(0));
  EXPECT_THAT(DependenciesOf(p, 2), ElementsAre(1));
  EXPECT_EQ(p.ops[1].role, kTensorRole);
}

TEST_F(ProgramBuilderTest, ComputeRunsBesideACollectiveUntilTheWait) {
  b_.Compute(x_);
  const auto op = b_.StartCollective(kTensorRole, kTensorStream, call_);
  b_.Compute(x_);
  b_.Wait(op);
  b_.Compute(x_);
  const Program p = b_.Finish();
  ASSERT_EQ(p.ops.size(), 4u);
  EXPECT_THAT(DependenciesOf(p, 2), ElementsAre());
  EXPECT_THAT(DependenciesOf(p, 3), ElementsAre(1));
}

// A communication also waits for the ops that the compute stream waits for when it is issued.
TEST_F(ProgramBuilderTest, WaitsPassThroughTheComputeStream) {
  b_.Collective(kDataRole, kDataStream, call_);
  b_.Collective(kTensorRole, kTensorStream, call_);
  b_.Collective(kTensorRole, kTensorStream, call_);
  const Program p = b_.Finish();
  EXPECT_THAT(DependenciesOf(p, 0), ElementsAre());
  EXPECT_THAT(DependenciesOf(p, 1), ElementsAre(0));
  EXPECT_THAT(DependenciesOf(p, 2), ElementsAre(0));  // op 1 is on its own stream
}

TEST_F(ProgramBuilderTest, ALaterWaitOnAStreamCoversAnEarlierOne) {
  const auto first = b_.StartCollective(kTensorRole, kTensorStream, call_);
  const auto second = b_.StartCollective(kTensorRole, kTensorStream, call_);
  b_.Wait(first);
  b_.Wait(second);
  b_.Wait(first);
  b_.Compute(x_);
  b_.Wait(second);
  b_.Compute(x_);
  const Program p = b_.Finish();
  ASSERT_EQ(p.ops.size(), 3u);  // the last wait adds nothing, so the compute stays one op
  EXPECT_THAT(DependenciesOf(p, 2), ElementsAre(1));
}

TEST_F(ProgramBuilderTest, AGroupOfOneCommunicatesNothing) {
  call_.group_size = 1;
  EXPECT_EQ(b_.StartCollective(kTensorRole, kTensorStream, call_), ProgramBuilder::kNothing);
  b_.Collective(kTensorRole, kTensorStream, call_);
  b_.Compute(x_);
  EXPECT_EQ(b_.Finish().ops.size(), 1u);
}

TEST_F(ProgramBuilderTest, WaitForAllJoinsEveryStream) {
  b_.StartCollective(kTensorRole, kTensorStream, call_);
  b_.StartCollective(kDataRole, kDataStream, call_);
  b_.Transfer(OpKind::kSend, kNextRole, kSendNextStream, call_, 5);
  b_.WaitForAll();
  b_.Compute(x_);
  const Program p = b_.Finish();
  EXPECT_THAT(DependenciesOf(p, 3), ElementsAre(0, 1, 2));
  EXPECT_EQ(p.ops[2].tag, 5);
}

TEST_F(ProgramBuilderTest, PhasesAndPlacesSeparateOps) {
  b_.SetPlace(3, 1, 0);
  b_.Compute(x_);
  b_.SetPhase(Phase::kRecompute);
  b_.Compute(x_);
  b_.SetPlace(4, 1, 0);
  b_.Compute(x_);
  const Program p = b_.Finish();
  ASSERT_EQ(p.ops.size(), 3u);
  EXPECT_EQ(p.ops[1].phase, Phase::kRecompute);
  EXPECT_EQ(p.ops[1].layer, 3);
  EXPECT_EQ(p.ops[2].layer, 4);
}

TEST_F(ProgramBuilderTest, TheHostWaitsBeforeTheNextOpOfAnyStream) {
  b_.Compute(x_);
  b_.HostReads();
  b_.Compute(x_);
  b_.WaitForAll();
  b_.Collective(kTensorRole, kTensorStream, call_);
  b_.Compute(x_);
  const Program p = b_.Finish();
  ASSERT_EQ(p.ops.size(), 4u);
  std::vector<HostWait> waits;
  for (const Op& op : p.ops) waits.push_back(op.host_waits);
  EXPECT_THAT(waits, ElementsAre(HostWait::kNothing, HostWait::kOpReady, HostWait::kDeviceSync,
                                 HostWait::kNothing));
  EXPECT_THAT(DependenciesOf(p, 1), ElementsAre()) << "only the host delays it";
}

// Two layers forward, a message, the first backward with its recomputation, the optimizer.
Program InGraphs(GraphScope scope, ProgramBuilder* b, uint32_t x, const CommCall& call) {
  GraphRules graphs;
  graphs.scope = scope;
  CommCall message = call;
  message.collective = CollectiveType::kSendRecv;
  b->SetGraphs(graphs, {});
  b->SetPhase(Phase::kForward);
  for (const int layer : {0, 1}) {
    b->SetPlace(layer, 0, 0);
    b->Compute(x);
    b->Collective(kTensorRole, kTensorStream, call);
  }
  b->SetPlace(-1, 0, 0);
  b->Transfer(OpKind::kSend, kNextRole, kSendNextStream, message, 0);
  b->SetPlace(0, 0, 0);
  b->SetPhase(Phase::kRecompute);
  b->Compute(x);
  b->SetPhase(Phase::kBackward);
  b->Compute(x);
  b->SetPlace(-1, 0, 0);
  b->Compute(x);
  b->SetPlace(-1, -1, 0);
  b->EndIteration();
  b->SetPhase(Phase::kOptimizer);
  b->Compute(x);
  return b->Finish();
}

std::string GraphsOf(const Program& p) {
  std::string text;
  for (const Op& op : p.ops) text += ".[="[static_cast<size_t>(op.graph)];
  return text;
}

TEST_F(ProgramBuilderTest, GraphsCoverTheirScope) {
  EXPECT_EQ(GraphsOf(InGraphs(GraphScope::kNone, &b_, x_, call_)), ".........");
  ProgramBuilder layers(&tables_), full(&tables_), iteration(&tables_);
  EXPECT_EQ(GraphsOf(InGraphs(GraphScope::kLayers, &layers, x_, call_)), "[=[=.[=..");
  EXPECT_EQ(GraphsOf(InGraphs(GraphScope::kFull, &full, x_, call_)), "[===.[==.");
  EXPECT_EQ(GraphsOf(InGraphs(GraphScope::kIteration, &iteration, x_, call_)), "[=======.");
}

// Attention, router and experts of two layers forward, then of the second one backward, with the
// graphs of `regions`.
TEST_F(ProgramBuilderTest, GraphsCoverTheirRegions) {
  const auto written = [&](const GraphModules& modules) {
    ProgramBuilder b(&tables_);
    b.SetGraphs({GraphScope::kParts, modules}, {x_, x_, x_});
    const auto run = [&](LayerRegion region) {
      b.SetRegion(region);
      b.Compute(x_);
      b.Collective(kTensorRole, kTensorStream, call_);
    };
    for (const int layer : {0, 1}) {
      b.SetPlace(layer, 0, 0);
      for (const LayerRegion region :
           {LayerRegion::kAttention, LayerRegion::kRouter, LayerRegion::kExperts}) {
        run(region);
      }
      b.SetRegion(LayerRegion::kOutside);
    }
    b.SetPhase(Phase::kBackward);
    for (const LayerRegion region :
         {LayerRegion::kExperts, LayerRegion::kRouter, LayerRegion::kAttention}) {
      run(region);
    }
    return GraphsOf(b.Finish());
  };
  EXPECT_EQ(written({.attention = true}), "[=....[=........[=");
  EXPECT_EQ(written({.attention = true, .moe_router = true}), "[===..[===....[===");
  EXPECT_EQ(written({.moe = true}), "..[===..[===[===..");
}

TEST_F(ProgramBuilderTest, AGraphCopiesWhatItReads) {
  const auto copy = [&](const char* name) {
    return tables_.Intern(Submodule{.name = name, .work = submodule::Add{.rows = 8, .n = 8}});
  };
  const uint32_t inputs = copy("inputs"), gradients = copy("gradients");
  b_.SetGraphs({GraphScope::kParts, {.attention = true}}, {inputs, gradients, x_});
  b_.SetPlace(0, 0, 0);
  b_.SetRegion(LayerRegion::kAttention);
  b_.Compute(x_);
  b_.SetRegion(LayerRegion::kMlp);
  b_.Compute(x_);
  b_.SetPhase(Phase::kBackward);
  b_.SetRegion(LayerRegion::kAttention);
  b_.Compute(x_);
  const Program p = b_.Finish();
  ASSERT_EQ(p.ops.size(), 3u);
  EXPECT_THAT(workload_.blocks[p.ops[0].work].submodules, ElementsAre(inputs, x_));
  EXPECT_THAT(workload_.blocks[p.ops[1].work].submodules, ElementsAre(x_));
  EXPECT_THAT(workload_.blocks[p.ops[2].work].submodules, ElementsAre(gradients, x_));
}

}  // namespace
}  // namespace drydock
