#ifndef DRYDOCK_NS3_BACKEND_HELPER_CONGESTION_TABLE_H_
#define DRYDOCK_NS3_BACKEND_HELPER_CONGESTION_TABLE_H_

#include "ns3-backend/model/congestion/congestion-control.h"

#include <string>

namespace ns3::rdma
{

/// How an algorithm of drydock::CongestionControlNames is made.
struct CongestionControlChoice
{
    const char* name;
    Ptr<CongestionControl> (*make)(); //!< null for `none`
};

/// Returns the algorithm of that name in a cluster file, or null.
const CongestionControlChoice* FindCongestionControl(const std::string& name);

/// Returns "none, dcqcn, ...".
std::string CongestionControlList();

} // namespace ns3::rdma

#endif // DRYDOCK_NS3_BACKEND_HELPER_CONGESTION_TABLE_H_
