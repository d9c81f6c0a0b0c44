#include "workload-gen/import/recipe/recipe_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "core/base/scan.h"

namespace drydock {
namespace {

constexpr int kMaxDepth = 20;  // of references to references

// The end of the "}" that closes the "${" at `begin`; npos if there is none.
size_t EndOf(const std::string& text, size_t begin) {
  int open = 0;
  for (size_t i = begin; i < text.size(); ++i) {
    if (text.compare(i, 2, "${") == 0) ++open;
    if (text[i] == '}' && --open == 0) return i;
  }
  return std::string::npos;
}

std::string Trimmed(const std::string& text) {
  const size_t begin = text.find_first_not_of(" \t");
  return begin == std::string::npos ? ""
                                    : text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

// "a, ${f:b, c}" has two parts.
std::vector<std::string> SplitArguments(const std::string& text) {
  std::vector<std::string> parts(1);
  int open = 0;
  for (const char c : text) {
    if (c == '{') ++open;
    if (c == '}') --open;
    if (c == ',' && open == 0)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

// A whole number with a sign.
std::optional<int64_t> SignedNumber(const std::string& text) {
  const bool negative = text.starts_with("-");
  const std::optional<int64_t> number = WholeNumber(negative ? text.substr(1) : text);
  if (!number.has_value() || *number > int64_t{1} << 40) return std::nullopt;
  return negative ? -*number : *number;
}

std::optional<int64_t> Compute(const std::string& function, int64_t a, int64_t b) {
  int64_t product = 0;
  if (function == "multiply") {
    if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
    return product;
  }
  if (function == "sum") return a + b;
  if (b <= 0 || a < 0) return std::nullopt;
  if (function == "divide_floor") return a / b;
  if (function == "divide_ceil") return (a + b - 1) / b;
  if (function == "divide" && a % b == 0) return a / b;
  return std::nullopt;
}

void SetUnknown(const std::string& inside, const std::string& why, const std::string& variable,
                ScriptWord* word) {
  if (!word->unresolved.empty()) return;
  word->unresolved = "${" + inside + "}";
  word->why = why;
  word->variable = variable;
  word->known = 0;
}

}  // namespace

const YamlNode* RecipeValues::Find(const std::string& path) const {
  const YamlNode* node = &root_;
  size_t begin = 0;
  while (node != nullptr && begin <= path.size()) {
    const size_t dot = std::min(path.find('.', begin), path.size());
    if (node->kind != YamlNode::Kind::kMap) return nullptr;
    node = node->Find(path.substr(begin, dot - begin));
    begin = dot + 1;
  }
  return node;
}

ScriptWord RecipeValues::Value(const std::string& path, const YamlNode& node) const {
  ScriptWord word;
  word.location = node.location;
  word.source_line = node.source_line;
  word.text = Resolve(node.scalar, path, 0, &word);
  return word;
}

std::string RecipeValues::Resolve(const std::string& text, const std::string& path, int depth,
                                  ScriptWord* word) const {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const size_t end = text.compare(i, 2, "${") == 0 ? EndOf(text, i) : std::string::npos;
    if (end == std::string::npos) {
      out += text[i];
      continue;
    }
    out += Reference(Trimmed(text.substr(i + 2, end - i - 2)), path, depth + 1, word);
    i = end;
  }
  return out;
}

std::string RecipeValues::Reference(const std::string& inside, const std::string& path, int depth,
                                    ScriptWord* word) const {
  if (depth > kMaxDepth) {
    SetUnknown(inside, "references go in a circle or are nested too deeply", "", word);
    return "";
  }
  const size_t colon = inside.find(':');
  if (colon != std::string::npos) {
    return Computed(inside.substr(0, colon), inside.substr(colon + 1), path, depth, word);
  }
  std::string target = inside;
  if (inside.starts_with(".")) {
    std::string base = path;
    size_t at = 0;
    for (; at < inside.size() && inside[at] == '.'; ++at) {
      const size_t dot = base.rfind('.');
      base = dot == std::string::npos ? "" : base.substr(0, dot);
    }
    target = base.empty() ? inside.substr(at) : base + "." + inside.substr(at);
  }
  const auto given = variables_.find(target);
  if (given != variables_.end()) return given->second;
  const YamlNode* node = Find(target);
  // The launcher of NeMo puts the file under `training`.
  if (node == nullptr && target.starts_with("training.")) {
    target = target.substr(9);
    node = Find(target);
  }
  if (node == nullptr || node->kind != YamlNode::Kind::kScalar) {
    SetUnknown(inside, "the file does not define it", target, word);
    return "";
  }
  return Resolve(node->scalar, target, depth, word);
}

std::string RecipeValues::Computed(const std::string& function, const std::string& arguments,
                                   const std::string& path, int depth, ScriptWord* word) const {
  const std::vector<std::string> parts = SplitArguments(arguments);
  std::optional<int64_t> result;
  for (size_t i = 0; i < parts.size(); ++i) {
    const std::optional<int64_t> number =
        SignedNumber(Trimmed(Resolve(Trimmed(parts[i]), path, depth, word)));
    result = !number.has_value() ? number : i == 0 ? number : Compute(function, *result, *number);
    if (!result.has_value()) break;
  }
  if (result.has_value()) return std::to_string(*result);
  SetUnknown(function + ":" + arguments,
             "only multiply, sum, divide, divide_floor and divide_ceil of whole numbers are read",
             "", word);
  return "";
}

}  // namespace drydock
