// Explains what NCCL decides for a call, and why: its choice, its predicted times for all choices,
// and what it built for the communicator (rings, trees, NVLS heads, the NICs between hosts).
#ifndef DRYDOCK_SIMCCL_EXPLAIN_EXPLAIN_H_
#define DRYDOCK_SIMCCL_EXPLAIN_EXPLAIN_H_

#include <string>

#include "core/base/result.h"
#include "simccl/explain/call_selection.h"

namespace drydock {

// `verbose` shows every channel. Otherwise repeated channels are counted, not shown.
Result<std::string> Explain(const SelectedCall& selected, const std::string& library_path,
                            bool verbose);

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_EXPLAIN_EXPLAIN_H_
