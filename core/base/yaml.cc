#include "core/base/yaml.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/base/spelling.h"

namespace drydock {
namespace {

constexpr int kMaxDepth = 64;            // of the path of a --set
constexpr size_t kMaxDiagnostics = 100;  // further ones are not printed

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
    case YamlNode::Kind::kNull:
      return "nothing";
    case YamlNode::Kind::kScalar:
      return "a single value";
    case YamlNode::Kind::kList:
      return "a list";
    case YamlNode::Kind::kMap:
      return "a section";
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

// Splits "a.b.c" at the dots.
Result<std::vector<std::string>> SplitPath(const std::string& path, const std::string& where) {
  std::vector<std::string> keys(1);
  for (const char c : path) {
    if (c == '.')
      keys.emplace_back();
    else
      keys.back() += c;
  }
  for (const std::string& key : keys) {
    if (key.empty()) return Error(fmt::format("'{}' has an empty name in it", path), {where, 0, 0});
  }
  if (keys.size() > kMaxDepth) return Error("the path has too many names", {where, 0, 0});
  return keys;
}

// Returns the value of `key` in `map`; adds a null value if the key is absent.
YamlNode* FindOrAdd(const std::string& key, const std::string& where, YamlNode* map) {
  for (auto& [name, value] : map->entries) {
    if (name.scalar == key) return &value;
  }
  YamlNode name, value;
  name.kind = YamlNode::Kind::kScalar;
  name.scalar = key;
  name.location = value.location = {where, 0, 0};
  map->entries.emplace_back(std::move(name), std::move(value));
  return &map->entries.back().second;
}

// Quotes `text` for YAML: single quotes keep all characters except line breaks and control
// characters.
std::string Quoted(const std::string& text) {
  const bool plain = std::none_of(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
  });
  std::string out;
  for (const char c : text) {
    if (plain) {
      out += c == '\'' ? "''" : std::string(1, c);
    } else if (c == '"' || c == '\\') {
      out += {'\\', c};
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return plain ? fmt::format("'{}'", out) : fmt::format("\"{}\"", out);
}

}  // namespace

YamlNode::YamlNode() = default;
YamlNode::YamlNode(const YamlNode&) = default;
YamlNode::YamlNode(YamlNode&&) noexcept = default;
YamlNode& YamlNode::operator=(const YamlNode&) = default;
YamlNode& YamlNode::operator=(YamlNode&&) noexcept = default;
YamlNode::~YamlNode() = default;

const YamlNode* YamlNode::Find(std::string_view key) const {
  for (const auto& [name, value] : entries) {
    if (name.scalar == key) return &value;
  }
  return nullptr;
}

Error YamlNode::ErrorHere(std::string message) const {
  return Error(std::move(message), location, source_line);
}

Status ApplyOverride(const std::string& assignment, YamlNode* root) {
  const std::string where = "--set " + assignment;
  const auto error = [&where](const std::string& message) { return Error(message, {where, 0, 0}); };
  const size_t equals = assignment.find('=');
  if (equals == std::string::npos || equals == 0) return error("expected section.key=value");
  const std::string text = assignment.substr(equals + 1);
  if (text.find_first_not_of(" \t") == std::string::npos) return error("no value follows the '='");
  Result<YamlNode> value = ParseYaml(text, where);
  if (!value.ok()) return error(value.error().message());
  Relocate(where, &*value);
  ASSIGN_OR_RETURN(const std::vector<std::string> keys,
                   SplitPath(assignment.substr(0, equals), where));
  YamlNode* node = root;
  for (const std::string& key : keys) {
    if (node->kind == YamlNode::Kind::kNull) node->kind = YamlNode::Kind::kMap;
    if (node->kind != YamlNode::Kind::kMap) {
      return error(fmt::format("'{}' is inside {}, not a section", key, KindName(*node)));
    }
    node = FindOrAdd(key, where, node);
  }
  *node = *std::move(value);
  return OkStatus();
}

std::string ToYaml(const YamlNode& node) {
  std::string out;
  switch (node.kind) {
    case YamlNode::Kind::kNull:
      return "null";
    case YamlNode::Kind::kScalar:
      return Quoted(node.scalar);
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
  for (const Diagnostic& diagnostic : error.diagnostics()) {
    if (list_.size() < kMaxDiagnostics)
      list_.push_back(diagnostic);
    else if (list_.size() == kMaxDiagnostics)
      list_.push_back({"and more like these", {}, {}});
  }
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
  if (error == std::errc::result_out_of_range && end == text.data() + text.size()) {
    return node.ErrorHere(fmt::format("'{}' is too large", text));
  }
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
  if (error == std::errc::result_out_of_range && end == text.data() + text.size()) {
    return node.ErrorHere(fmt::format("'{}' is too large or too small", text));
  }
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
    diagnostics_ = nullptr;  // further messages would have the same cause
  }
}

const YamlNode* YamlReader::Take(const std::string& key, bool required) {
  known_.push_back(key);
  const YamlNode* value = node_->Find(key);
  if (value == nullptr && required) {
    Fail(key, fmt::format("'{}' lacks the key '{}'", what_, key));
    unread_.push_back(key);
  }
  return value;
}

void YamlReader::ReadChoice(const std::string& key, const std::vector<std::string>& choices,
                            int* out, bool required) {
  const YamlNode* value = Take(key, required);
  if (value == nullptr) return;
  const Status scalar = RequireScalar(*value, "one of " + Join(choices));
  if (!scalar.ok()) return Fail(key, scalar.error().message());
  for (size_t i = 0; i < choices.size(); ++i) {
    if (value->scalar == choices[i]) {
      *out = static_cast<int>(i);
      return;
    }
  }
  Fail(key, fmt::format("'{}' is not a valid {}{}; valid values are {}", value->scalar, key,
                        DidYouMean(value->scalar, choices), Join(choices)));
}

void YamlReader::Fail(const std::string& key, const std::string& message) {
  if (diagnostics_ == nullptr) return;
  // A value that was not read is reported already.
  if (std::find(unread_.begin(), unread_.end(), key) != unread_.end()) return;
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
    diagnostics_->Add(
        key.ErrorHere(fmt::format("unknown key '{}' in '{}'{}; valid keys are {}", key.scalar,
                                  what_, DidYouMean(key.scalar, known_), Join(known_))));
  }
}

template <typename T>
bool YamlReader::Store(const Result<T>& result, T* out) {
  if (result.ok())
    *out = *result;
  else if (diagnostics_ != nullptr)
    diagnostics_->Add(result.error());
  return result.ok();
}

template <>
bool YamlReader::Parse(const YamlNode& node, int64_t* out) {
  return Store(AsInteger(node), out);
}
template <>
bool YamlReader::Parse(const YamlNode& node, int* out) {
  Result<int64_t> result = AsInteger(node);
  if (result.ok() && (*result < INT32_MIN || *result > INT32_MAX)) {
    result = node.ErrorHere(fmt::format("'{}' is too large", node.scalar));
  }
  int64_t value = 0;
  if (!Store(result, &value)) return false;
  *out = static_cast<int>(value);
  return true;
}
template <>
bool YamlReader::Parse(const YamlNode& node, double* out) {
  return Store(AsNumber(node), out);
}
template <>
bool YamlReader::Parse(const YamlNode& node, bool* out) {
  return Store(AsBool(node), out);
}
template <>
bool YamlReader::Parse(const YamlNode& node, std::string* out) {
  return Store(AsString(node), out);
}
template <>
bool YamlReader::Parse(const YamlNode& node, Time* out) {
  return Store(AsQuantity(node, "a time", &ParseTime), out);
}
template <>
bool YamlReader::Parse(const YamlNode& node, Bytes* out) {
  return Store(AsQuantity(node, "a size", &ParseBytes), out);
}
template <>
bool YamlReader::Parse(const YamlNode& node, Bandwidth* out) {
  return Store(AsQuantity(node, "a bandwidth", &ParseBandwidth), out);
}
template <>
bool YamlReader::Parse(const YamlNode& node, FlopRate* out) {
  return Store(AsQuantity(node, "a rate", &ParseFlopRate), out);
}

}  // namespace drydock
