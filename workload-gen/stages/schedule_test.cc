#include "workload-gen/stages/schedule.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace drydock {
namespace {

std::string Order(const PipelineShape& shape) {
  std::string text;
  for (const StageWork& work : MakeWorkOrder(shape).steps) {
    if (!text.empty()) text += ' ';
    text += ToString(work);
  }
  return text;
}

PipelineShape Shape(int stages, int stage, int chunks, int microbatches) {
  PipelineShape shape;
  shape.stages = stages;
  shape.stage = stage;
  shape.chunks = chunks;
  shape.microbatches = microbatches;
  return shape;
}

TEST(Schedule, InterleavedOrderOfTwoStagesTwoChunksFourMicrobatches) {
  EXPECT_EQ(Order(Shape(2, 0, 2, 4)),
            "F0.0 F1.0 F0.1 F1.1 F2.0 B0.1 F3.0 B1.1 F2.1 B0.0 F3.1 B1.0 B2.1 B3.1 B2.0 B3.0");
  EXPECT_EQ(Order(Shape(2, 1, 2, 4)),
            "F0.0 F1.0 F0.1 B0.1 F1.1 B1.1 F2.0 B0.0 F3.0 B1.0 F2.1 B2.1 F3.1 B3.1 B2.0 B3.0");
}

TEST(Schedule, InterleavedWarmup) {
  for (const auto& [stage, warmup] : {std::pair{0, 10}, {1, 8}, {2, 6}, {3, 4}}) {
    EXPECT_EQ(MakeWorkOrder(Shape(4, stage, 2, 8)).warmup, warmup);
  }
  EXPECT_EQ(MakeWorkOrder(Shape(4, 0, 2, 4)).warmup, 8);  // at most all forwards
}

TEST(Schedule, OneForwardOneBackward) {
  EXPECT_EQ(Order(Shape(1, 0, 1, 3)), "F0.0 B0.0 F1.0 B1.0 F2.0 B2.0");
  EXPECT_EQ(Order(Shape(4, 2, 1, 4)), "F0.0 F1.0 B0.0 F2.0 B1.0 F3.0 B2.0 B3.0");
  EXPECT_EQ(Order(Shape(4, 0, 1, 2)), "F0.0 F1.0 B0.0 B1.0");
}

std::string Text(const Action& action) {
  if (action.kind == Action::Kind::kCompute) return ToString(action.work);
  if (action.kind == Action::Kind::kTogether) {
    return ToString(action.work) + "+" + ToString(action.backward);
  }
  constexpr const char* kNames[] = {"sn", "rp", "sp", "rn"};
  std::string text = action.kind == Action::Kind::kPost ? "post(" : "wait(";
  for (const Exchange& e : action.exchanges) {
    if (text.back() != '(') text += ' ';
    text += kNames[static_cast<size_t>(e.direction)] + std::to_string(e.microbatch);
  }
  return text + ")";
}

std::string Actions(const PipelineShape& shape) {
  std::string text;
  for (const Action& action : MakeSchedule(shape)) {
    if (action.synchronous) continue;  // the wait that follows every batched post
    if (!text.empty()) text += ' ';
    text += Text(action);
  }
  return text;
}

TEST(Schedule, BatchedExchangesOfAMiddleStage) {
  EXPECT_EQ(Actions(Shape(3, 1, 1, 3)),
            "post(rp0) F0.0 post(sn0) post(rp1) F1.0 post(sn1 rn0) B0.0 post(sp0 rp2) F2.0 "
            "post(sn2 rn1) B1.0 post(sp1) post(rn2) B2.0 post(sp2)");
}

TEST(Schedule, OverlappedExchangesOfTheFirstStage) {
  PipelineShape shape = Shape(2, 0, 2, 2);
  shape.overlap = true;
  EXPECT_EQ(Actions(shape),
            "F0.0 post(sn0) wait(sn0) F1.0 post(sn1 rp0) wait(sn1) wait(rp0) F0.1 post(sn0 rp1) "
            "wait(sn0) wait(rp1) F1.1 post(sn1) wait(sn1) post(rn0) wait(rn0) B0.1 post(sp0 rn1) "
            "wait(sp0 rn1) B1.1 post(sp1 rn0) wait(sp1 rn0) B0.0 post(rn1) wait(rn1) B1.0");
}

// A pair runs after the inputs of both passes have arrived; their sends follow the pair.
TEST(Schedule, CombinedPairs) {
  PipelineShape shape = Shape(2, 1, 2, 4);
  shape.combined = true;
  EXPECT_EQ(Order(shape),
            "F0.0 F1.0 F0.1 F1.1 B0.1 F2.0 B1.1 F3.0 B0.0 F2.1 B1.0 F3.1 B2.1 B3.1 B2.0 B3.0");
  shape = Shape(2, 1, 2, 2);
  shape.combined = shape.overlap = true;
  EXPECT_EQ(Actions(shape),
            "post(rp0) wait(rp0) F0.0 post(sn0 rp1) wait(sn0) wait(rp1) F1.0 post(sn1 rp0) "
            "wait(sn1) wait(rp0) F0.1 post(rp1) wait(rp1) F1.1+B0.1 post(sp0) wait(sp0) B1.1 "
            "post(sp1 rn0) wait(sp1 rn0) B0.0 post(sp0 rn1) wait(sp0 rn1) B1.0 post(sp1) "
            "wait(sp1)");
  shape = Shape(1, 0, 1, 3);
  shape.combined = true;
  EXPECT_EQ(Actions(shape), "F0.0 F1.0+B0.0 F2.0+B1.0 B2.0");
}

// At both ends of every boundary, each message is sent once and received once, posted before the
// wait for it, and received before its use. Sender and receiver post their messages in the same
// order.
class ScheduleShapes : public testing::TestWithParam<PipelineShape> {};

TEST_P(ScheduleShapes, ExchangesMatch) {
  using Message = std::pair<int, int>;                              // boundary, micro-batch
  std::map<std::pair<bool, int>, std::vector<int>> sent, received;  // gradient?, boundary
  for (int stage = 0; stage < GetParam().stages; ++stage) {
    PipelineShape shape = GetParam();
    shape.stage = stage;
    std::set<std::pair<int, Message>> posted, done;
    std::set<std::pair<bool, Message>> computed;
    for (const Action& action : MakeSchedule(shape)) {
      const auto compute = [&](const StageWork& w) {
        const int v = w.chunk * shape.stages + stage;
        const int last = shape.stages * shape.chunks - 1;
        if (!w.backward && v > 0) {
          EXPECT_TRUE(done.count({1, {v - 1, w.microbatch}}));
        }
        if (w.backward && v < last) {
          EXPECT_TRUE(done.count({3, {v, w.microbatch}}));
        }
        computed.insert({w.backward, {v, w.microbatch}});
      };
      if (action.kind == Action::Kind::kCompute || action.kind == Action::Kind::kTogether) {
        compute(action.work);
        if (action.kind == Action::Kind::kTogether) compute(action.backward);
        continue;
      }
      for (const Exchange& e : action.exchanges) {
        const int direction = static_cast<int>(e.direction);
        const Message message{e.boundary, e.microbatch};
        if (action.kind == Action::Kind::kWait) {
          EXPECT_TRUE(posted.count({direction, message}));
          EXPECT_TRUE(done.insert({direction, message}).second);
          continue;
        }
        EXPECT_TRUE(posted.insert({direction, message}).second);
        const bool gradient =
            e.direction == Direction::kSendPrev || e.direction == Direction::kRecvNext;
        const bool send =
            e.direction == Direction::kSendNext || e.direction == Direction::kSendPrev;
        (send ? sent : received)[{gradient, e.boundary}].push_back(e.microbatch);
        const int v = e.direction == Direction::kSendNext ? e.boundary : e.boundary + 1;
        if (send) {
          EXPECT_TRUE(computed.count({gradient, {v, e.microbatch}}));
        }
      }
    }
    EXPECT_EQ(posted, done);
  }
  EXPECT_EQ(sent, received);
  const size_t boundaries = static_cast<size_t>(GetParam().stages * GetParam().chunks - 1);
  EXPECT_EQ(sent.size(), 2 * boundaries);
}

std::vector<PipelineShape> AllShapes() {
  std::vector<PipelineShape> shapes;
  for (int stages = 1; stages <= 5; ++stages) {
    for (int microbatches = 1; microbatches <= 9; ++microbatches) {
      shapes.push_back(Shape(stages, 0, 1, microbatches));
    }
    for (int chunks = 2; stages > 1 && chunks <= 4; ++chunks) {
      for (int groups = 1; groups <= 3; ++groups) {
        for (const bool overlap : {false, true}) {
          for (const bool wait : {false, true}) {
            for (const bool combined : {false, true}) {
              shapes.push_back(
                  {stages, 0, chunks, groups * stages, overlap, wait, /*group=*/0, combined});
            }
          }
        }
      }
    }
  }
  return shapes;
}

INSTANTIATE_TEST_SUITE_P(All, ScheduleShapes, testing::ValuesIn(AllShapes()));

}  // namespace
}  // namespace drydock
