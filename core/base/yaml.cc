#include "core/base/yaml.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <charconv>
#include <cmath>

#include "core/base/files.h"
#include "core/base/spelling.h"

namespace drydock {
namespace {

constexpr int kMaxValues = 100000;  // aliases multiply; an honest config has hundreds
constexpr int kMaxDepth = 64;

std::vector<std::string> SplitLines(const std::string& text) {
  std::vector<std::string> lines(1);
  for (const char c : text) {
    if (c == '\n') lines.emplace_back();
    else if (c != '\r') lines.back() += c;
  }
  return lines;
}

// Copies yaml-cpp's tree into ours, with places, refusing what a config must not have.
class Converter {
 public:
  Converter(std::string file, const std::string& text)
      : file_(std::move(file)), lines_(SplitLines(text)) {}

  Result<YamlNode> Convert(const YAML::Node& from, int depth) {
    YamlNode to = Placed(from.Mark());
    if (++values_ > kMaxValues || depth > kMaxDepth) {
      return to.ErrorHere("the document is too large or refers to itself");
    }
    if (from.IsScalar()) {
      to.kind = YamlNode::Kind::kScalar;
      to.scalar = from.Scalar();
    } else if (from.IsSequence()) {
      to.kind = YamlNode::Kind::kList;
      for (const auto& item : from) {
        ASSIGN_OR_RETURN(YamlNode child, Convert(item, depth + 1));
        to.items.push_back(std::move(child));
      }
    } else if (from.IsMap()) {
      to.kind = YamlNode::Kind::kMap;
      for (const auto& entry : from) RETURN_IF_ERROR(AddEntry(entry.first, entry.second, depth, &to));
    }
    return to;
  }

  YamlNode Placed(const YAML::Mark& mark) const {
    YamlNode node;
    node.location = {file_, mark.is_null() ? 0 : mark.line + 1, mark.is_null() ? 0 : mark.column + 1};
    if (!mark.is_null() && mark.line < static_cast<int>(lines_.size())) {
      node.source_line = lines_[static_cast<size_t>(mark.line)];
    }
    return node;
  }

 private:
  Status AddEntry(const YAML::Node& from_key, const YAML::Node& from_value, int depth,
                  YamlNode* to) {
    ASSIGN_OR_RETURN(YamlNode key, Convert(from_key, depth + 1));
    if (key.kind != YamlNode::Kind::kScalar) return key.ErrorHere("a key must be a plain word");
    if (const YamlNode* earlier = to->Find(key.scalar)) {
      return key.ErrorHere(fmt::format("duplicate key '{}'; it is already given in line {}",
                                       key.scalar, earlier->location.line));
    }
    ASSIGN_OR_RETURN(YamlNode value, Convert(from_value, depth + 1));
    to->entries.emplace_back(std::move(key), std::move(value));
    return OkStatus();
  }

  std::string file_;
  std::vector<std::string> lines_;
  int values_ = 0;
};

void Relocate(const std::string& where, YamlNode* node) {
  node->location = {where, 0, 0};
  node->source_line.clear();
  for (YamlNode& item : node->items) Relocate(where, &item);
  for (auto& [key, value] : node->entries) {
    Relocate(where, &key);
    Relocate(where, &value);
  }
}

const char* KindName(const YamlNode& node) {
  switch (node.kind) {
    case YamlNode::Kind::kNull: return "nothing";
    case YamlNode::Kind::kScalar: return "a single value";
    case YamlNode::Kind::kList: return "a list";
    case YamlNode::Kind::kMap: return "a section";
  }
  return "";
}

Status RequireScalar(const YamlNode& node, std::string_view wanted) {
  if (node.kind == YamlNode::Kind::kScalar) return OkStatus();
  return node.ErrorHere(fmt::format("expected {}, found {}", wanted, KindName(node)));
}

template <typename T>
Result<T> AsQuantity(const YamlNode& node, std::string_view wanted,
                     Result<T> (*parse)(std::string_view)) {
  RETURN_IF_ERROR(RequireScalar(node, wanted));
  Result<T> parsed = parse(node.scalar);
  if (!parsed.ok()) return node.ErrorHere(parsed.error().message());
  return parsed;
}

}  // namespace

const YamlNode* YamlNode::Find(std::string_view key) const {
  for (const auto& [name, value] : entries) {
    if (name.scalar == key) return &value;
  }
  return nullptr;
}

Error YamlNode::ErrorHere(std::string message) const {
  return Error(std::move(message), location, source_line);
}

Result<YamlNode> ParseYaml(const std::string& text, const std::string& file_name) {
  Converter converter(file_name, text);
  try {
    const std::vector<YAML::Node> documents = YAML::LoadAll(text);
    if (documents.empty() || documents.front().IsNull()) {
      return Error("the file is empty", {file_name, 0, 0});
    }
    if (documents.size() > 1) {
      return converter.Placed(documents[1].Mark()).ErrorHere("only one document is expected");
    }
    return converter.Convert(documents.front(), 0);
  } catch (const YAML::Exception& e) {
    return converter.Placed(e.mark).ErrorHere(fmt::format("not valid YAML: {}", e.msg));
  }
}

Result<YamlNode> LoadYaml(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  return ParseYaml(text, path);
}

Status ApplyOverride(const std::string& assignment, YamlNode* root) {
  const std::string where = "--set " + assignment;
  const size_t equals = assignment.find('=');
  if (equals == std::string::npos || equals == 0) {
    return Error("expected section.key=value", {where, 0, 0});
  }
  ASSIGN_OR_RETURN(YamlNode value, ParseYaml(assignment.substr(equals + 1), where));
  Relocate(where, &value);
  YamlNode* node = root;
  std::string_view path = std::string_view(assignment).substr(0, equals);
  while (!path.empty()) {
    const size_t dot = path.find('.');
    const std::string key(path.substr(0, dot));
    path = dot == std::string_view::npos ? std::string_view() : path.substr(dot + 1);
    if (node->kind == YamlNode::Kind::kNull) node->kind = YamlNode::Kind::kMap;
    if (node->kind != YamlNode::Kind::kMap) {
      return Error(fmt::format("'{}' is inside {}, not a section", key, KindName(*node)),
                   {where, 0, 0});
    }
    YamlNode* child = const_cast<YamlNode*>(node->Find(key));
    if (child == nullptr) {
      YamlNode name;
      name.kind = YamlNode::Kind::kScalar;
      name.scalar = key;
      name.location = {where, 0, 0};
      YamlNode empty;
      empty.location = {where, 0, 0};
      node->entries.emplace_back(std::move(name), std::move(empty));
      child = &node->entries.back().second;
    }
    node = child;
  }
  *node = std::move(value);
  return OkStatus();
}

std::string ToYaml(const YamlNode& node) {
  std::string out;
  switch (node.kind) {
    case YamlNode::Kind::kNull: return "null";
    case YamlNode::Kind::kScalar:
      out = "'";
      for (const char c : node.scalar) out += c == '\'' ? "''" : std::string(1, c);
      return out + "'";
    case YamlNode::Kind::kList:
      for (const YamlNode& item : node.items) out += (out.empty() ? "" : ", ") + ToYaml(item);
      return "[" + out + "]";
    case YamlNode::Kind::kMap:
      for (const auto& [key, value] : node.entries) {
        out += (out.empty() ? "" : ", ") + ToYaml(key) + ": " + ToYaml(value);
      }
      return "{" + out + "}";
  }
  return out;
}

void Diagnostics::Add(const Error& error) {
  list_.insert(list_.end(), error.diagnostics().begin(), error.diagnostics().end());
}

Status Diagnostics::ToStatus() const {
  if (list_.empty()) return OkStatus();
  return Error(list_);
}

Result<int64_t> AsInteger(const YamlNode& node) {
  RETURN_IF_ERROR(RequireScalar(node, "a whole number"));
  const std::string& text = node.scalar;
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    return node.ErrorHere(fmt::format("'{}' is not a whole number", text));
  }
  return value;
}

Result<double> AsNumber(const YamlNode& node) {
  RETURN_IF_ERROR(RequireScalar(node, "a number"));
  const std::string& text = node.scalar;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) {
    return node.ErrorHere(fmt::format("'{}' is not a number", text));
  }
  return value;
}

Result<bool> AsBool(const YamlNode& node) {
  RETURN_IF_ERROR(RequireScalar(node, "true or false"));
  if (node.scalar == "true") return true;
  if (node.scalar == "false") return false;
  return node.ErrorHere(fmt::format("'{}' is neither true nor false", node.scalar));
}

Result<std::string> AsString(const YamlNode& node) {
  RETURN_IF_ERROR(RequireScalar(node, "a name"));
  return node.scalar;
}

YamlReader::YamlReader(const YamlNode& node, std::string what, Diagnostics* diagnostics)
    : node_(&node), what_(std::move(what)), diagnostics_(diagnostics) {
  if (node.kind != YamlNode::Kind::kMap) {
    diagnostics_->Add(node.ErrorHere(
        fmt::format("'{}' must be a section of keys and values, found {}", what_, KindName(node))));
    static const YamlNode kEmpty = [] {
      YamlNode empty;
      empty.kind = YamlNode::Kind::kMap;
      return empty;
    }();
    node_ = &kEmpty;
    diagnostics_ = nullptr;  // what would follow is only the consequence
  }
}

const YamlNode* YamlReader::Take(const std::string& key, bool required) {
  known_.push_back(key);
  const YamlNode* value = node_->Find(key);
  if (value == nullptr && required && diagnostics_ != nullptr) {
    diagnostics_->Add(node_->ErrorHere(fmt::format("'{}' lacks the key '{}'", what_, key)));
  }
  return value;
}

void YamlReader::ReadChoice(const std::string& key, const std::vector<std::string>& choices,
                            int* out, bool required) {
  const YamlNode* value = Take(key, required);
  if (value == nullptr) return;
  for (size_t i = 0; i < choices.size(); ++i) {
    if (value->kind == YamlNode::Kind::kScalar && value->scalar == choices[i]) {
      *out = static_cast<int>(i);
      return;
    }
  }
  Fail(key, fmt::format("'{}' is no {}{}; valid values are {}", value->scalar, key,
                        DidYouMean(value->scalar, choices), Join(choices)));
}

void YamlReader::Fail(const std::string& key, const std::string& message) {
  if (diagnostics_ == nullptr) return;
  const YamlNode* value = node_->Find(key);
  diagnostics_->Add((value != nullptr ? value : node_)->ErrorHere(message));
}

void YamlReader::CheckRange(const std::string& key, int64_t value, int64_t low, int64_t high) {
  if (value >= low && value <= high) return;
  Fail(key, fmt::format("'{}' is {}; it must be between {} and {}", key, value, low, high));
}

void YamlReader::Finish() {
  if (diagnostics_ == nullptr) return;
  for (const auto& [key, value] : node_->entries) {
    bool found = false;
    for (const std::string& known : known_) found |= known == key.scalar;
    if (found) continue;
    diagnostics_->Add(key.ErrorHere(fmt::format("unknown key '{}' in '{}'{}; valid keys are {}",
                                                key.scalar, what_, DidYouMean(key.scalar, known_),
                                                Join(known_))));
  }
}

#define DRYDOCK_YAML_TYPE(type, reader)                         \
  template <>                                                   \
  void YamlReader::Parse<type>(const YamlNode& node, type* out) { \
    auto result = reader;                                       \
    if (result.ok()) *out = *result;                            \
    else if (diagnostics_ != nullptr) diagnostics_->Add(result.error()); \
  }

DRYDOCK_YAML_TYPE(int64_t, AsInteger(node))
DRYDOCK_YAML_TYPE(double, AsNumber(node))
DRYDOCK_YAML_TYPE(bool, AsBool(node))
DRYDOCK_YAML_TYPE(std::string, AsString(node))
DRYDOCK_YAML_TYPE(Time, AsQuantity(node, "a time", &ParseTime))
DRYDOCK_YAML_TYPE(Bytes, AsQuantity(node, "a size", &ParseBytes))
DRYDOCK_YAML_TYPE(Bandwidth, AsQuantity(node, "a bandwidth", &ParseBandwidth))
DRYDOCK_YAML_TYPE(FlopRate, AsQuantity(node, "a rate", &ParseFlopRate))
#undef DRYDOCK_YAML_TYPE

template <>
void YamlReader::Parse<int>(const YamlNode& node, int* out) {
  Result<int64_t> result = AsInteger(node);
  if (result.ok() && (*result < INT32_MIN || *result > INT32_MAX)) {
    result = node.ErrorHere(fmt::format("'{}' is too large", node.scalar));
  }
  if (result.ok()) *out = static_cast<int>(*result);
  else if (diagnostics_ != nullptr) diagnostics_->Add(result.error());
}

}  // namespace drydock
