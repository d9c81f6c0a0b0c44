#include "capture/run/rank_run.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>

#include "capture/run/process_facts.h"
#include "core/base/files.h"

namespace drydock::capture {
namespace {

constexpr int kCannotStart = 127;

// Returns the process's wait status.
int RunAndWait(const RankRun& run,
               const std::vector<std::pair<std::string, std::string>>& variables) {
  std::vector<std::string> copies = run.command;
  std::vector<char*> argv;
  for (std::string& word : copies) argv.push_back(word.data());
  argv.push_back(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (const auto& [name, value] : variables) ::setenv(name.c_str(), value.c_str(), 1);
    ::execvp(argv[0], argv.data());
    fprintf(stderr, "cannot start '%s': %s\n", argv[0], strerror(errno));
    ::_exit(kCannotStart);
  }
  int status = -1;
  while (child > 0 && ::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

// The program may start others that use a GPU for a moment: the longest log is the one of the rank.
Result<ProcessLog> LongestLog(const std::string& folder) {
  std::optional<ProcessLog> longest;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".log") continue;
    ASSIGN_OR_RETURN(ProcessLog log, ProcessLog::Read(entry.path().string()));
    if (!longest || log.entries().size() > longest->entries().size()) longest = std::move(log);
  }
  if (!longest) return Error("the program never used a GPU");
  return std::move(*longest);
}

}  // namespace

Result<ProcessLog> RunRank(const CaptureEnvironment& environment, const Topology& topology,
                           const RankRun& run) {
  const std::string base = std::filesystem::temp_directory_path().string() + "/drydock-capture";
  ASSIGN_OR_RETURN(StagedDirectory folder, StagedDirectory::Create(base));
  const CapturedProcess facts = FactsOf(topology, run.rank);
  RETURN_IF_ERROR(folder.Write(
      "process", std::string_view(reinterpret_cast<const char*>(&facts), sizeof facts)));
  const CapturedRank rank = {run.rank, run.world,
                             std::min(run.world, RanksBeside(topology, run.rank)), folder.path()};
  const int status = RunAndWait(run, VariablesOf(environment, rank));
  if (WIFSIGNALED(status)) {
    return Error(fmt::format("rank {} was killed by signal {} ({})", run.rank, WTERMSIG(status),
                             strsignal(WTERMSIG(status))));
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    return Error(fmt::format("rank {} ended with exit status {}", run.rank, WEXITSTATUS(status)));
  }
  return LongestLog(folder.path());
}

}  // namespace drydock::capture
