#include "ns3-backend/helper/congestion-table.h"

#include "ns3-backend/model/congestion/dcqcn.h"
#include "ns3-backend/model/congestion/dctcp.h"
#include "ns3-backend/model/congestion/hpcc.h"
#include "ns3-backend/model/congestion/swift.h"
#include "ns3-backend/model/congestion/timely.h"

namespace ns3::rdma
{
namespace
{

template <typename T>
Ptr<CongestionControl>
Make()
{
    return CreateObject<T>();
}

const CongestionControlChoice CHOICES[] = {
    {"none", nullptr},
    {"dcqcn", Make<Dcqcn>},
    {"hpcc", Make<Hpcc>},
    {"timely", Make<Timely>},
    {"swift", Make<Swift>},
    {"dctcp", Make<Dctcp>},
};

} // namespace

const CongestionControlChoice*
FindCongestionControl(const std::string& name)
{
    for (const CongestionControlChoice& choice : CHOICES)
    {
        if (name == choice.name)
        {
            return &choice;
        }
    }
    return nullptr;
}

std::string
CongestionControlList()
{
    std::string names;
    for (const CongestionControlChoice& choice : CHOICES)
    {
        names += (names.empty() ? "" : ", ") + std::string(choice.name);
    }
    return names;
}

} // namespace ns3::rdma
