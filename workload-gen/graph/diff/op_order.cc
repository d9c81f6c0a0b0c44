#include "workload-gen/graph/diff/op_order.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "core/base/check.h"

namespace drydock {
namespace {

constexpr size_t kMostEntries = size_t{1} << 29;

// By stream number of the workload: its number among those with ops, and how many these are.
std::pair<std::vector<uint8_t>, size_t> UsedStreams(const Program& program) {
  std::vector<uint8_t> number(256, 0);
  std::vector<bool> used(256);
  for (const Op& op : program.ops) used[op.stream] = true;
  size_t count = 0;
  for (size_t s = 0; s < 256; ++s) {
    if (used[s]) number[s] = static_cast<uint8_t>(count++);
  }
  return {number, count};
}

}  // namespace

bool OpOrder::IsSmall(const Program& program) {
  return program.ops.size() * UsedStreams(program).second <= kMostEntries;
}

OpOrder::OpOrder(const Program& program) : program_(program) {
  std::tie(stream_of_, streams_) = UsedStreams(program);
  clocks_.assign(program.ops.size() * streams_, 0);
  std::vector<uint32_t> last(streams_, 0), host(streams_, 0);  // 1 + op
  const auto raise = [this](uint32_t* to, const uint32_t* from) {
    for (size_t s = 0; s < streams_; ++s) to[s] = std::max(to[s], from[s]);
  };
  // Adds an op and all that it waits for.
  const auto add = [&](uint32_t* to, uint32_t op) {
    raise(to, ClockOf(op));
    uint32_t& own = to[stream_of_[program_.ops[op].stream]];
    own = std::max(own, op + 1);
  };
  for (uint32_t i = 0; i < program.ops.size(); ++i) {
    const Op& op = program.ops[i];
    const size_t stream = stream_of_[op.stream];
    if (op.host_waits != HostWait::kNothing) {
      if (op.host_waits == HostWait::kDeviceSync) {
        for (const uint32_t each : last) {
          if (each > 0) add(host.data(), each - 1);
        }
      } else {
        for (const uint32_t each : program.dependencies(i)) add(host.data(), each);
        if (last[stream] > 0) add(host.data(), last[stream] - 1);
      }
      wait_ops_.push_back(i);
      host_clocks_.insert(host_clocks_.end(), host.begin(), host.end());
    }
    uint32_t* const clock = &clocks_[size_t{i} * streams_];
    raise(clock, host.data());
    for (const uint32_t each : program.dependencies(i)) add(clock, each);
    if (last[stream] > 0) add(clock, last[stream] - 1);
    last[stream] = i + 1;
  }
}

void OpOrder::Choose(const std::vector<bool>& chosen) {
  last_chosen_.assign(program_.ops.size(), 0);
  std::vector<uint32_t> last(streams_, 0);
  for (uint32_t i = 0; i < program_.ops.size(); ++i) {
    uint32_t& of_stream = last[stream_of_[program_.ops[i].stream]];
    if (chosen[i]) of_stream = i + 1;
    last_chosen_[i] = of_stream;
  }
}

std::vector<uint32_t> OpOrder::Nearest(const uint32_t* clock) const {
  std::vector<uint32_t> candidates;
  for (size_t s = 0; s < streams_; ++s) {
    if (clock[s] == 0) continue;
    const uint32_t chosen = last_chosen_[clock[s] - 1];
    if (chosen > 0) candidates.push_back(chosen - 1);
  }
  std::vector<uint32_t> nearest;
  for (const uint32_t each : candidates) {
    const size_t stream = stream_of_[program_.ops[each].stream];
    const bool hidden = std::any_of(candidates.begin(), candidates.end(), [&](uint32_t other) {
      return other != each && ClockOf(other)[stream] > each;
    });
    if (!hidden) nearest.push_back(each);
  }
  std::sort(nearest.begin(), nearest.end());
  return nearest;
}

std::vector<uint32_t> OpOrder::NearestBefore(uint32_t op) const { return Nearest(ClockOf(op)); }

std::vector<uint32_t> OpOrder::NearestBeforeHost(uint32_t op) const {
  const auto at = std::lower_bound(wait_ops_.begin(), wait_ops_.end(), op);
  CHECK(at != wait_ops_.end() && *at == op);
  return Nearest(&host_clocks_[static_cast<size_t>(at - wait_ops_.begin()) * streams_]);
}

}  // namespace drydock
