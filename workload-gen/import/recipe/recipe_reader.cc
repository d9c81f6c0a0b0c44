#include "workload-gen/import/recipe/recipe_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/spelling.h"
#include "workload-gen/import/megatron/megatron_arguments.h"

namespace drydock {
namespace {

using Use = RecipeKey::Use;
using Kind = YamlNode::Kind;

bool IsNull(const YamlNode& node) {
  return node.kind == Kind::kNull ||
         (node.kind == Kind::kScalar && (node.scalar == "null" || node.scalar == "~")) ||
         (node.kind == Kind::kList && node.items.empty()) ||
         (node.kind == Kind::kMap && node.entries.empty());
}

bool IsFalse(const std::string& text) { return text == "false" || text == "False"; }
bool IsTrueText(const std::string& text) { return text == "true" || text == "True"; }

std::string ArgumentOf(const std::string& path, const char* prefix) {
  std::string name = path.substr(path.find('.') + 1);
  std::replace(name.begin(), name.end(), '_', '-');
  return prefix + name;
}

}  // namespace

RecipeReader::RecipeReader(const YamlNode& root, const std::vector<RecipeKey>& table, bool strict,
                           const std::map<std::string, std::string>& variables, ImportNotes* notes,
                           Diagnostics* diagnostics)
    : root_(root),
      strict_(strict),
      values_(root, variables),
      notes_(*notes),
      diagnostics_(*diagnostics) {
  for (const RecipeKey& row : table) rows_[row.path] = &row;
}

const RecipeKey* RecipeReader::Row(const std::string& path) const {
  const auto exact = rows_.find(path);
  if (exact != rows_.end()) return exact->second;
  for (size_t dot = path.rfind('.'); dot != std::string::npos && dot > 0;
       dot = path.rfind('.', dot - 1)) {
    const auto section = rows_.find(path.substr(0, dot) + ".*");
    if (section != rows_.end()) return section->second;
  }
  return nullptr;
}

void RecipeReader::ReadAll() { Walk("", root_); }

void RecipeReader::Walk(const std::string& path, const YamlNode& map) {
  for (const auto& [name, value] : map.entries) {
    ReadKey(path.empty() ? name.scalar : path + "." + name.scalar, name, value);
  }
}

void RecipeReader::ReadKey(const std::string& path, const YamlNode& name, const YamlNode& value) {
  if (name.scalar == "_target_" || name.scalar == "_call_") return;
  // By convention, a section that holds anchors.
  if (path.starts_with("x-") || path.starts_with(".")) return notes_.ignored.push_back(path);
  const RecipeKey* row = Row(path);
  const std::string inside = path + ".";
  const auto section = rows_.lower_bound(inside);
  const bool has_rows = section != rows_.end() && section->first.starts_with(inside);
  // mixed_precision is a name or a map.
  if (row != nullptr && row->path == path && has_rows && value.kind == Kind::kMap) {
    return Walk(path, value);
  }
  if (row != nullptr) return ReadRow(*row, path, value);
  if (has_rows && IsNull(value)) return;
  if (has_rows && value.kind == Kind::kMap) return Walk(path, value);
  if (has_rows && section->first == inside + "*") return notes_.ignored.push_back(path);
  if (!ReadArgument(path, value)) ReportUnknown(path, name);
}

void RecipeReader::ReadRow(const RecipeKey& row, const std::string& path, const YamlNode& value) {
  if (row.use == Use::kComputed) return;
  if (row.use == Use::kIgnored) {
    // A section is named once.
    const bool section = row.path.ends_with(".*");
    const std::string what = section ? row.path.substr(0, row.path.size() - 2) : path;
    if (std::find(notes_.ignored.begin(), notes_.ignored.end(), what) == notes_.ignored.end()) {
      notes_.ignored.push_back(what);
    }
    return;
  }
  if (IsNull(value)) return;
  const std::string text = value.kind == Kind::kScalar ? values_.Value(path, value).text : "a map";
  switch (row.use) {
    case Use::kValue:
      return AddValue(row.argument, path);
    case Use::kFlag:
      if (IsTrue(path)) Add(row.argument, path);
      return;
    case Use::kFlagOff:
      if (!IsTrue(path)) Add(row.argument, path);
      return;
    case Use::kUnmodeled:
      if (IsFalse(text) || text == row.argument) return notes_.ignored.push_back(path);
      return NoteUnmodeled(path, row.text);
    default:
      break;
  }
  if (IsFalse(text) || text == "0" || text == row.argument) return notes_.ignored.push_back(path);
  Fail(path, fmt::format("'{}' is {}: {}", path, text, row.text));
}

// A key of Megatron-Bridge has the name of the argument that sets it.
bool RecipeReader::ReadArgument(const std::string& path, const YamlNode& value) {
  if (path.find('.') == std::string::npos || path.find('.') != path.rfind('.')) return false;
  const std::string name = ArgumentOf(path, "--"), off = ArgumentOf(path, "--no-");
  const auto& arguments = MegatronArguments();
  const auto found = arguments.find(name);
  if (found == arguments.end() && !arguments.contains(off)) return false;
  if (IsNull(value)) return true;
  const MegatronArgument& argument = found != arguments.end() ? found->second : arguments.at(off);
  if (argument.effect == MegatronArgument::Effect::kIgnored) {
    notes_.ignored.push_back(path);
  } else if (found == arguments.end()) {
    if (!IsTrue(path)) Add(off, path);
  } else if (found->second.values == '0') {
    if (IsTrue(path)) Add(name, path);
  } else {
    const ScriptWord word = values_.Value(path, value);
    if (value.kind == Kind::kScalar && IsFalse(word.text)) return true;
    AddValue(name, path);
  }
  return true;
}

void RecipeReader::ReportUnknown(const std::string& path, const YamlNode& name) {
  const size_t dot = path.rfind('.');
  const std::string section = dot == std::string::npos ? "" : path.substr(0, dot + 1);
  std::vector<std::string> names;
  for (const auto& [row, use] : rows_) {
    if (row.starts_with(section)) {
      names.push_back(row.substr(section.size(), row.find('.', section.size()) - section.size()));
    }
  }
  names.erase(std::unique(names.begin(), names.end()), names.end());
  diagnostics_.Add(name.ErrorHere(
      fmt::format("unknown key '{}'{}; remove it if it decides nothing about the GPUs", path,
                  DidYouMean(name.scalar, names))));
}

bool RecipeReader::Has(const std::string& path) const {
  const YamlNode* node = values_.Find(path);
  return node != nullptr && !IsNull(*node);
}

ScriptWord RecipeReader::Place(const std::string& path) const {
  const YamlNode* node = values_.Find(path);
  ScriptWord word;
  word.location = node != nullptr ? node->location : root_.location;
  if (node != nullptr) word.source_line = node->source_line;
  return word;
}

std::string RecipeReader::Text(const std::string& path, const std::string& otherwise) {
  if (!Has(path)) return otherwise;
  const YamlNode& node = *values_.Find(path);
  if (node.kind != Kind::kScalar) return otherwise;
  const ScriptWord word = values_.Value(path, node);
  if (!word.unresolved.empty()) {
    Fail(path, fmt::format("'{}': {}", path, word.Unknown()));
    return otherwise;
  }
  return word.text;
}

std::string RecipeReader::List(const std::string& path) const {
  const YamlNode* node = values_.Find(path);
  std::string list;
  for (const YamlNode& item : node->items) {
    if (!list.empty()) list += ",";
    list += values_.Value(path, item).text;
  }
  return list.empty() ? node->scalar : list;
}

bool RecipeReader::IsTrue(const std::string& path, bool otherwise) {
  const std::string text = Text(path, otherwise ? "true" : "false");
  if (IsTrueText(text)) return true;
  if (!IsFalse(text)) Fail(path, fmt::format("'{}' is {}; expected true or false", path, text));
  return false;
}

void RecipeReader::Add(const std::string& argument, const std::string& path) {
  ScriptWord word = Place(path);
  word.text = argument;
  words_.push_back(word);
}

void RecipeReader::Add(const std::string& argument, const std::string& value,
                       const std::string& path) {
  Add(argument, path);
  ScriptWord word = Place(path);
  word.text = value;
  words_.push_back(word);
}

void RecipeReader::AddValue(const std::string& argument, const std::string& path) {
  const YamlNode* node = values_.Find(path);
  if (node == nullptr || IsNull(*node)) return;
  Add(argument, path);
  if (node->kind == Kind::kList) {
    for (const YamlNode& item : node->items) words_.push_back(values_.Value(path, item));
  } else if (node->kind == Kind::kScalar) {
    words_.push_back(values_.Value(path, *node));
  } else {
    Fail(path, fmt::format("'{}' must be one value", path));
  }
}

void RecipeReader::Fail(const std::string& path, const std::string& message) {
  diagnostics_.Add(Place(path).ErrorHere(message));
}

void RecipeReader::CheckSame(const std::string& path, const std::string& other) {
  if (!Has(path) || !Has(other)) return;
  const std::string text = Text(path), expected = Text(other);
  if (text == expected || text.empty() || expected.empty()) return;
  Fail(path,
       fmt::format("'{}' is {}, but '{}' is {}: give both alike", path, text, other, expected));
}

void RecipeReader::Remark(const std::string& path, const std::string& text) {
  const int line = Place(path).location.line;
  const std::string remark = line > 0 ? fmt::format("'{}' (line {}) {}", path, line, text)
                                      : fmt::format("'{}' {}", path, text);
  const auto& said = notes_.remarks;
  if (std::find(said.begin(), said.end(), remark) == said.end()) notes_.remarks.push_back(remark);
}

void RecipeReader::NoteUnmodeled(const std::string& path, const std::string& text) {
  const std::string what = fmt::format("{} ({})", path, text);
  if (strict_)
    Fail(path, "not modeled: " + what);
  else
    notes_.unmodeled.push_back(what);
}

}  // namespace drydock
