// Patterns in 2-flows.pb, and the checks of a pattern before programs run it. Internal to
// core/schema.
#ifndef DRYDOCK_CORE_SCHEMA_ARTEFACTS_PATTERN_CODEC_H_
#define DRYDOCK_CORE_SCHEMA_ARTEFACTS_PATTERN_CODEC_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "core/model/flow_plan.h"
#include "core/schema/artefacts/artefacts.pb.h"

namespace drydock::protocol {

// A Plan has 16 bits for a member; -1 is none.
inline constexpr uint32_t kMaxMembers = std::numeric_limits<int16_t>::max();
// Per program; the replay counts primitives and slices in 32 bits.
inline constexpr int64_t kMaxPrimitives = std::numeric_limits<int32_t>::max();

void Encode(const Pattern& from, proto::FlowPlan::Pattern* to);
// Returns false if the pattern contradicts itself.
bool Decode(const proto::FlowPlan::Pattern& from, Pattern* to);

struct PatternFacts {
  std::vector<bool> receives, sends;  // by operand: whether any step receives or sends there
  int64_t primitives = 0;             // per program, maximum
  int64_t bytes = 0;                  // that the primitives move, maximum
  int64_t extent = 0;                 // the largest end, from the program's base
};
// Returns nothing if the counts overflow.
std::optional<PatternFacts> FactsOf(const Pattern& pattern);

}  // namespace drydock::protocol

#endif  // DRYDOCK_CORE_SCHEMA_ARTEFACTS_PATTERN_CODEC_H_
