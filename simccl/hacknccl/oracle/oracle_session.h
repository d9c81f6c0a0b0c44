// What the parts of the oracle share: the meeting of this process's rank, and what NCCL logged of
// its connections. One rank a process; set by api.cc before NCCL is entered.
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

// In the order NCCL made them.
const std::vector<LoggedConnection>& LoggedConnections();
void ForgetConnections();

// From here on NCCL's transports are connected without a proxy, and log what they choose.
void WatchConnections();

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_HACKNCCL_ORACLE_ORACLE_SESSION_H_
