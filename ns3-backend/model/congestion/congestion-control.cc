#include "ns3-backend/model/congestion/congestion-control.h"

#include "ns3-backend/model/congestion/dcqcn.h"
#include "ns3-backend/model/congestion/dctcp.h"
#include "ns3-backend/model/congestion/hpcc.h"
#include "ns3-backend/model/congestion/swift.h"
#include "ns3-backend/model/congestion/timely.h"

#include <algorithm>
#include <cmath>

namespace ns3::rdma
{

NS_OBJECT_ENSURE_REGISTERED(CongestionControl);

namespace
{

template <typename T>
Ptr<CongestionControl>
Make()
{
    return CreateObject<T>();
}

const CongestionControlChoice choices[] = {
    {"none", "queue pairs send at line rate, within their window", nullptr},
    {"dcqcn", "marks, notifications and rates (Zhu et al., SIGCOMM 2015)", Make<Dcqcn>},
    {"hpcc",
     "windows from the load that switches write into packets (Li et al., SIGCOMM 2019)",
     Make<Hpcc>},
    {"timely",
     "rates from the gradient of round-trip times (Mittal et al., SIGCOMM 2015)",
     Make<Timely>},
    {"swift",
     "windows that hold round trips at a target (Kumar et al., SIGCOMM 2020)",
     Make<Swift>},
    {"dctcp",
     "windows cut by the share of marked packets (Alizadeh et al., SIGCOMM 2010)",
     Make<Dctcp>},
};

} // namespace

TypeId
CongestionControl::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::rdma::CongestionControl").SetParent<Object>().SetGroupName("Drydock");
    return tid;
}

const CongestionControlChoice*
FindCongestionControl(const std::string& name)
{
    for (const CongestionControlChoice& choice : choices)
    {
        if (name == choice.name)
        {
            return &choice;
        }
    }
    return nullptr;
}

std::string
CongestionControlNames()
{
    std::string names;
    for (const CongestionControlChoice& choice : choices)
    {
        names += (names.empty() ? "" : ", ") + std::string(choice.name);
    }
    return names;
}

int64_t
TimeAt(double rate, int64_t bytes)
{
    constexpr double psBits = 8e12; // picoseconds a second times bits a byte
    return std::llround(psBits * static_cast<double>(bytes) / std::max(rate, 1.0));
}

} // namespace ns3::rdma
