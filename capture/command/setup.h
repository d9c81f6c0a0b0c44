// Makes an environment of Python with PyTorch and without NVIDIA's libraries, for users that have
// none on this machine.
#ifndef DRYDOCK_CAPTURE_COMMAND_SETUP_H_
#define DRYDOCK_CAPTURE_COMMAND_SETUP_H_

#include <string>

#include "capture/command/parts.h"
#include "capture/environment/folder_lock.h"
#include "core/base/result.h"

namespace drydock::capture {

// The Python of the environment in `cache`; "" if there is none.
std::string SetUpPython(const std::string& cache);

// Makes the environment, as a whole or not at all. What has been fetched stays until then, so a
// set-up that was interrupted goes on where it stopped. An environment that is there stays as it
// is, since the user may have put packages into it; if this version of Drydock would make another
// one, `tell` says so. Shows sizes and progress on stderr unless `quiet`. Returns its Python.
// Errors: no Python for which there are wheels, no network, no space.
Result<std::string> SetUp(const Parts& parts, const std::string& cache, bool quiet,
                          const Tell& tell);

}  // namespace drydock::capture

#endif  // DRYDOCK_CAPTURE_COMMAND_SETUP_H_
