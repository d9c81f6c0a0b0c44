// Makes an environment of Python with PyTorch and without NVIDIA's libraries, for users that have
// none on this machine.
#ifndef DRYDOCK_CAPTURE_COMMAND_SETUP_H_
#define DRYDOCK_CAPTURE_COMMAND_SETUP_H_

#include <string>

#include "capture/command/parts.h"
#include "core/base/result.h"

namespace drydock::capture {

// The Python of the environment in `cache`; "" if there is none yet, or one of another list of
// wheels.
std::string SetUpPython(const Parts& parts, const std::string& cache);

// Fetches what is missing and makes the environment. It appears as a whole, or not at all. A file
// whose transfer was interrupted goes on where it stopped. Shows sizes and progress on stderr,
// unless `quiet`. Returns its Python. Errors: no Python for which there are wheels, no network, no
// space.
Result<std::string> SetUp(const Parts& parts, const std::string& cache, bool quiet);

}  // namespace drydock::capture

#endif  // DRYDOCK_CAPTURE_COMMAND_SETUP_H_
