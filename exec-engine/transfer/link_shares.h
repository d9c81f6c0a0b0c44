// How the channels of one work share the scale-up links and the NICs that they cross.
//
// The thread blocks of a kernel run in lockstep: they start together on parts of one size. If n of
// them cross a port, each slice takes as long as n slices do, and the port is idle while all of
// them synchronize. Ports (ports.h) alone would serve them one after another and hide the
// synchronization of one behind the transfer of another. Ports account for the load of other calls.
#ifndef DRYDOCK_EXEC_ENGINE_TRANSFER_LINK_SHARES_H_
#define DRYDOCK_EXEC_ENGINE_TRANSFER_LINK_SHARES_H_

#include "exec-engine/host/ports.h"
#include "exec-engine/transfer/local_plan.h"

namespace drydock {

// Sets LocalConnection::crossing of every connection inside the host. Works whose protocol counts
// passes are left out: there the latency of one slice counts, and programs run one after another.
// `several_peers` is the share of a link that several GPUs reach when they send to one GPU at once.
// REQUIRES: the rest of the plan is complete.
void ShareLinks(const PortMap& ports, double several_peers, LocalPlan* plan);

// Sets LocalConnection::nic_pace and nic_gap: the pace of each of the work's connections while all
// of them keep their NIC busy.
void ShareNics(const PortMap& ports, LocalPlan* plan);

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_TRANSFER_LINK_SHARES_H_
