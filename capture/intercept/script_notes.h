// What a user has to know of a script that has run.
#ifndef DRYDOCK_CAPTURE_INTERCEPT_SCRIPT_NOTES_H_
#define DRYDOCK_CAPTURE_INTERCEPT_SCRIPT_NOTES_H_

#include <string>
#include <vector>

#include "capture/intercept/script_run.h"

namespace drydock::capture {

// Why a script has launched nothing, and what can be done; several lines. `words`: its command.
std::string WhyNothing(const ScriptRun& run, const ScriptOptions& options,
                       const std::vector<std::string>& words);

// Adds what a script that has launched something could not do here; each note once. `launched`: a
// launcher, not Python itself.
void AddNotes(const ScriptRun& run, bool launched, std::vector<std::string>* notes);

}  // namespace drydock::capture

#endif  // DRYDOCK_CAPTURE_INTERCEPT_SCRIPT_NOTES_H_
