#include "capture/launch/launch.h"

#include <fmt/format.h>

#include "core/base/plural.h"

namespace drydock::capture {

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

std::vector<std::string> CommandOf(const Launch& launch, int rank) {
  std::vector<std::string> command = launch.command;
  for (const RankWord& word : launch.rank_words) {
    command[word.index] =
        word.before + std::to_string(NumberOf(launch, rank, word.number)) + word.after;
  }
  return command;
}

Variables EnvironmentOf(const Launch& launch, int rank) {
  Variables environment = launch.environment;
  for (const auto& [name, number] : launch.rank_variables) {
    Set(&environment, name, std::to_string(NumberOf(launch, rank, number)));
  }
  return environment;
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
