#include "ns3-backend/helper/congestion-table.h"

#include "core/base/check.h"
#include "ns3-backend/model/congestion/dcqcn.h"
#include "ns3-backend/model/congestion/dctcp.h"
#include "ns3-backend/model/congestion/hpcc.h"
#include "ns3-backend/model/congestion/swift.h"
#include "ns3-backend/model/congestion/timely.h"

namespace ns3::rdma
{

Ptr<CongestionControl>
MakeCongestionControl(drydock::CongestionControl control)
{
    switch (control)
    {
    case drydock::CongestionControl::kNone:
        return nullptr;
    case drydock::CongestionControl::kDcqcn:
        return CreateObject<Dcqcn>();
    case drydock::CongestionControl::kHpcc:
        return CreateObject<Hpcc>();
    case drydock::CongestionControl::kTimely:
        return CreateObject<Timely>();
    case drydock::CongestionControl::kSwift:
        return CreateObject<Swift>();
    case drydock::CongestionControl::kDctcp:
        return CreateObject<Dctcp>();
    }
    CHECK(false);
}

} // namespace ns3::rdma
