#include "study/axes/constraint.h"

#include <fmt/format.h>
#include <muParser.h>

#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

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

// The place of a '=' that is part of no comparison.
size_t FindAssignment(const std::string& text) {
  for (size_t at = text.find('='); at != std::string::npos; at = text.find('=', at + 1)) {
    const bool compares = at > 0 && std::string_view("<>!").find(text[at - 1]) != std::string::npos;
    const bool twice = at + 1 < text.size() && text[at + 1] == '=';
    if (!compares && !twice) return at;
    if (!compares) ++at;
  }
  return std::string::npos;
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
  // muParser takes it for an assignment to the axis.
  if (const size_t at = FindAssignment(text); at != std::string::npos) {
    return wrong(fmt::format("'=' at position {} changes nothing; write '==' to compare", at + 1));
  }
  mu::Parser& parser = compiled->parser;
  parser.DefineNameChars(kNameCharacters);
  parser.DefineOprt(
      "%", [](double a, double b) { return std::fmod(a, b); }, mu::prMUL_DIV);
  try {
    parser.SetExpr(text);
    // muParser calls a name without a value a variable that is used.
    // DefineVar changes the map that GetUsedVar returns.
    std::vector<std::string> names;
    for (const auto& [name, unused] : parser.GetUsedVar()) names.push_back(name);
    for (const std::string& name : names) {
      const Result<size_t> axis = FindAxis(axes, name);
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
  const double value = compiled_->parser.Eval();
  return value != 0 && !std::isnan(value);
}

}  // namespace drydock
