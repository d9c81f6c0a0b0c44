#ifndef DRYDOCK_NS3_BACKEND_MODEL_ATTRIBUTES_REFERENCE_RATE_H_
#define DRYDOCK_NS3_BACKEND_MODEL_ATTRIBUTES_REFERENCE_RATE_H_

#include <cstdint>

namespace ns3::rdma
{

/// Returns the factor from the 25 Gb/s line, for which the attribute table states thresholds and
/// rate steps (as HPCC's configuration does, SIGCOMM 2019, 5.1), to a line of \p rate bits per
/// second.
inline double
ScaleFromReference(int64_t rate)
{
    constexpr double reference = 25e9;
    return static_cast<double>(rate) / reference;
}

} // namespace ns3::rdma

#endif // DRYDOCK_NS3_BACKEND_MODEL_ATTRIBUTES_REFERENCE_RATE_H_
