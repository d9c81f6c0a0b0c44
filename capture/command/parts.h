// Where this build of Drydock keeps what a capture needs. Found beside the executable, never by the
// environment.
#ifndef DRYDOCK_CAPTURE_COMMAND_PARTS_H_
#define DRYDOCK_CAPTURE_COMMAND_PARTS_H_

#include <string>

#include "capture/environment/environment.h"
#include "core/base/result.h"

namespace drydock::capture {

struct Parts {
  CaptureParts capture;
  std::string stand_ins;  // folder of the stand-ins of launchers
  std::string wheels;     // folder of the list of PyTorch's wheels and the script that fetches them
};

// Errors: a part is missing; the message names it and how it is built.
Result<Parts> FindParts();

// Where set-up and stand-ins are kept by default: drydock in the user's cache folder.
std::string DefaultCache();

}  // namespace drydock::capture

#endif  // DRYDOCK_CAPTURE_COMMAND_PARTS_H_
