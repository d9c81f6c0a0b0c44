#include "capture/intercept/script_notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "capture/launch/words.h"
#include "core/base/files.h"

namespace drydock::capture {

namespace {

std::string DescribeEnd(const ScriptRun& run) {
  return fmt::format("ended with exit status {}{}", run.status,
                     run.failed.empty() ? "" : " at " + run.failed.back());
}

// Why a call was refused, behind the line of the script that made it, if that is clear: a script
// may go on after a command of this name, or make others that fail.
std::string Refusal(const ScriptRun& run, const SeenCall& refused) {
  const std::string& program = refused.call.words.front();
  std::vector<std::string> lines;
  for (const std::string& failed : run.failed) {
    const size_t command = failed.find(": ");
    if (failed.find(BaseName(program), command) != std::string::npos) {
      lines.push_back(failed.substr(0, command));
    }
  }
  size_t before = 0, all = 0;
  for (const SeenCall& seen : run.calls) {
    if (seen.seen != Seen::kRefused || seen.call.words.front() != program) continue;
    if (&seen == &refused) before = all;
    ++all;
  }
  const std::string& why = refused.call.refused;
  return lines.size() == all ? fmt::format("{}: {}", lines[before], why) : why;
}

}  // namespace

std::string WhyNothing(const ScriptRun& run, const ScriptOptions& options,
                       const std::vector<std::string>& words) {
  std::string text = "no training program is started by: " + Quoted(words);
  if (run.status != 0) text += "\n  it " + DescribeEnd(run);
  for (const SeenCall& seen : run.calls) {
    if (seen.seen == Seen::kRefused) text += "\n  " + Refusal(run, seen);
    if (seen.seen == Seen::kMissing) {
      text += fmt::format("\n  this machine has no '{}'", seen.call.words.front());
    }
    if (seen.seen == Seen::kMoved) {
      text += "\n  ran here, with the files of this machine: " + Quoted(seen.call.words);
    }
    if (seen.seen == Seen::kSkipped) text += "\n  was not run: " + Quoted(seen.call.words);
  }
  if (!options.keep_home) {
    text += "\n  its HOME was an empty folder; --keep-home lets it use yours";
  }
  return text +
         "\n  the launchers that are known: torchrun, python -m torch.distributed.run, deepspeed, "
         "accelerate launch, srun, mpirun; or write the command of Python itself behind --";
}

void AddNotes(const ScriptRun& run, bool launched, std::vector<std::string>* notes) {
  if (!run.not_isolated.empty()) {
    notes->push_back(fmt::format(
        "the script could use the network: this system allows no network namespace ({})",
        run.not_isolated));
  }
  if (run.left_running) {
    notes->push_back(
        "processes that the script had left in the background were ended after it; what they would "
        "have launched later is not known; write 'wait' at the end of the script");
  }
  if (run.wrote_home) {
    notes->push_back(
        "the script wrote into its HOME, an empty folder that is gone now; --keep-home lets it "
        "write into yours");
  }
  if (run.status != 0) {
    notes->push_back("the script " + DescribeEnd(run));
  }
  for (const SeenCall& seen : run.calls) {
    switch (seen.seen) {
      case Seen::kSkipped:
        notes->push_back("was not run: " + Quoted(seen.call.words));
        break;
      case Seen::kMissing:
        notes->push_back(fmt::format("this machine has no '{}'", seen.call.words.front()));
        break;
      case Seen::kRefused:
        notes->push_back(Refusal(run, seen));
        break;
      case Seen::kMoved:
        notes->push_back(seen.call.refused);
        break;
      case Seen::kProgram:
        if (launched) {
          notes->push_back(
              fmt::format("was not run: {}; --run-helpers runs it", Quoted(seen.call.words)));
        }
        break;
      case Seen::kLaunch:
        break;
    }
  }
  // A loop says the same many times.
  std::vector<std::string> once;
  for (std::string& note : *notes) {
    if (std::find(once.begin(), once.end(), note) == once.end()) once.push_back(std::move(note));
  }
  *notes = std::move(once);
}

}  // namespace drydock::capture
