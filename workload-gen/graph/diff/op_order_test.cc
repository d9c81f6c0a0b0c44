// "What must have ended before an op starts?"
#include "workload-gen/graph/diff/op_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <set>

namespace drydock {
namespace {

// All ops that must have ended, by following every edge.
std::set<uint32_t> AllBefore(const Program& program, uint32_t op) {
  std::vector<std::set<uint32_t>> before(op + 1);
  std::set<uint32_t> host;
  const auto add = [&before](std::set<uint32_t>* to, uint32_t each) {
    to->insert(each);
    to->insert(before[each].begin(), before[each].end());
  };
  for (uint32_t i = 0; i <= op; ++i) {
    const Op& the_op = program.ops[i];
    std::set<uint32_t> own;
    for (const uint32_t d : program.dependencies(i)) add(&own, d);
    for (uint32_t j = i; j-- > 0;) {
      if (program.ops[j].stream != the_op.stream) continue;
      add(&own, j);
      break;
    }
    if (the_op.host_waits == HostWait::kOpReady) host.insert(own.begin(), own.end());
    if (the_op.host_waits == HostWait::kDeviceSync) {
      for (uint32_t j = 0; j < i; ++j) host.insert(j);
    }
    before[i] = own;
    before[i].insert(host.begin(), host.end());
  }
  return before[op];
}

TEST(OpOrderTest, NearestOfRandomPrograms) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    Program program;
    program.dependency_begin = {0};
    std::vector<bool> chosen;
    const uint32_t count = 1 + random() % 25;
    for (uint32_t i = 0; i < count; ++i) {
      Op op;
      op.stream = static_cast<uint8_t>(3 * (random() % 4));
      if (random() % 6 == 0) op.host_waits = static_cast<HostWait>(1 + random() % 2);
      program.ops.push_back(op);
      for (int d = 0; i > 0 && d < 2; ++d) {
        if (random() % 2) program.dependency.push_back(random() % i);
      }
      program.dependency_begin.push_back(static_cast<uint32_t>(program.dependency.size()));
      chosen.push_back(random() % 2);
    }
    OpOrder order(program);
    order.Choose(chosen);
    for (uint32_t i = 0; i < count; ++i) {
      std::set<uint32_t> nearest;
      for (const uint32_t each : AllBefore(program, i)) {
        if (chosen[each]) nearest.insert(each);
      }
      const std::set<uint32_t> all = nearest;
      for (const uint32_t each : all) {
        for (const uint32_t hidden : AllBefore(program, each)) nearest.erase(hidden);
      }
      EXPECT_THAT(order.NearestBefore(i), ::testing::ElementsAreArray(nearest))
          << round << " " << i;
    }
  }
}

}  // namespace
}  // namespace drydock
