// Patterns in 2-flows.pb, and what readers have to know of one before programs may run it. Internal
// to core/schema.
#ifndef DRYDOCK_CORE_SCHEMA_ARTEFACTS_PATTERN_CODEC_H_
#define DRYDOCK_CORE_SCHEMA_ARTEFACTS_PATTERN_CODEC_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "core/model/flow_plan.h"
#include "core/schema/artefacts/artefacts.pb.h"

namespace drydock::protocol {

// A Plan names members in 16 bits, with -1 for none.
inline constexpr uint32_t kMostMembers = std::numeric_limits<int16_t>::max();
// Of a program; the replay counts them, and their slices, in 32 bits.
inline constexpr int64_t kMostPrimitives = std::numeric_limits<int32_t>::max();

void Encode(const Pattern& from, proto::FlowPlan::Pattern* to);
// False if the pattern contradicts itself.
bool Decode(const proto::FlowPlan::Pattern& from, Pattern* to);

struct PatternFacts {
  std::vector<bool> receives, sends;  // by operand: whether some step does
  int64_t primitives = 0;             // of a program, at most
  int64_t bytes = 0;                  // that they move, at most
  int64_t extent = 0;                 // where the furthest ends, from the program's base
};
// None if they are more than anybody can count.
std::optional<PatternFacts> FactsOf(const Pattern& pattern);

}  // namespace drydock::protocol

#endif  // DRYDOCK_CORE_SCHEMA_ARTEFACTS_PATTERN_CODEC_H_
