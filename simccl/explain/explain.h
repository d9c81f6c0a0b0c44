// What NCCL decides for a call, and why, in words: its choice, the times it predicted for what it
// could have chosen, and what it built for the communicator (rings, trees, NVLS heads, the NICs
// between hosts).
#ifndef DRYDOCK_SIMCCL_EXPLAIN_EXPLAIN_H_
#define DRYDOCK_SIMCCL_EXPLAIN_EXPLAIN_H_

#include <string>

#include "core/base/result.h"
#include "simccl/explain/call_selection.h"

namespace drydock {

// `verbose` shows every channel; otherwise channels that repeat others are counted, not shown.
Result<std::string> Explain(const SelectedCall& selected, const std::string& library_path,
                            bool verbose);

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_EXPLAIN_EXPLAIN_H_
