#include "ns3-backend/model/congestion-control.h"

#include "ns3-backend/model/dcqcn.h"

namespace ns3::rdma
{

NS_OBJECT_ENSURE_REGISTERED(CongestionControl);

namespace
{

const CongestionControlChoice choices[] = {
    {"none", "queue pairs send at line rate, within their window", nullptr},
    {"dcqcn",
     "marks, notifications and rates (Zhu et al., SIGCOMM 2015)",
     []() -> Ptr<CongestionControl> { return CreateObject<Dcqcn>(); }},
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

} // namespace ns3::rdma
