#include "ns3-backend/model/congestion/congestion-control.h"

#include <algorithm>
#include <cmath>

namespace ns3::rdma
{

NS_OBJECT_ENSURE_REGISTERED(CongestionControl);

TypeId
CongestionControl::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::rdma::CongestionControl").SetParent<Object>().SetGroupName("Drydock");
    return tid;
}

int64_t
TimeAt(double rate, int64_t bytes)
{
    constexpr double psBits = 8e12; // picoseconds a second times bits a byte
    return std::llround(psBits * static_cast<double>(bytes) / std::max(rate, 1.0));
}

} // namespace ns3::rdma
