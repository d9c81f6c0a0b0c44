// Runs another executable of ours.
#ifndef DRYDOCK_CORE_BASE_PROCESS_H_
#define DRYDOCK_CORE_BASE_PROCESS_H_

#include <string>
#include <vector>

#include "core/base/result.h"

namespace drydock {

// The executable `name` that lies in the folder of the running one, with these arguments and our
// streams and environment; returns when it has ended. An error if there is none, or if it did not
// end with exit status 0; what went wrong it has said itself, on stderr.
Status RunBeside(const std::string& name, const std::vector<std::string>& arguments);

}  // namespace drydock

#endif  // DRYDOCK_CORE_BASE_PROCESS_H_
