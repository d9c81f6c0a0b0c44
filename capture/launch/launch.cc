#include "capture/launch/launch.h"

#include <algorithm>

namespace drydock::capture {
namespace {

std::string TextOf(const Launch& launch, int rank, RankNumber number) {
  switch (number) {
    case RankNumber::kRank:
      return std::to_string(rank);
    case RankNumber::kLocalRank:
      return std::to_string(rank % launch.ranks_per_host);
    case RankNumber::kHost:
      return std::to_string(rank / launch.ranks_per_host);
  }
  return "";
}

}  // namespace

std::vector<std::string> CommandOf(const Launch& launch, int rank) {
  std::vector<std::string> command = launch.command;
  for (const RankWord& word : launch.rank_words) {
    command[word.index] = word.before + TextOf(launch, rank, word.number) + word.after;
  }
  return command;
}

Variables EnvironmentOf(const Launch& launch, int rank) {
  Variables environment = launch.environment;
  for (const auto& [name, number] : launch.rank_variables) {
    Set(&environment, name, TextOf(launch, rank, number));
  }
  return environment;
}

std::string ValueOf(const Variables& variables, const std::string& name) {
  for (const auto& [known, value] : variables) {
    if (known == name) return value;
  }
  return "";
}

bool Has(const Variables& variables, const std::string& name) {
  return std::any_of(variables.begin(), variables.end(),
                     [&](const auto& variable) { return variable.first == name; });
}

void Set(Variables* variables, const std::string& name, const std::string& value) {
  for (auto& [known, present] : *variables) {
    if (known != name) continue;
    present = value;
    return;
  }
  variables->emplace_back(name, value);
}

void Unset(Variables* variables, const std::string& name) {
  std::erase_if(*variables, [&](const auto& variable) { return variable.first == name; });
}

}  // namespace drydock::capture
