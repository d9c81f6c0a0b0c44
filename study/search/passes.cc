#include "study/search/passes.h"

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>

namespace drydock {
namespace {

// Micro-batch, chunk, backward.
using PassKey = std::tuple<int32_t, int32_t, bool>;

bool IsBackward(const Op& op) {
  return op.phase == Phase::kBackward || op.phase == Phase::kRecompute;
}
PassKey KeyOf(const Op& op) { return {op.microbatch, op.chunk, IsBackward(op)}; }
bool IsOfPass(const Op& op) {
  return op.microbatch >= 0 && (op.phase == Phase::kForward || IsBackward(op));
}

// The stream of the first compute op of a pass.
std::optional<uint8_t> ComputeStream(const Program& program) {
  for (const Op& op : program.ops) {
    if (op.kind == OpKind::kCompute && IsOfPass(op)) return op.stream;
  }
  return std::nullopt;
}

// False if a pass goes on after another one has begun.
bool AreSerial(const Program& program, uint8_t stream) {
  std::set<PassKey> ended;
  std::optional<PassKey> current;
  for (const Op& op : program.ops) {
    if (op.kind != OpKind::kCompute || op.stream != stream || !IsOfPass(op)) continue;
    if (current == KeyOf(op)) continue;
    if (current) ended.insert(*current);
    current = KeyOf(op);
    if (ended.contains(*current)) return false;
  }
  return true;
}

}  // namespace

std::vector<RankPass> PassesOf(int rank, int microbatch, LeastTimes* least) {
  const Program& program = least->ProgramOf(rank);
  const std::optional<uint8_t> stream = ComputeStream(program);
  if (!stream) return {};
  const bool serial = AreSerial(program, *stream);
  std::vector<RankPass> passes;
  std::vector<PassKey> keys;
  std::unordered_map<size_t, std::pair<size_t, Time>> end_of;  // by op: its pass, its end
  std::vector<std::unordered_map<uint8_t, Time>> stream_ends;  // by pass
  for (size_t i = 0; i < program.ops.size(); ++i) {
    const Op& op = program.ops[i];
    if (op.microbatch != microbatch || !IsOfPass(op)) continue;
    const bool compute = op.kind == OpKind::kCompute && op.stream == *stream;
    size_t pass =
        static_cast<size_t>(std::find(keys.begin(), keys.end(), KeyOf(op)) - keys.begin());
    if (pass == keys.size()) {
      if (!compute) continue;  // before the first compute op
      keys.push_back(KeyOf(op));
      passes.push_back({op.chunk, IsBackward(op), Time(), {}});
      stream_ends.emplace_back();
    }
    if (!serial && !compute) continue;
    Time& stream_end = stream_ends[pass][op.stream];
    Time start = stream_end;
    for (const uint32_t dependency : program.dependencies(i)) {
      const auto known = end_of.find(dependency);
      if (known != end_of.end() && known->second.first == pass) {
        start = std::max(start, known->second.second);
      }
    }
    stream_end = start + least->Of(rank, op);
    end_of[i] = {pass, stream_end};
    if (!compute) continue;
    passes[pass].time = std::max(passes[pass].time, stream_end);
    passes[pass].ends.emplace_back(i, stream_end);
  }
  return passes;
}

std::vector<size_t> SteadyBegins(const Program& program) {
  const std::optional<uint8_t> stream = ComputeStream(program);
  std::vector<size_t> begins;
  if (!stream) return begins;
  std::optional<PassKey> current;
  bool backward_seen = false;
  size_t last_forward = 0;
  for (size_t i = 0; i < program.ops.size(); ++i) {
    const Op& op = program.ops[i];
    if (op.kind != OpKind::kCompute || op.stream != *stream || !IsOfPass(op)) continue;
    if (current == KeyOf(op)) continue;
    current = KeyOf(op);
    backward_seen = backward_seen || IsBackward(op);
    if (!backward_seen) continue;
    begins.push_back(i);
    if (!IsBackward(op)) last_forward = begins.size();
  }
  begins.resize(last_forward);
  return begins;
}

}  // namespace drydock
