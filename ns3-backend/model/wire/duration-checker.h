#ifndef DRYDOCK_NS3_BACKEND_MODEL_WIRE_DURATION_CHECKER_H_
#define DRYDOCK_NS3_BACKEND_MODEL_WIRE_DURATION_CHECKER_H_

#include "ns3/nstime.h"

namespace ns3::rdma
{

/// For attributes that are durations: from \p least to 1000 s, so that times that are sums of many
/// of them stay below what 64 bits of picoseconds can say.
inline Ptr<const AttributeChecker>
MakeDurationChecker(const Time& least)
{
    return MakeTimeChecker(least, Seconds(1000));
}

} // namespace ns3::rdma

#endif // DRYDOCK_NS3_BACKEND_MODEL_WIRE_DURATION_CHECKER_H_
