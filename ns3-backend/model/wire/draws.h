#ifndef DRYDOCK_NS3_BACKEND_MODEL_WIRE_DRAWS_H_
#define DRYDOCK_NS3_BACKEND_MODEL_WIRE_DRAWS_H_

#include <cstdint>

namespace ns3::rdma
{

/// Numbers that look random, each a hash of a seed and of how many were drawn before (SplitMix64:
/// Steele, Lea and Flood, OOPSLA 2014). A sequence depends on nothing but its seed.
class Draws
{
  public:
    explicit Draws(uint64_t seed = 0)
        : m_state(seed)
    {
    }

    /// Uniform in [0, 1).
    double Next()
    {
        uint64_t x = m_state += 0x9e3779b97f4a7c15U;
        x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
        x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
        x ^= x >> 31;
        return static_cast<double>(x >> 11) * 0x1.0p-53;
    }

  private:
    uint64_t m_state;
};

} // namespace ns3::rdma

#endif // DRYDOCK_NS3_BACKEND_MODEL_WIRE_DRAWS_H_
