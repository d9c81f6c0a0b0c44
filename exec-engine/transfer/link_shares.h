// How the channels of one work share the scale-up links and the NICs they cross.
//
// The thread blocks of a kernel work in step: they start together on parts of one size, so where n
// of them cross a port, each slice takes as long as n slices do, and the port rests while all of
// them synchronise. Ports (ports.h) alone would serve them one after another and hide one's
// synchronisation behind another's transfer. What other calls put on the port is the ports'
// subject.
#ifndef DRYDOCK_EXEC_ENGINE_TRANSFER_LINK_SHARES_H_
#define DRYDOCK_EXEC_ENGINE_TRANSFER_LINK_SHARES_H_

#include "exec-engine/host/ports.h"
#include "exec-engine/transfer/local_plan.h"

namespace drydock {

// Sets LocalConnection::crossing of every connection inside the host, but for works whose protocol
// counts passes: there one slice's latency counts, and programs follow one another. `several_peers`
// is the share of a link that is reachable where several GPUs send to one at once. The rest of the
// plan is complete.
void ShareLinks(const PortMap& ports, double several_peers, LocalPlan* plan);

// Sets LocalConnection::nic_pace and nic_gap: how fast one of the work's connections is if all of
// them keep their NIC busy.
void ShareNics(const PortMap& ports, LocalPlan* plan);

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_TRANSFER_LINK_SHARES_H_
