#include "core/model/calls/reductions.h"

#include <map>

#include "core/base/check.h"
#include "core/model/calls/slices.h"
#include "core/model/calls/step_cursor.h"

namespace drydock {
namespace {

// The number of chunks of each connection, and the work that sends or receives them.
struct Chunks {
  std::vector<int64_t> count;
  std::vector<uint16_t> work;
};

Chunks CountSwitched(const Plan& plan, PieceUnit unit) {
  Chunks chunks = {std::vector<int64_t>(plan.connections.size(), 0),
                   std::vector<uint16_t>(plan.connections.size(), 0)};
  for (const std::vector<ChannelProgram>& programs : plan.members) {
    for (const ChannelProgram& program : programs) {
      const auto add = [&](Slots slots, LinkKind link, int64_t times) {
        for (uint32_t i = 0; i < slots.count; ++i) {
          const uint32_t c = plan.operands[program.operand_begin + slots.begin + i];
          if (plan.connections[c].link != link) continue;
          chunks.count[c] += times;
          chunks.work[c] = program.work;
        }
      };
      ForEachSize(plan.patterns[program.pattern], program.position,
                  [&](const Step& step, int64_t bytes, int64_t times) {
                    if (unit == PieceUnit::kSlice) {
                      times *= SliceCount(plan.works[program.work], bytes);
                    }
                    add(step.send, LinkKind::kToSwitch, times);
                    add(step.receive, LinkKind::kFromSwitch, times);
                  });
    }
  }
  return chunks;
}

}  // namespace

bool IsWhole(const PlanReduction& reduction) {
  const auto all = [&](const ReductionEnd::Pieces& pieces) {
    return pieces.begin == 0 && pieces.end == reduction.pieces;
  };
  std::vector<std::pair<int64_t, int64_t>> sent;
  for (const ReductionEnd& end : reduction.ends) {
    if (!all(end.sends) && !all(end.receives)) return false;
    sent.emplace_back(end.sends.begin, end.sends.end);
  }
  std::sort(sent.begin(), sent.end());
  int64_t covered = 0;
  for (const auto& [begin, end] : sent) {
    if (begin <= covered) covered = std::max(covered, end);
  }
  return covered == reduction.pieces;
}

std::vector<PlanReduction> ReductionsOf(const Plan& plan, PieceUnit unit) {
  std::vector<PlanReduction> reductions;
  const bool any = std::any_of(plan.connections.begin(), plan.connections.end(),
                               [](const Connection& c) { return c.reduction >= 0; });
  if (!any) return reductions;
  const Chunks chunks = CountSwitched(plan, unit);
  std::map<std::pair<int16_t, uint16_t>, size_t> places;  // by reduction and member: in `ends`
  for (uint32_t c = 0; c < plan.connections.size(); ++c) {
    const Connection& connection = plan.connections[c];
    if (connection.reduction < 0) continue;
    const auto number = static_cast<size_t>(connection.reduction);
    reductions.resize(std::max(reductions.size(), number + 1));
    PlanReduction& reduction = reductions[number];
    const auto [place, added] =
        places.emplace(std::pair(connection.reduction, connection.from), reduction.ends.size());
    if (added) reduction.ends.push_back({connection.from, c, c, {}, {}});
    ReductionEnd& end = reduction.ends[place->second];
    const ReductionEnd::Pieces pieces = {connection.first, connection.first + chunks.count[c]};
    const bool sends = connection.link == LinkKind::kToSwitch;
    (sends ? end.to_switch : end.from_switch) = c;
    (sends ? end.sends : end.receives) = pieces;
    if (pieces.count() == 0) continue;
    reduction.pieces = std::max(reduction.pieces, pieces.end);
    reduction.slots = plan.works[chunks.work[c]].slots;
  }
  return reductions;
}

}  // namespace drydock
