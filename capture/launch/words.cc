#include "capture/launch/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <nlohmann/json.hpp>

#include "capture/launch/python_command.h"
#include "core/base/files.h"
#include "core/base/plural.h"

namespace drydock::capture {
namespace {

using Json = nlohmann::ordered_json;

const char* NameOf(RankNumber number) {
  switch (number) {
    case RankNumber::kRank:
      return "rank";
    case RankNumber::kLocalRank:
      return "local_rank";
    case RankNumber::kHost:
      return "host";
  }
  return "";
}

// What a shell changes by itself.
bool IsShells(const std::string& name) {
  return name == "_" || name == "SHLVL" || name == "OLDPWD" || name == "PWD";
}

}  // namespace

std::string Quoted(const std::string& text) {
  const bool plain = !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || strchr("-_./=:,+%@", c) != nullptr;
  });
  if (plain) return text;
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

std::string Quoted(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + Quoted(word);
  return text;
}

ChangedVariables Changes(const Launch& launch, const Variables& own) {
  ChangedVariables changed;
  for (const auto& [name, value] : launch.environment) {
    if (IsShells(name) || (Has(own, name) && ValueOf(own, name) == value)) continue;
    changed.set.emplace_back(name, value);
  }
  for (const auto& [name, value] : own) {
    if (!IsShells(name) && !Has(launch.environment, name)) changed.gone.push_back(name);
  }
  std::sort(changed.set.begin(), changed.set.end());
  std::sort(changed.gone.begin(), changed.gone.end());
  return changed;
}

std::string Describe(const Launch& launch) {
  return fmt::format(
      "{}{}, {} on {}", launch.launcher.empty() ? "" : launch.launcher + ": ",
      BaseName(launch.command.front()) == launch.command.front() || IsPython(launch.command.front())
          ? Quoted(launch.command)
          : launch.command.front(),
      Plural(launch.ranks(), "rank"), Plural(launch.hosts, "host"));
}

std::string ShellText(const Launch& launch, const Variables& own) {
  const ChangedVariables changed = Changes(launch, own);
  std::string text = "cd " + Quoted(launch.folder) + " && ";
  if (!changed.set.empty() || !changed.gone.empty()) text += "env ";
  for (const std::string& name : changed.gone) text += "-u " + Quoted(name) + " ";
  for (const auto& [name, value] : changed.set) text += name + "=" + Quoted(value) + " ";
  return text + Quoted(launch.command);
}

std::string JsonText(const Launch& launch, const Variables& own) {
  const ChangedVariables changed = Changes(launch, own);
  Json variables = Json::object();
  for (const auto& [name, value] : changed.set) variables[name] = value;
  Json words = Json::array();
  for (const RankWord& word : launch.rank_words) {
    words.push_back({{"index", word.index},
                     {"before", word.before},
                     {"number", NameOf(word.number)},
                     {"after", word.after}});
  }
  Json numbers = Json::object();
  for (const auto& [name, number] : launch.rank_variables) numbers[name] = NameOf(number);
  const Json json = {{"launcher", launch.launcher},
                     {"command", launch.command},
                     {"folder", launch.folder},
                     {"environment", variables},
                     {"unset", changed.gone},
                     {"hosts", launch.hosts},
                     {"ranks_per_host", launch.ranks_per_host},
                     {"ranks", launch.ranks()},
                     {"rank_words", words},
                     {"rank_variables", numbers}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace drydock::capture
