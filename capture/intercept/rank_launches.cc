#include "capture/intercept/rank_launches.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <set>
#include <utility>

#include "capture/launch/launchers.h"
#include "capture/launch/words.h"

namespace drydock::capture {
namespace {

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

std::string Shown(const Variables& variables, const std::string& name) {
  if (!Has(variables, name)) return "not set";
  return fmt::format("'{}'", ValueOf(variables, name));
}

}  // namespace

bool SameLaunch(const Launch& a, const Launch& b) {
  return a.command == b.command && a.rank_words == b.rank_words && a.folder == b.folder &&
         a.hosts == b.hosts && a.ranks_per_host == b.ranks_per_host &&
         DifferentVariables(a, b).empty();
}

std::vector<std::string> DifferentVariables(const Launch& a, const Launch& b) {
  std::set<std::string> names;
  for (const auto& [one, other] : {std::pair{&a, &b}, {&b, &a}}) {
    for (const auto& [name, value] : one->environment) {
      if (TellsPlace(name)) continue;
      if (!Has(other->environment, name) || ValueOf(other->environment, name) != value) {
        names.insert(name);
      }
    }
  }
  return {names.begin(), names.end()};
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
  if (other.folder != first->folder) {
    notes->push_back(
        fmt::format("rank 0 starts in {} and rank {} in {}; the capture starts all in the first",
                    first->folder, other_rank, other.folder));
  }
  for (const std::string& name : DifferentVariables(*first, other)) {
    const bool known = std::any_of(first->rank_variables.begin(), first->rank_variables.end(),
                                   [&](const auto& variable) { return variable.first == name; });
    if (known) continue;
    const std::vector<RankNumber> numbers = Numbers(*first, ValueOf(first->environment, name),
                                                    ValueOf(other.environment, name), other_rank);
    if (!numbers.empty()) {
      std::string lower = name;
      std::transform(lower.begin(), lower.end(), lower.begin(),
                     [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
      first->rank_variables.emplace_back(name, Choose(numbers, *first, lower));
      continue;
    }
    notes->push_back(fmt::format(
        "{} is {} for rank 0 and {} for rank {}; the capture gives all "
        "ranks the first",
        name, Shown(first->environment, name), Shown(other.environment, name), other_rank));
  }
  return OkStatus();
}

Status RankLaunches::Add(const Call& call) {
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

Result<std::vector<Launch>> RankLaunches::Take() const {
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

}  // namespace drydock::capture
