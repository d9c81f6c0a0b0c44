// The ops of ranks as bars of a timeline: one lane for each stream of each rank.
//
// A page cannot show a million bars, so ops are thinned: if there are too many, successive ops of
// one stream that end within `grain` of the first one's begin are one bar, named after the longest
// of them. The grain is the smallest of iteration / 2^k, k from 20 down to 1, that leaves at most
// the wanted number of bars.
#ifndef DRYDOCK_REPORT_FACTS_SPANS_H_
#define DRYDOCK_REPORT_FACTS_SPANS_H_

#include <cstdint>
#include <vector>

#include "core/base/units.h"
#include "report/inputs/inputs.h"

namespace drydock {

struct Span {
  Time begin, end;  // communication: while data moves; other ops: from start to end
  Time wait;        // before `begin`, in which the op held its stream
  uint32_t op = 0;  // of the rank's program; of several, the one with the most time
  int32_t ops = 1;
};

struct SpanLane {
  int rank = 0;
  uint8_t stream = 0;
  std::vector<Span> spans;  // in order, without overlap
};

struct Spans {
  std::vector<SpanLane> lanes;  // by rank as asked, then stream; only streams with ops
  Time grain;                   // zero: every op is a bar of its own
};

inline constexpr size_t kMaxSpans = 40000;
Spans SpansOf(const Inputs& inputs, const std::vector<int>& ranks, size_t most = kMaxSpans);

}  // namespace drydock

#endif  // DRYDOCK_REPORT_FACTS_SPANS_H_
