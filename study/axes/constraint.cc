#include "study/axes/constraint.h"

#include <fmt/format.h>
#include <muParser.h>

#include <charconv>
#include <map>
#include <optional>
#include <utility>

#include "core/base/spelling.h"

namespace drydock {
namespace {

constexpr const char* kNameCharacters =
    "0123456789_.abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

// The number that a value begins with; nothing if it does not begin with one.
std::optional<double> NumberOf(const std::string& value) {
  double number = 0;
  const char* end = value.data() + value.size();
  const auto [at, failed] = std::from_chars(value.data(), end, number);
  // A unit may follow, after a space or at once; "4-8" or "1.2.3" is a word.
  if (failed != std::errc() || (at != end && *at != ' ' && !isalpha(*at))) return std::nullopt;
  return number;
}

std::vector<std::string> NamesOf(const std::vector<Axis>& axes) {
  std::vector<std::string> names;
  for (const Axis& axis : axes) names.push_back(axis.ShortName());
  for (const Axis& axis : axes) names.push_back(axis.key);
  return names;
}

// The axis that `name` means.
Result<size_t> AxisCalled(const std::string& name, const std::vector<Axis>& axes) {
  std::vector<size_t> found;
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i].key == name) return i;
    if (axes[i].ShortName() == name) found.push_back(i);
  }
  if (found.size() == 1) return found[0];
  if (found.empty()) {
    return Error(fmt::format("there is no axis '{}'{}", name, DidYouMean(name, NamesOf(axes))));
  }
  return Error(fmt::format("'{}' may be {} or {}; write the whole key", name, axes[found[0]].key,
                           axes[found[1]].key));
}

}  // namespace

struct Constraint::Compiled {
  mu::Parser parser;
  std::vector<std::vector<double>> numbers;  // by axis; empty: the expression does not name it
  std::vector<double> present;               // by axis: what the parser reads
};

Constraint::Constraint(std::string text, std::unique_ptr<Compiled> compiled)
    : text_(std::move(text)), compiled_(std::move(compiled)) {}
Constraint::Constraint(Constraint&&) noexcept = default;
Constraint::~Constraint() = default;

Result<Constraint> Constraint::Parse(const std::string& text, const std::vector<Axis>& axes) {
  const auto wrong = [&](const std::string& what) {
    return Error(fmt::format("constraint '{}': {}", text, what));
  };
  auto compiled = std::make_unique<Compiled>();
  compiled->numbers.resize(axes.size());
  compiled->present.resize(axes.size());
  mu::Parser& parser = compiled->parser;
  parser.DefineNameChars(kNameCharacters);
  parser.DefineOprt(
      "%",
      [](double a, double b) {
        return b == 0 ? 1.0
                      : static_cast<double>(static_cast<int64_t>(a) % static_cast<int64_t>(b));
      },
      mu::prMUL_DIV);
  try {
    parser.SetExpr(text);
    // muParser calls a name without a value a variable that is used.
    // DefineVar changes the map that GetUsedVar returns.
    std::vector<std::string> names;
    for (const auto& [name, unused] : parser.GetUsedVar()) names.push_back(name);
    for (const std::string& name : names) {
      const Result<size_t> axis = AxisCalled(name, axes);
      if (!axis.ok()) return wrong(axis.error().message());
      std::vector<double>& numbers = compiled->numbers[*axis];
      numbers.clear();
      for (const std::string& value : axes[*axis].values) {
        const std::optional<double> number = NumberOf(value);
        if (!number) {
          return wrong(fmt::format("'{}' of the axis {} is not a number", value, axes[*axis].key));
        }
        numbers.push_back(*number);
      }
      compiled->present[*axis] = numbers.front();
      parser.DefineVar(name, &compiled->present[*axis]);
    }
    parser.Eval();
  } catch (const mu::Parser::exception_type& error) {
    std::string message = error.GetMsg();
    return wrong(fmt::format("not an expression ({})", message));
  }
  return Constraint(text, std::move(compiled));
}

bool Constraint::Holds(const std::vector<size_t>& values) const {
  for (size_t i = 0; i < values.size(); ++i) {
    const std::vector<double>& numbers = compiled_->numbers[i];
    if (!numbers.empty()) compiled_->present[i] = numbers[values[i]];
  }
  return compiled_->parser.Eval() != 0;
}

}  // namespace drydock
