#ifndef DRYDOCK_NS3_BACKEND_MODEL_WIRE_DRAWS_H_
#define DRYDOCK_NS3_BACKEND_MODEL_WIRE_DRAWS_H_

#include "core/containers/hash.h"

#include <cstdint>

namespace ns3::rdma
{

/// Pseudo-random numbers (SplitMix64: Steele, Lea and Flood, OOPSLA 2014). A sequence depends only
/// on its seed.
class Draws
{
  public:
    explicit Draws(uint64_t seed = 0)
        : m_state(seed)
    {
    }

    /// Returns a number, uniform in [0, 1).
    double Next()
    {
        m_state += drydock::kSplitMixIncrement;
        return static_cast<double>(drydock::MixBits(m_state) >> 11) * 0x1.0p-53;
    }

  private:
    uint64_t m_state;
};

} // namespace ns3::rdma

#endif // DRYDOCK_NS3_BACKEND_MODEL_WIRE_DRAWS_H_
