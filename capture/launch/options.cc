#include "capture/launch/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "core/base/spelling.h"

namespace drydock::capture {
namespace {

std::vector<std::string> NamesOf(const LauncherOption& option) {
  std::vector<std::string> names;
  size_t begin = 0;
  for (;;) {
    const size_t end = option.names.find('|', begin);
    names.push_back(option.names.substr(begin, end - begin));
    if (end == std::string::npos) return names;
    begin = end + 1;
  }
}

// One word that begins with a dash, and those behind it.
class Reader {
 public:
  Reader(const OptionTable& table, const std::vector<std::string>& words)
      : table_(table), words_(words) {}

  Result<ParsedOptions> Read(size_t begin) {
    parsed_.launcher = table_.launcher;
    at_ = begin;
    while (at_ < words_.size()) {
      const std::string& word = words_[at_];
      if (word == "--") {
        ++at_;
        break;
      }
      if (word.size() < 2 || word[0] != '-') break;
      RETURN_IF_ERROR(IsLong(word) ? ReadLong(word) : ReadShort(word));
    }
    parsed_.rest = at_;
    return std::move(parsed_);
  }

 private:
  bool IsLong(const std::string& word) const {
    return word.starts_with("--") || (table_.one_dash && word.size() > 2) ||
           FindLong(word) != nullptr;
  }

  // The spelling by which names are compared.
  std::string Plain(std::string name) const {
    if (table_.one_dash && name.starts_with("--")) name.erase(0, 1);
    if (!table_.underscores) return name;
    std::replace(name.begin() + static_cast<std::ptrdiff_t>(std::min<size_t>(2, name.size())),
                 name.end(), '_', '-');
    return name;
  }

  const LauncherOption* FindLong(const std::string& word) const {
    for (const LauncherOption& option : table_.options) {
      for (const std::string& name : NamesOf(option)) {
        if (Plain(name) == Plain(word)) return &option;
      }
    }
    return nullptr;
  }

  Error Unknown(const std::string& name) const {
    std::vector<std::string> names;
    for (const LauncherOption& option : table_.options) {
      for (const std::string& known : NamesOf(option)) names.push_back(known);
    }
    const std::string suspected = SuspectedValue(parsed_.given);
    return Error(fmt::format("{}: option '{}' is not known{}", table_.launcher, name,
                             suspected.empty() ? DidYouMean(name, names) : suspected));
  }

  // An abbreviation, as argparse and getopt_long allow it.
  Result<const LauncherOption*> FindPrefix(const std::string& name) const {
    std::vector<const LauncherOption*> found;
    std::vector<std::string> names;
    for (const LauncherOption& option : table_.options) {
      for (const std::string& known : NamesOf(option)) {
        if (!known.starts_with("--") || !Plain(known).starts_with(Plain(name))) continue;
        if (found.empty() || found.back() != &option) {
          found.push_back(&option);
          names.push_back(known);
        }
      }
    }
    if (found.size() == 1) return found.front();
    if (found.empty()) return Unknown(name);
    return Error(fmt::format("{}: option '{}' may be {}; write one of them", table_.launcher, name,
                             Join(names, " or ")));
  }

  Status ReadLong(const std::string& word) {
    const size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    const LauncherOption* option = FindLong(name);
    if (option == nullptr) {
      if (!table_.prefixes || !name.starts_with("--")) return Unknown(name);
      ASSIGN_OR_RETURN(option, FindPrefix(name));
    }
    ++at_;
    if (equals == std::string::npos) return Take(*option, name, 0);
    if (option->values == 0) {
      return Error(fmt::format("{}: option '{}' takes no value, not '{}'", table_.launcher, name,
                               word.substr(equals + 1)));
    }
    Add(*option, {word.substr(equals + 1)});
    return OkStatus();
  }

  // "-N4", "-N 4", "-lu".
  Status ReadShort(const std::string& word) {
    for (size_t i = 1; i < word.size(); ++i) {
      const std::string name = std::string("-") + word[i];
      const LauncherOption* option = FindLong(name);
      if (option == nullptr) return Unknown(name);
      const std::string rest = word.substr(i + 1);
      if (option->values != 0 && !rest.empty()) {
        ++at_;
        Add(*option, {rest[0] == '=' ? rest.substr(1) : rest});
        return OkStatus();
      }
      if (option->values > 0) {
        ++at_;
        return Take(*option, name, 0);
      }
      Add(*option, {});
    }
    ++at_;
    return OkStatus();
  }

  Status Take(const LauncherOption& option, const std::string& name, int taken) {
    std::vector<std::string> values;
    for (; taken < option.values; ++taken) {
      if (at_ >= words_.size()) {
        return Error(fmt::format("{}: option '{}' needs a value", table_.launcher, name));
      }
      if (!table_.dash_values && words_[at_].starts_with("--")) {
        return Error(
            fmt::format("{}: option '{}' has no value: '{}' follows it; a variable of the script "
                        "is empty here; "
                        "set it before the command: NAME=VALUE drydock capture ...",
                        table_.launcher, name, words_[at_]));
      }
      values.push_back(words_[at_++]);
    }
    Add(option, std::move(values));
    return OkStatus();
  }

  void Add(const LauncherOption& option, std::vector<std::string> values) {
    parsed_.given.push_back({NamesOf(option).front(), std::move(values)});
  }

  const OptionTable& table_;
  const std::vector<std::string>& words_;
  size_t at_ = 0;
  ParsedOptions parsed_;
};

}  // namespace

bool ParsedOptions::Has(const std::string& name) const {
  return std::any_of(given.begin(), given.end(),
                     [&](const GivenOption& option) { return option.name == name; });
}

std::string ParsedOptions::Value(const std::string& name) const {
  for (auto option = given.rbegin(); option != given.rend(); ++option) {
    if (option->name == name && !option->values.empty()) return option->values.back();
  }
  return "";
}

Result<ParsedOptions> ParseOptions(const OptionTable& table, const std::vector<std::string>& words,
                                   size_t begin) {
  return Reader(table, words).Read(begin);
}

std::string SuspectedValue(const std::vector<GivenOption>& given) {
  for (const GivenOption& option : given) {
    for (const std::string& value : option.values) {
      if (!value.ends_with(".py") && !value.ends_with(".sh") && !value.starts_with("--")) continue;
      return fmt::format(
          "; '{}' takes '{}' for its value: a variable of the script is empty here; set it before "
          "the command: NAME=VALUE drydock capture ...",
          option.name, value);
    }
  }
  return "";
}

Result<int> PositiveNumber(const std::string& what, const std::string& text, int most) {
  int number = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = end == text.data() + text.size() && failed != std::errc::invalid_argument;
  if (whole && (failed == std::errc::result_out_of_range || number > most) && text[0] != '-') {
    return Error(fmt::format("{} is at most {}, not {}", what, most, text));
  }
  if (whole && failed == std::errc() && number > 0) return number;
  if (text.empty()) {
    return Error(fmt::format(
        "{} has no value: a variable of the script is empty here; set it before the command: "
        "NAME=VALUE drydock capture ...",
        what));
  }
  return Error(fmt::format("{} needs a number from 1, not '{}'", what, text));
}

}  // namespace drydock::capture
