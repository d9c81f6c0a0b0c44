#include "capture/intercept/find_launch.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <map>

#include "capture/launch/job_steps.h"
#include "capture/launch/launchers.h"
#include "capture/launch/python_command.h"
#include "capture/launch/words.h"
#include "core/base/plural.h"
#include "core/base/spelling.h"

namespace drydock::capture {
namespace {

std::string OwnFolder() {
  char* folder = ::getcwd(nullptr, 0);
  const std::string text = folder == nullptr ? "/" : folder;
  free(folder);
  return text;
}

bool IsProgram(const std::vector<std::string>& words) {
  return IsPython(words.front()) && ReadPythonCommand(words).kind != PythonCommand::Kind::kOther;
}

// Variables that say which host or rank a launcher belongs to, or that change with every process.
bool TellsPlace(const std::string& name) {
  static constexpr const char* kNames[] = {"NODE_RANK",
                                           "RANK",
                                           "LOCAL_RANK",
                                           "GROUP_RANK",
                                           "MACHINE_RANK",
                                           "SLURM_PROCID",
                                           "SLURM_LOCALID",
                                           "SLURM_NODEID",
                                           "SLURMD_NODENAME",
                                           "OMPI_COMM_WORLD_RANK",
                                           "OMPI_COMM_WORLD_LOCAL_RANK",
                                           "OMPI_COMM_WORLD_NODE_RANK",
                                           "PMIX_RANK",
                                           "PMI_RANK",
                                           "MPI_LOCALRANKID",
                                           "SHLVL",
                                           "OLDPWD",
                                           "PWD",
                                           "RANDOM",
                                           "HOSTNAME"};
  return std::any_of(std::begin(kNames), std::end(kNames),
                     [&](const char* known) { return name == known; });
}

Variables WithoutPlace(const Variables& variables) {
  Variables rest = variables;
  std::erase_if(rest, [](const auto& variable) { return TellsPlace(variable.first); });
  std::sort(rest.begin(), rest.end());
  return rest;
}

bool Same(const Launch& a, const Launch& b) {
  return a.command == b.command && a.rank_words == b.rank_words && a.folder == b.folder &&
         a.hosts == b.hosts && a.ranks_per_host == b.ranks_per_host &&
         WithoutPlace(a.environment) == WithoutPlace(b.environment);
}

int NumberOf(const Launch& launch, int rank, RankNumber number) {
  switch (number) {
    case RankNumber::kRank:
      return rank;
    case RankNumber::kLocalRank:
      return rank % launch.ranks_per_host;
    case RankNumber::kHost:
      return rank / launch.ranks_per_host;
  }
  return 0;
}

bool IsDigit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

// The numbers of a rank that the middle of two words can be.
std::vector<RankNumber> Numbers(const Launch& launch, const std::string& first,
                                const std::string& other, int other_rank) {
  std::vector<RankNumber> found;
  for (const RankNumber number : {RankNumber::kRank, RankNumber::kLocalRank, RankNumber::kHost}) {
    if (first == std::to_string(NumberOf(launch, 0, number)) &&
        other == std::to_string(NumberOf(launch, other_rank, number))) {
      found.push_back(number);
    }
  }
  return found;
}

// Chooses between numbers that are the same for the ranks that have been seen, by the word.
RankNumber Choose(const std::vector<RankNumber>& numbers, const Launch& launch,
                  const std::string& text) {
  if (numbers.size() == 1 || launch.hosts == 1 || launch.ranks_per_host == 1)
    return numbers.front();
  const bool host = text.find("node") != std::string::npos ||
                    text.find("host") != std::string::npos ||
                    text.find("machine") != std::string::npos;
  const RankNumber wanted = host ? RankNumber::kHost : RankNumber::kLocalRank;
  return std::find(numbers.begin(), numbers.end(), wanted) != numbers.end() ? wanted
                                                                            : numbers.front();
}

// The launches of programs that a script starts by itself or in a step. Ranks that are started one
// by one, in any order, belong to one launch; a rank that comes again begins the next.
class Programs {
 public:
  Programs(const ClusterSize& cluster, std::vector<std::string>* notes)
      : cluster_(cluster), notes_(notes) {}

  Status Add(const Call& call) {
    ASSIGN_OR_RETURN(Launch launch, ReadProgram(call, cluster_));
    const int step = call.step ? call.step->number : 0;
    const int rank =
        call.step ? call.step->task : std::atoi(ValueOf(call.environment, "RANK").c_str());
    for (Group& group : groups_) {
      if (launch.ranks() <= 1 || group.step != step || group.ranks.contains(rank)) continue;
      const Launch& other = group.ranks.begin()->second;
      if (other.hosts != launch.hosts || other.ranks_per_host != launch.ranks_per_host) continue;
      group.ranks.emplace(rank, std::move(launch));
      return OkStatus();
    }
    groups_.push_back({step, {}});
    groups_.back().ranks.emplace(rank, std::move(launch));
    return OkStatus();
  }

  // Errors: ranks whose commands differ in more than numbers of the rank.
  Result<std::vector<Launch>> Take() const {
    std::vector<Launch> launches;
    for (const Group& group : groups_) {
      const auto& [first_rank, first] = *group.ranks.begin();
      Launch launch = first;
      if (first_rank != 0 && group.ranks.size() > 1) {
        return Error(fmt::format("the script starts ranks {} to {} of {} with '{}', but not rank 0",
                                 first_rank, group.ranks.rbegin()->first, launch.ranks(),
                                 Quoted(launch.command)));
      }
      for (const auto& [rank, other] : group.ranks) {
        if (rank != first_rank) RETURN_IF_ERROR(MergeRanks(other, rank, &launch, notes_));
      }
      launches.push_back(std::move(launch));
    }
    return launches;
  }

 private:
  struct Group {
    int step = 0;  // 0: none
    std::map<int, Launch> ranks;
  };

  const ClusterSize& cluster_;
  std::vector<std::string>* notes_;
  std::vector<Group> groups_;
};

std::string Reasons(const ScriptRun& run, const ScriptOptions& options,
                    const std::vector<std::string>& words) {
  std::string text = "no training program is started by: " + Quoted(words);
  if (run.status != 0) text += fmt::format("\n  it ended with exit status {}", run.status);
  for (const SeenCall& seen : run.calls) {
    if (seen.seen == Seen::kRefused) text += "\n  " + seen.call.refused;
    if (seen.seen == Seen::kMissing) {
      text += fmt::format("\n  this machine has no '{}'", seen.call.words.front());
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
  if (run.wrote_home) {
    notes->push_back(
        "the script wrote into its HOME, an empty folder that is gone now; --keep-home lets it "
        "write into yours");
  }
  if (run.status != 0) {
    notes->push_back(fmt::format("the script ended with exit status {}", run.status));
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

Result<FoundLaunches> FromScript(const std::vector<std::string>& words,
                                 const ScriptOptions& options) {
  ASSIGN_OR_RETURN(ScriptRun run, RunScript(words, options));
  FoundLaunches found;
  const bool launched = std::any_of(run.calls.begin(), run.calls.end(), [](const SeenCall& seen) {
    return seen.seen == Seen::kLaunch;
  });
  Programs programs(options.cluster, &found.notes);
  for (const SeenCall& seen : run.calls) {
    if (seen.seen == Seen::kLaunch) {
      ASSIGN_OR_RETURN(Launch launch, ReadLauncher(seen.call, options.cluster));
      const bool known = std::any_of(found.launches.begin(), found.launches.end(),
                                     [&](const Launch& other) { return Same(launch, other); });
      if (!known) found.launches.push_back(std::move(launch));
    } else if (seen.seen == Seen::kProgram && !launched) {
      RETURN_IF_ERROR(programs.Add(seen.call));
    }
  }
  if (!launched) {
    ASSIGN_OR_RETURN(found.launches, programs.Take());
  }
  if (found.launches.empty()) return Error(Reasons(run, options, words));
  AddNotes(run, launched, &found.notes);
  found.script.emplace(std::move(run));
  return found;
}

// A script of a job (#SBATCH) runs as sbatch would run it, and a file of Python through Python.
Result<std::vector<std::string>> Completed(const std::vector<std::string>& words) {
  const std::string& first = words.front();
  if (first.ends_with(".py")) {
    std::vector<std::string> python = {"python"};
    python.insert(python.end(), words.begin(), words.end());
    return python;
  }
  const bool shell = BaseName(first) == "bash" || BaseName(first) == "sh";
  const size_t at = shell ? 1 : 0;
  if (at >= words.size() || std::getenv("SLURM_JOB_ID") != nullptr) return words;
  if (words[at].find('/') == std::string::npos && !shell) return words;
  const Result<std::string> text = ReadFile(words[at]);
  if (!text.ok()) {
    // "bash -c", an option of bash, or a file that bash reports.
    if (shell && !words[at].starts_with("-")) return text.error();
    return words;
  }
  if (JobOptionsOfScript(*text).empty()) return words;
  std::vector<std::string> job = {"sbatch", "--quiet"};
  job.insert(job.end(), words.begin() + static_cast<std::ptrdiff_t>(at), words.end());
  return job;
}

}  // namespace

Variables OwnEnvironment() {
  Variables variables;
  for (char** at = environ; *at != nullptr; ++at) {
    const std::string variable = *at;
    const size_t equals = variable.find('=');
    if (equals != std::string::npos) {
      variables.emplace_back(variable.substr(0, equals), variable.substr(equals + 1));
    }
  }
  return variables;
}

bool IsScript(const std::vector<std::string>& words) {
  return !words.front().ends_with(".py") && !IsLauncher(words) && !IsPython(words.front());
}

Result<FoundLaunches> FindLaunches(const std::vector<std::string>& words,
                                   const ScriptOptions& options) {
  ASSIGN_OR_RETURN(const std::vector<std::string> command, Completed(words));
  const Call call{command, OwnFolder(), OwnEnvironment(), std::nullopt, ""};
  FoundLaunches found;
  if (IsLauncher(command)) {
    ASSIGN_OR_RETURN(Launch launch, ReadLauncher(call, options.cluster));
    found.launches.push_back(std::move(launch));
    return found;
  }
  if (IsProgram(command)) {
    ASSIGN_OR_RETURN(Launch launch, ReadProgram(call, options.cluster));
    found.launches.push_back(std::move(launch));
    return found;
  }
  if (IsPython(command.front())) {
    return Error("Python without a file or a module starts no training program");
  }
  return FromScript(command, options);
}

Status MergeRanks(const Launch& other, int other_rank, Launch* first,
                  std::vector<std::string>* notes) {
  if (other.command.size() != first->command.size()) {
    return Error(
        fmt::format("rank 0 starts '{}' and rank {} '{}'; a capture needs one command for "
                    "all ranks",
                    Quoted(first->command), other_rank, Quoted(other.command)));
  }
  for (size_t i = 0; i < first->command.size(); ++i) {
    const std::string& a = first->command[i];
    const std::string& b = other.command[i];
    if (CommandOf(*first, other_rank)[i] == b) continue;
    size_t begin = 0, end = 0;
    const size_t shorter = std::min(a.size(), b.size());
    while (begin < shorter && a[begin] == b[begin]) ++begin;
    while (end < shorter - begin && a[a.size() - 1 - end] == b[b.size() - 1 - end]) ++end;
    // A number is whole: "rank10" and "rank0" differ in it, not in its first digit.
    while (begin > 0 && IsDigit(a[begin - 1])) --begin;
    while (end > 0 && IsDigit(a[a.size() - end])) --end;
    const std::vector<RankNumber> numbers =
        Numbers(*first, a.substr(begin, a.size() - begin - end),
                b.substr(begin, b.size() - begin - end), other_rank);
    if (numbers.empty()) {
      return Error(
          fmt::format("rank 0 starts its program with '{}' and rank {} with '{}'; a "
                      "capture needs words that are the same, or numbers of the rank",
                      a, other_rank, b));
    }
    const std::string name = (i > 0 ? first->command[i - 1] : "") + a.substr(0, begin);
    first->rank_words.push_back(
        {i, a.substr(0, begin), Choose(numbers, *first, name), a.substr(a.size() - end)});
  }
  for (const auto& [name, value] : other.environment) {
    const std::string own = ValueOf(first->environment, name);
    if (own == value || TellsPlace(name)) continue;
    const bool known = std::any_of(first->rank_variables.begin(), first->rank_variables.end(),
                                   [&](const auto& variable) { return variable.first == name; });
    if (known) continue;
    const std::vector<RankNumber> numbers = Numbers(*first, own, value, other_rank);
    if (!numbers.empty()) {
      std::string lower = name;
      std::transform(lower.begin(), lower.end(), lower.begin(),
                     [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
      first->rank_variables.emplace_back(name, Choose(numbers, *first, lower));
      continue;
    }
    notes->push_back(fmt::format(
        "{} is '{}' for rank 0 and '{}' for rank {}; the capture gives all ranks the first", name,
        own, value, other_rank));
  }
  return OkStatus();
}

std::string Describe(const Launch& launch) {
  return fmt::format(
      "{}{}, {} on {}", launch.launcher.empty() ? "" : launch.launcher + ": ",
      BaseName(launch.command.front()) == launch.command.front() || IsPython(launch.command.front())
          ? Quoted(launch.command)
          : launch.command.front(),
      Plural(launch.ranks(), "rank"), Plural(launch.hosts, "host"));
}

Status CheckFits(const Launch& launch, const ClusterSize& cluster,
                 const std::string& cluster_file) {
  const std::string by = launch.launcher.empty() ? "the program" : launch.launcher;
  if (launch.ranks_per_host > cluster.gpus_per_host) {
    return Error(
        fmt::format("{} starts {} on a host, which has {}", by,
                    Plural(launch.ranks_per_host, "rank"), Plural(cluster.gpus_per_host, "GPU")),
        {cluster_file, 0, 0});
  }
  if (launch.hosts > cluster.hosts) {
    return Error(fmt::format("{} starts {} on {}, but the cluster has {} with {}; "
                             "--set cluster.hosts={} makes it larger",
                             by, Plural(launch.ranks(), "rank"), Plural(launch.hosts, "host"),
                             Plural(cluster.hosts, "host"),
                             Plural(cluster.hosts * cluster.gpus_per_host, "GPU"), launch.hosts),
                 {cluster_file, 0, 0});
  }
  return OkStatus();
}

}  // namespace drydock::capture
