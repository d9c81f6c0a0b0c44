// One real rank of a communicator while NCCL works on it. The session owns the parts that the other
// headers of this folder declare; code that serves NCCL includes the part it needs.
#ifndef DRYDOCK_SIMCCL_HACKNCCL_SESSION_SESSION_H_
#define DRYDOCK_SIMCCL_HACKNCCL_SESSION_SESSION_H_

#include "simccl/hacknccl/session/collnet_ranks.h"
#include "simccl/hacknccl/session/far_ends.h"
#include "simccl/hacknccl/session/graph_findings.h"
#include "simccl/hacknccl/session/launch_capture.h"
#include "simccl/hacknccl/session/split_exchange.h"
#include "simccl/hacknccl/session/virtual_rank.h"

namespace drydock {

struct Session {
  VirtualRank rank;
  GraphFindings graphs;
  CollNetRanks collnet;
  FarEnds far_ends;
  SplitExchange split;
  LaunchCapture launch;
  int memory_handles = 0;  // NCCL's type of memory handles while it works on this communicator
};

// Makes `session` the current session; null: there is none. Call under the lock of the library and
// before every entry into NCCL. The current session is a global variable, not one per thread,
// because NCCL starts helper threads within a call.
void SetCurrent(Session* session);
bool InSession();

// Outside a session the current parts are those of the session that `find` returns.
void SetSessionOutside(Session* (*find)());

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_HACKNCCL_SESSION_SESSION_H_
