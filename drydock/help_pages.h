// `drydock help TOPIC`: pages of commands and of the documents.
#ifndef DRYDOCK_DRYDOCK_HELP_PAGES_H_
#define DRYDOCK_DRYDOCK_HELP_PAGES_H_

#include <string>
#include <vector>

namespace drydock {

// Runs `drydock help` and returns the exit status.
int ShowHelp(const std::vector<std::string>& arguments);

// What `drydock --help` prints.
std::string MainHelp();

}  // namespace drydock

#endif  // DRYDOCK_DRYDOCK_HELP_PAGES_H_
