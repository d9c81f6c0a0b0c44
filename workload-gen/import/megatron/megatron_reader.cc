#include "workload-gen/import/megatron/megatron_reader.h"

#include <fmt/format.h>

#include <charconv>

#include "core/base/scan.h"
#include "core/base/spelling.h"
#include "workload-gen/job/model_shape.h"

namespace drydock {

const ScriptWord& MegatronReader::Place(const std::string& argument) const {
  const GivenArgument& given = given_.at(argument);
  return given.values.empty() ? given.flag : given.values.front();
}

std::string MegatronReader::Text(const std::string& argument, const std::string& otherwise) const {
  return Has(argument) ? Place(argument).text : otherwise;
}

std::optional<int64_t> MegatronReader::Number(const std::string& argument) const {
  const std::optional<int64_t> number = WholeNumber(Text(argument));
  return number.has_value() && *number >= 1 && *number <= kMaxDimension ? number : std::nullopt;
}

bool MegatronReader::IsPositive(const ScriptWord& number) {
  const std::string text = number.text.starts_with('+') ? number.text.substr(1) : number.text;
  const char* end = text.data() + text.size();
  double value = 0;
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc::invalid_argument || stop != end) {
    FailAt(number, fmt::format("'{}' is not a number", number.text));
    return false;
  }
  return value > 0;
}

void MegatronReader::Set(const std::string& key, const std::string& value,
                         const std::string& argument) {
  if (!Has(argument)) return tree.Set(key, value);
  tree.Set(key, value, Place(argument).location, Place(argument).source_line);
}

void MegatronReader::Choose(const std::string& argument, const std::string& key,
                            const std::vector<std::pair<std::string, std::string>>& choices) {
  if (!Has(argument)) return;
  const std::string value = Text(argument);
  std::vector<std::string> names;
  for (const auto& [name, meaning] : choices) {
    if (name == value) return Set(key, meaning, argument);
    names.push_back(name);
  }
  Fail(argument, fmt::format("'{}' is not a value of {}{}; valid values are {}", value, argument,
                             DidYouMean(value, names), Join(names)));
}

void MegatronReader::Fail(const std::string& argument, const std::string& message) {
  FailAt(Place(argument), message);
}

void MegatronReader::FailAt(const ScriptWord& word, const std::string& message) {
  diagnostics_.Add(word.ErrorHere(message));
}

void MegatronReader::ReportMissing(const std::string& argument, const std::string& key,
                                   const std::string& hint) {
  if (IsSet(key)) return;
  const auto spelling = spellings_.find(argument);
  diagnostics_.Add(
      Error(fmt::format("{} is not given{}",
                        spelling == spellings_.end() ? argument : spelling->second, hint),
            {file_name_, 0, 0}));
}

}  // namespace drydock
