// Launches as text: words for a shell, JSON for programs.
#ifndef DRYDOCK_CAPTURE_LAUNCH_WORDS_H_
#define DRYDOCK_CAPTURE_LAUNCH_WORDS_H_

#include <string>
#include <vector>

#include "capture/launch/launch.h"

namespace drydock::capture {

// A word that a shell reads as `text`: quoted only where it has to be.
std::string Quoted(const std::string& text);
std::string Quoted(const std::vector<std::string>& words);

// The variables in which a launch's environment differs from `own`, sorted by name. `gone`: the
// names that the launch's environment lacks.
struct ChangedVariables {
  Variables set;
  std::vector<std::string> gone;
};
ChangedVariables Changes(const Launch& launch, const Variables& own);

// What it starts, on how many hosts; one line.
std::string Describe(const Launch& launch);

// "cd FOLDER && env NAME=VALUE ... python -u train.py ...", of rank 0; one line.
std::string ShellText(const Launch& launch, const Variables& own);
// The same and the number of hosts and ranks as an object of JSON, on one line. A number of a rank
// inside a word is {"rank"}, {"local_rank"} or {"host"} in "rank_words".
std::string JsonText(const Launch& launch, const Variables& own);

}  // namespace drydock::capture

#endif  // DRYDOCK_CAPTURE_LAUNCH_WORDS_H_
