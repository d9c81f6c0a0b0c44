// A hostfile of mpirun: a line is a machine's name, then optionally slots=N and max_slots=N; #
// begins a comment. It is checked before mpirun reads it, because mpirun's messages about an
// invalid one are unclear.
#ifndef DRYDOCK_DRYDOCK_RUN_HOSTFILE_H_
#define DRYDOCK_DRYDOCK_RUN_HOSTFILE_H_

#include <string>

#include "core/base/result.h"

namespace drydock {

// Returns the number of different machines in the text of `path`, at least 1.
Result<int> MachinesOfHostfile(const std::string& text, const std::string& path);

}  // namespace drydock

#endif  // DRYDOCK_DRYDOCK_RUN_HOSTFILE_H_
