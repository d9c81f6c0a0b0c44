// Runs another executable of Drydock.
#ifndef DRYDOCK_CORE_BASE_PROCESS_H_
#define DRYDOCK_CORE_BASE_PROCESS_H_

#include <string>
#include <vector>

#include "core/base/result.h"

namespace drydock {

// Runs the executable `name` from the folder of this executable, with these arguments and this
// process's streams and environment, and waits for its end. Returns an error if it does not exist
// or its exit status is not 0; the executable itself has printed the reason on stderr.
Status RunBeside(const std::string& name, const std::vector<std::string>& arguments);

}  // namespace drydock

#endif  // DRYDOCK_CORE_BASE_PROCESS_H_
