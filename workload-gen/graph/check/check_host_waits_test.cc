#include <gtest/gtest.h>

#include <algorithm>

#include "workload-gen/graph/check/check_steps.h"

namespace drydock {
namespace {

// Two streams take turns, and the host waits before every op. An op gets what the host has waited
// for since the op before last, which is its stream's: at most two ops, however many waits came
// before.
TEST(WithHostWaits, AddsADependencyOncePerStream) {
  constexpr uint32_t kOps = 100, kSync = 50;
  Workload w;
  w.streams = {"compute", "tp"};
  Program& program = w.programs.emplace_back();
  program.ops.resize(kOps);
  for (uint32_t i = 0; i < kOps; ++i) {
    program.ops[i].stream = static_cast<uint8_t>(i % 2);
    program.ops[i].host_waits = i == kSync ? HostWait::kDeviceSync : HostWait::kOpReady;
  }
  program.dependency_begin.assign(kOps + 1, 0);
  const Workload waiting = WithHostWaits(w);
  const auto waits_for = [&](uint32_t op, uint32_t other) {
    const auto dependencies = waiting.programs[0].dependencies(op);
    return std::find(dependencies.begin(), dependencies.end(), other) != dependencies.end();
  };
  for (uint32_t i = 2; i < kOps; ++i) {
    EXPECT_LE(waiting.programs[0].dependencies(i).size(), 2u) << i;
    EXPECT_TRUE(waits_for(i, i - 2)) << i;
    if (i > 2 && i < kSync) {
      EXPECT_TRUE(waits_for(i, i - 3)) << i;
    }
  }
  EXPECT_TRUE(waits_for(kSync, kSync - 1));      // of the other stream
  EXPECT_TRUE(waits_for(kSync + 1, kSync - 2));  // the next of that one, which waits as well
}

}  // namespace
}  // namespace drydock
