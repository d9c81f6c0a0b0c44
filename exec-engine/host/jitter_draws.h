// Random differences between equal ops (Variation::jitter). Each draw is a function of the seed,
// the rank and the op, so it does not depend on when, where and how often it is made.
#ifndef DRYDOCK_EXEC_ENGINE_HOST_JITTER_DRAWS_H_
#define DRYDOCK_EXEC_ENGINE_HOST_JITTER_DRAWS_H_

#include <cstdint>

#include "core/base/units.h"
#include "core/model/variation.h"

namespace drydock {

class JitterDraws {
 public:
  explicit JitterDraws(const Jitter& jitter) : jitter_(jitter) {}

  // Returns the duration on this rank of a compute op whose mean duration is `duration`: normally
  // distributed, cut off at three standard deviations.
  Time ComputeTime(Time duration, int rank, uint32_t op) const;
  // Returns the delay with which the rank starts a communication op: exponentially distributed.
  Time CallDelay(int rank, uint32_t op) const;

 private:
  // Returns a number, uniform in (0, 1]. `number` distinguishes several draws for one op.
  double Uniform(int rank, uint32_t op, uint64_t number) const;

  const Jitter jitter_;
};

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_HOST_JITTER_DRAWS_H_
