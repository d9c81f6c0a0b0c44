// What the files of the oracle share: the meeting of this process's rank, and NCCL's log of its
// connections. A process has one rank; api.cc sets it before it enters NCCL.
#ifndef DRYDOCK_SIMCCL_HACKNCCL_ORACLE_ORACLE_SESSION_H_
#define DRYDOCK_SIMCCL_HACKNCCL_ORACLE_ORACLE_SESSION_H_

#include <string>
#include <vector>

#include "simccl/hacknccl/oracle/meeting.h"

namespace drydock {

struct LoggedConnection {
  int graph = 0;  // HACKNCCL_GRAPH_*
  std::string line;
};

Meeting& CurrentMeeting();

// Returns the connections in the order in which NCCL made them.
const std::vector<LoggedConnection>& LoggedConnections();
void ForgetConnections();

// Makes NCCL's transports connect without a proxy and log their choices.
void WatchConnections();

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_HACKNCCL_ORACLE_ORACLE_SESSION_H_
