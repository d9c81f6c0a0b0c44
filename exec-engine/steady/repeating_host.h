// What the search for a steady state asks a host that is replayed.
#ifndef DRYDOCK_EXEC_ENGINE_STEADY_REPEATING_HOST_H_
#define DRYDOCK_EXEC_ENGINE_STEADY_REPEATING_HOST_H_

#include <cstdint>
#include <vector>

#include "core/base/units.h"
#include "core/network/relative_state.h"

namespace drydock {

class RepeatingHost {
 public:
  virtual ~RepeatingHost() = default;
  virtual int first_rank() const = 0;
  virtual int rank_count() const = 0;
  virtual bool HasEnded(int gpu, uint32_t op) const = 0;
  // Returns the first op of each stream that has not ended, kNoOp if all have. The ops before it on
  // the stream have ended, and no op after it has begun.
  virtual const std::vector<uint32_t>& StreamHeads(int gpu) const = 0;
  // The host has issued no op from this one on. kNoOp: launches are not modeled.
  virtual uint32_t FirstNotIssued(int gpu) const = 0;
  // Returns the first arrival of all calls that have not finished; Time::Max() if there are none.
  virtual Time EarliestArrival() const = 0;
  virtual void AppendState(RelativeState* out) const = 0;
};

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_STEADY_REPEATING_HOST_H_
