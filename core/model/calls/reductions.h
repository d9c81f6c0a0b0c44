// Reductions in switches: which members of a plan send and receive which pieces.
#ifndef DRYDOCK_CORE_MODEL_CALLS_REDUCTIONS_H_
#define DRYDOCK_CORE_MODEL_CALLS_REDUCTIONS_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/model/flow_plan.h"

namespace drydock {

// A member's part in a reduction: the pieces that it sends and receives. A member takes part in
// every piece: for a piece that it does not send, it signals that it has room to receive.
struct ReductionEnd {
  struct Pieces {
    int64_t begin = 0, end = 0;
    bool Has(int64_t piece) const { return piece >= begin && piece < end; }
    int64_t count() const { return end - begin; }
  };
  uint16_t member = 0;
  uint32_t to_switch = 0, from_switch = 0;  // connections
  Pieces sends, receives;
};

struct PlanReduction {
  std::vector<ReductionEnd> ends;  // in the order of connections
  int64_t pieces = 0;
  int slots = 1;  // pieces that each end's buffers hold
};

// Returns true if every member sends or receives every piece, and each piece has a sender.
bool IsWhole(const PlanReduction& reduction);

// ReductionsOf returns the reductions by number; empty if no switch takes part. The unit of pieces
// is the chunk or the slice.
enum class PieceUnit : uint8_t { kChunk, kSlice };
std::vector<PlanReduction> ReductionsOf(const Plan& plan, PieceUnit unit = PieceUnit::kChunk);

}  // namespace drydock

#endif  // DRYDOCK_CORE_MODEL_CALLS_REDUCTIONS_H_
