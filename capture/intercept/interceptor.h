// A stand-in of a launcher, of Python, or of a command that only a host of the cluster has. It
// keeps the call and ends well, or runs the command inside the call, or answers as a host would.
#ifndef DRYDOCK_CAPTURE_INTERCEPT_INTERCEPTOR_H_
#define DRYDOCK_CAPTURE_INTERCEPT_INTERCEPTOR_H_

#include <string>
#include <vector>

namespace drydock::capture {

// `folder`: of stage.h. `words`: the command, whose first word is the name or path that the script
// has used. Returns the exit status; does not return where the process becomes another program.
int Intercept(const std::string& folder, const std::vector<std::string>& words);

}  // namespace drydock::capture

#endif  // DRYDOCK_CAPTURE_INTERCEPT_INTERCEPTOR_H_
