// Broadcasts with different roots in one kernel. Each broadcast goes down the channel's ring from
// its root. A member takes a chunk of each broadcast in turn: of its own broadcast first, then in
// the order of the roots' distance upstream.
#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "simccl/expand/expand.h"
#include "simccl/planner/pattern_writer.h"

namespace drydock {
namespace {

// One broadcast's part of a channel, in bytes of the group's buffer.
struct Part {
  int depth = 0;  // distance down the ring from the root
  int64_t offset = 0, bytes = 0;
};

// Operands: to the next member, from the previous.
constexpr Slots kNone = {}, kNext = {0, 1}, kPrevious = {1, 1};

// Returns the turns at which loops begin. Turns with the same parts and chunk sizes form one loop.
std::vector<int64_t> LoopBegins(std::span<const Part> parts, int64_t chunk) {
  std::set<int64_t> begins = {0};
  for (const Part& part : parts) {
    begins.insert(part.bytes / chunk);
    begins.insert((part.bytes + chunk - 1) / chunk);
  }
  return {begins.begin(), begins.end()};
}

Pattern PatternOf(std::span<const Part> parts, int64_t chunk, int ranks) {
  PatternWriter writer;
  const std::vector<int64_t> begins = LoopBegins(parts, chunk);
  for (size_t i = 0; i + 1 < begins.size(); ++i) {
    const int64_t turn = begins[i], turns = begins[i + 1] - turn;
    writer.BeginLoop(turns, turns > 1 ? chunk : 0, turn * chunk);
    for (const Part& part : parts) {
      const bool sends = part.depth != ranks - 1;
      writer.Step(part.depth == 0 ? kNone : kPrevious, sends ? kNext : kNone,
                  std::clamp<int64_t>(part.bytes - turn * chunk, 0, chunk), part.offset,
                  Local::kStore);
    }
  }
  return writer.Take();
}

void ExpandChannel(int channel, std::span<const hacknccl_broadcast> works,
                   std::span<const int64_t> bases, PlanBuilder* builder) {
  const std::vector<int> ring = builder->communicator().Ring(channel);
  const int n = static_cast<int>(ring.size());
  std::vector<uint32_t> to_next;
  for (int at = 0; at < n; ++at) {
    const int next = ring[static_cast<size_t>((at + 1) % n)];
    to_next.push_back(
        builder->Connect(HACKNCCL_GRAPH_RING, channel, ring[static_cast<size_t>(at)], next));
  }
  for (int at = 0; at < n; ++at) {
    std::vector<Part> parts;
    for (const hacknccl_broadcast& work : works) {
      const auto root = std::find(ring.begin(), ring.end(), work.root) - ring.begin();
      parts.push_back({(at - static_cast<int>(root) + n) % n,
                       bases[static_cast<size_t>(work.call)] + static_cast<int64_t>(work.offset),
                       static_cast<int64_t>(work.bytes)});
    }
    std::sort(parts.begin(), parts.end(),
              [](const Part& a, const Part& b) { return a.depth < b.depth; });
    const uint32_t ends[] = {to_next[static_cast<size_t>(at)],
                             to_next[static_cast<size_t>((at + n - 1) % n)]};
    builder->AddProgram(ring[static_cast<size_t>(at)], channel,
                        PatternOf(parts, works.front().chunk, n), ends);
  }
}

}  // namespace

Status ExpandBroadcasts(std::span<const hacknccl_broadcast> works, std::span<const int64_t> bases,
                        PlanBuilder* builder) {
  std::map<int, std::vector<hacknccl_broadcast>> channels;
  for (const hacknccl_broadcast& work : works) channels[work.channel].push_back(work);
  for (const auto& [channel, of_channel] : channels) {
    ExpandChannel(channel, of_channel, bases, builder);
  }
  Work& planned = builder->work();
  planned.algorithm = Algorithm::kRing;
  planned.protocol = static_cast<Protocol>(works.front().protocol);
  planned.channels = static_cast<int>(channels.size());
  planned.warps = works.front().warps;
  return OkStatus();
}

}  // namespace drydock
