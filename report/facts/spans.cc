#include "report/facts/spans.h"

#include <algorithm>

namespace drydock {
namespace {

void AddLanes(const Inputs& inputs, int rank, std::vector<SpanLane>* out) {
  const Program& program = inputs.program_of(rank);
  const RankTimeline& times = inputs.timeline_of(rank);
  std::vector<SpanLane> lanes(inputs.workload.streams.size());
  for (size_t i = 0; i < program.ops.size(); ++i) {
    const Op& op = program.ops[i];
    const bool moves = IsCommunication(op.kind);
    const Time begin = moves ? times.ready[i] : times.start[i];
    if (times.end[i] <= begin) continue;  // an op that takes no time has no bar
    lanes[op.stream].spans.push_back(
        {begin, times.end[i], begin - times.start[i], static_cast<uint32_t>(i)});
  }
  for (size_t stream = 0; stream < lanes.size(); ++stream) {
    if (lanes[stream].spans.empty()) continue;
    lanes[stream].rank = rank;
    lanes[stream].stream = static_cast<uint8_t>(stream);
    out->push_back(std::move(lanes[stream]));
  }
}

std::vector<Span> Thinned(const std::vector<Span>& spans, Time grain) {
  std::vector<Span> out;
  Time longest;  // of the ops in out.back()
  for (const Span& span : spans) {
    if (out.empty() || span.end - out.back().begin > grain) {
      out.push_back(span);
      longest = span.end - span.begin;
      continue;
    }
    out.back().end = span.end;
    out.back().ops += span.ops;
    if (span.end - span.begin > longest) {
      longest = span.end - span.begin;
      out.back().op = span.op;
    }
  }
  return out;
}

size_t CountThinned(const Spans& spans, Time grain) {
  size_t count = 0;
  for (const SpanLane& lane : spans.lanes) count += Thinned(lane.spans, grain).size();
  return count;
}

}  // namespace

Spans SpansOf(const Inputs& inputs, const std::vector<int>& ranks, size_t most) {
  constexpr int kFinest = 20;
  Spans out;
  size_t count = 0;
  for (const int rank : ranks) AddLanes(inputs, rank, &out.lanes);
  for (const SpanLane& lane : out.lanes) count += lane.spans.size();
  if (count <= most) return out;
  for (int k = kFinest; k >= 1; --k) {
    out.grain = Time::Ps(std::max<int64_t>(1, inputs.timeline.iteration.ps() >> k));
    if (CountThinned(out, out.grain) <= most) break;
  }
  for (SpanLane& lane : out.lanes) lane.spans = Thinned(lane.spans, out.grain);
  return out;
}

}  // namespace drydock
