#include "study/axes/axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "core/base/spelling.h"

namespace drydock {
namespace {

constexpr const char* kItems =
    "give values or ranges, separated by commas: 1,2,4 or 8..64 or 8..64+8 or 8..64*2";

std::string_view Trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(' ');
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

bool IsQuote(char c) { return c == '"' || c == '\''; }

std::string Unquoted(std::string_view text) {
  const bool quoted = text.size() >= 2 && IsQuote(text.front()) && text.back() == text.front();
  return std::string(quoted ? text.substr(1, text.size() - 2) : text);
}

// Splits at commas outside of brackets, braces and quotes.
Result<std::vector<std::string>> ItemsOf(const std::string& text) {
  std::vector<std::string> items(1);
  int depth = 0;
  char quote = 0;
  for (const char c : text) {
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (IsQuote(c)) {
      quote = c;
    } else if (c == '[' || c == '{') {
      ++depth;
    } else if (c == ']' || c == '}') {
      --depth;
    } else if (c == ',' && depth == 0) {
      items.emplace_back();
      continue;
    }
    items.back() += c;
  }
  if (quote != 0 || depth != 0) {
    return Error(fmt::format("'{}' has an open {}", text, quote != 0 ? "quote" : "bracket"));
  }
  return items;
}

std::optional<int64_t> IntegerOf(std::string_view text) {
  int64_t value = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed != std::errc() || end != text.data() + text.size() || text.empty()) return {};
  return value;
}

// Adds the values of the range "8..64*2". Returns false if `item` is not a range of integers.
Result<bool> AddRange(std::string_view item, std::vector<std::string>* values) {
  const size_t dots = item.find("..");
  if (dots == std::string_view::npos) return false;
  const std::string_view rest = item.substr(dots + 2);
  const size_t sign = rest.find_first_of("+*");
  const std::optional<int64_t> first = IntegerOf(Trimmed(item.substr(0, dots)));
  const std::optional<int64_t> last = IntegerOf(Trimmed(rest.substr(0, sign)));
  if (!first || !last) return false;
  int64_t step = 1;
  const bool factor = sign != std::string_view::npos && rest[sign] == '*';
  if (sign != std::string_view::npos) {
    const std::optional<int64_t> given = IntegerOf(Trimmed(rest.substr(sign + 1)));
    if (!given || *given < (factor ? 2 : 1)) {
      return Error(fmt::format("'{}': the step of a range is a number from {} on", item,
                               factor ? "2" : "1"));
    }
    step = *given;
  }
  if (*last < *first) return Error(fmt::format("'{}': the range ends before it begins", item));
  if (factor && *first < 1) {
    return Error(fmt::format("'{}': a range with a factor begins at 1 or above", item));
  }
  for (int64_t value = *first; value <= *last;) {
    if (values->size() >= kMaxAxisValues) {
      return Error(fmt::format("'{}': an axis has at most {} values", item, kMaxAxisValues));
    }
    values->push_back(std::to_string(value));
    if (factor ? value > *last / step : value > *last - step) break;
    value = factor ? value * step : value + step;
  }
  return true;
}

Status AddItem(const std::string& item, std::vector<std::string>* values) {
  const std::string_view text = Trimmed(item);
  if (text.empty()) return Error(fmt::format("an empty value; {}", kItems));
  ASSIGN_OR_RETURN(const bool range, AddRange(text, values));
  if (!range) values->push_back(Unquoted(text));
  return OkStatus();
}

Status CheckDistinct(const Axis& axis) {
  std::vector<std::string> sorted = axis.values;
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice == sorted.end()) return OkStatus();
  return Error(fmt::format("the value {} appears twice", *twice));
}

Status CheckKey(const std::string& key) {
  const size_t dot = key.find('.');
  if (dot != std::string::npos && dot > 0 && dot + 1 < key.size()) return OkStatus();
  return Error(
      fmt::format("an axis is a key of the model or the cluster, such as "
                  "parallel.tensor or cluster.hosts, not '{}'",
                  key));
}

}  // namespace

Result<Axis> ParseAxis(const std::string& text) {
  const auto wrong = [&](const std::string& what) {
    return Error(fmt::format("--over {}: {}", text, what));
  };
  const size_t equals = text.find('=');
  if (equals == std::string::npos) return wrong(fmt::format("no '='; {}", kItems));
  Axis axis;
  axis.key = Trimmed(std::string_view(text).substr(0, equals));
  if (const Status key = CheckKey(axis.key); !key.ok()) return wrong(key.error().message());
  const Result<std::vector<std::string>> items = ItemsOf(text.substr(equals + 1));
  if (!items.ok()) return wrong(items.error().message());
  for (const std::string& item : *items) {
    if (const Status added = AddItem(item, &axis.values); !added.ok()) {
      return wrong(added.error().message());
    }
  }
  if (const Status distinct = CheckDistinct(axis); !distinct.ok()) {
    return wrong(distinct.error().message());
  }
  return axis;
}

Result<Axis> AxisOf(const YamlNode& key, const YamlNode& value) {
  Axis axis;
  axis.key = key.scalar;
  axis.location = key.location;
  if (const Status known = CheckKey(axis.key); !known.ok()) {
    return key.ErrorHere(known.error().message());
  }
  const std::vector<YamlNode> items =
      value.kind == YamlNode::Kind::kList ? value.items : std::vector<YamlNode>{value};
  for (const YamlNode& item : items) {
    if (item.kind == YamlNode::Kind::kNull) {
      return item.ErrorHere(fmt::format("an empty value of {}", axis.key));
    }
    // A list or a map is a value of its own: {fabric.torus.dimensions: [[4, 4], [8, 2]]}.
    if (item.kind != YamlNode::Kind::kScalar) {
      axis.values.push_back(ToYaml(item));
      continue;
    }
    if (const Status added = AddItem(item.scalar, &axis.values); !added.ok()) {
      return item.ErrorHere(added.error().message());
    }
  }
  if (axis.values.empty()) return value.ErrorHere(fmt::format("no value of {}", axis.key));
  if (const Status distinct = CheckDistinct(axis); !distinct.ok()) {
    return value.ErrorHere(distinct.error().message());
  }
  return axis;
}

Result<size_t> FindAxis(const std::vector<Axis>& axes, const std::string& name) {
  std::vector<size_t> found;
  std::vector<std::string> names;
  for (size_t i = 0; i < axes.size(); ++i) {
    const std::string& key = axes[i].key;
    if (key == name) return i;
    if (key.ends_with("." + name)) found.push_back(i);
    names.push_back(key.substr(key.rfind('.') + 1));
  }
  if (found.size() == 1) return found[0];
  if (found.empty()) {
    for (const Axis& axis : axes) names.push_back(axis.key);
    return Error(fmt::format("there is no axis '{}'{}", name, DidYouMean(name, names)));
  }
  return Error(fmt::format("'{}' may be {} or {}; write more of the key", name, axes[found[0]].key,
                           axes[found[1]].key));
}

}  // namespace drydock
