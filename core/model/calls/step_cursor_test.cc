#include "core/model/calls/step_cursor.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

namespace drydock {
namespace {

// step index, bytes, offset
using Primitive = std::tuple<uint32_t, int64_t, int64_t>;

std::vector<Primitive> Walk(const Plan& plan, const ChannelProgram& program) {
  std::vector<Primitive> out;
  const Pattern& pattern = plan.patterns[program.pattern];
  for (StepCursor at(pattern, program.position); !at.done(); at.Next()) {
    out.emplace_back(at.step_index(), at.bytes(), at.Offset(plan, program));
  }
  return out;
}

// The definition of a step in flow_plan.h, written as loops.
std::vector<Primitive> Listed(const Plan& plan, const ChannelProgram& program) {
  std::vector<Primitive> out;
  const Pattern& pattern = plan.patterns[program.pattern];
  uint32_t begin = 0;
  for (const Loop& loop : pattern.loops) {
    for (int64_t i = 0; i < loop.repeat; ++i) {
      for (uint32_t s = begin; s < loop.step_end; ++s) {
        const Step& step = pattern.steps[s];
        for (uint32_t k = 0; k < step.count; ++k) {
          const uint32_t c = (program.position + step.first + pattern.ring - k) % pattern.ring;
          const int64_t bytes = c < step.whole_chunks    ? step.bytes
                                : c == step.whole_chunks ? step.last_bytes
                                                         : 0;
          const int64_t piece = program.order < 0 ? c : plan.orders[0][c];
          const int64_t offset = program.base + i * loop.stride + step.offset + piece * step.pitch;
          if (bytes > 0) out.emplace_back(s, bytes, offset);
        }
      }
    }
    begin = loop.step_end;
  }
  return out;
}

Plan RandomPlan(std::mt19937* random) {
  const auto up_to = [random](uint32_t most) {
    return static_cast<uint32_t>((*random)() % (most + 1));
  };
  Plan plan;
  Pattern& pattern = plan.patterns.emplace_back();
  pattern.ring = 1 + up_to(9);
  for (uint32_t l = up_to(3); l > 0; --l) {
    for (uint32_t s = up_to(2) + 1; s > 0; --s) {
      Step step;
      step.first = up_to(pattern.ring - 1);
      step.count = 1 + up_to(pattern.ring - 1);
      step.bytes = 1 + up_to(100);
      step.offset = up_to(1000);
      step.pitch = up_to(100);
      if (up_to(1) == 0) {
        step.whole_chunks = up_to(pattern.ring);
        step.last_bytes = up_to(static_cast<uint32_t>(step.bytes) - 1);
      }
      pattern.steps.push_back(step);
    }
    pattern.loops.push_back(
        {1 + up_to(3), up_to(500), static_cast<uint32_t>(pattern.steps.size())});
  }
  plan.orders.emplace_back();
  for (uint32_t c = 0; c < pattern.ring; ++c) {
    plan.orders[0].push_back(static_cast<uint16_t>(pattern.ring - 1 - c));
  }
  plan.members = {{{.position = static_cast<uint16_t>(up_to(pattern.ring - 1)),
                    .order = static_cast<int16_t>(up_to(1) == 0 ? -1 : 0),
                    .base = up_to(5000)}}};
  return plan;
}

TEST(StepCursorTest, WalksThePrimitivesOfThePattern) {
  std::mt19937 random(1);
  for (int i = 0; i < 5000; ++i) {
    const Plan plan = RandomPlan(&random);
    EXPECT_EQ(Walk(plan, plan.members[0][0]), Listed(plan, plan.members[0][0])) << i;
  }
}

TEST(StepCursorTest, CountsThePrimitivesThatItWalks) {
  std::mt19937 random(2);
  for (int i = 0; i < 5000; ++i) {
    const Plan plan = RandomPlan(&random);
    const ChannelProgram& program = plan.members[0][0];
    const Pattern& pattern = plan.patterns[0];
    std::map<std::pair<int64_t, int64_t>, int64_t> walked, counted;  // by step and bytes
    for (const auto& [step, bytes, offset] : Walk(plan, program)) ++walked[{step, bytes}];
    ForEachSize(pattern, program.position, [&](const Step& step, int64_t bytes, int64_t times) {
      counted[{&step - pattern.steps.data(), bytes}] += times;
    });
    EXPECT_EQ(counted, walked) << i;
    EXPECT_EQ(CountPrimitives(plan), static_cast<int64_t>(Walk(plan, program).size()));
  }
}

TEST(StepCursorTest, AnEmptyPatternIsDoneAtOnce) {
  EXPECT_TRUE(StepCursor(Pattern(), 0).done());
  EXPECT_TRUE(StepCursor().done());
}

}  // namespace
}  // namespace drydock
