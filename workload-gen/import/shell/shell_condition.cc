#include "workload-gen/import/shell/shell_condition.h"

#include <optional>
#include <string>

#include "core/base/scan.h"

namespace drydock {
namespace {

ShellTruth Truth(bool value) { return value ? ShellTruth::kTrue : ShellTruth::kFalse; }

// A word of a condition.
struct Operand {
  std::string text;
  bool known = true;
  bool unset = false;  // the word is an unset variable
};

Operand OperandOf(const ShellText& word, const ShellVariables& variables) {
  Operand operand{PlainText(word), IsResolved(word), false};
  if (word.size() != 1 || operand.known) return operand;
  const std::string& what = variables.NameOf(word.front());  // "$NAME", or "$(...)"
  bool name = what.size() > 1;
  for (size_t i = 1; i < what.size(); ++i) name = name && IsNameCharacter(what[i]);
  operand.unset = name;
  return operand;
}

ShellTruth CompareNumbers(const std::string& sign, int64_t a, int64_t b) {
  if (sign == "-eq") return Truth(a == b);
  if (sign == "-ne") return Truth(a != b);
  if (sign == "-gt") return Truth(a > b);
  if (sign == "-ge") return Truth(a >= b);
  if (sign == "-lt") return Truth(a < b);
  if (sign == "-le") return Truth(a <= b);
  return ShellTruth::kUnknown;
}

ShellTruth Compare(const Operand& a, const std::string& sign, const Operand& b) {
  if (!a.known || !b.known) return ShellTruth::kUnknown;
  if (sign == "=" || sign == "==" || sign == "!=") {
    if (b.text.find_first_of("*?[") != std::string::npos) return ShellTruth::kUnknown;
    return Truth((a.text == b.text) == (sign != "!="));
  }
  const std::optional<int64_t> left = WholeNumber(a.text), right = WholeNumber(b.text);
  if (!left.has_value() || !right.has_value()) return ShellTruth::kUnknown;
  return CompareNumbers(sign, *left, *right);
}

ShellTruth IsEmpty(const Operand& a) {
  if (a.unset) return ShellTruth::kTrue;
  if (!a.text.empty()) return ShellTruth::kFalse;
  return a.known ? ShellTruth::kTrue : ShellTruth::kUnknown;
}

// One comparison, between && and ||.
ShellTruth Primary(std::vector<Operand> words) {
  bool negated = false;
  while (!words.empty() && words.front().text == "!" && words.size() > 1) {
    negated = !negated;
    words.erase(words.begin());
  }
  ShellTruth value = ShellTruth::kUnknown;
  if (words.empty()) {
    value = ShellTruth::kFalse;
  } else if (words.size() == 1) {
    // A single word is true unless empty. An operator without its operand is a single word too.
    value = Not(IsEmpty(words[0]));
  } else if (words.size() == 2 && words[0].text == "-z") {
    value = IsEmpty(words[1]);
  } else if (words.size() == 2 && words[0].text == "-n") {
    value = Not(IsEmpty(words[1]));
  } else if (words.size() == 3) {
    value = Compare(words[0], words[1].text, words[2]);
  }
  return negated ? Not(value) : value;
}

}  // namespace

ShellTruth Not(ShellTruth value) {
  if (value == ShellTruth::kUnknown) return value;
  return Truth(value == ShellTruth::kFalse);
}

ShellTruth And(ShellTruth a, ShellTruth b) {
  if (a == ShellTruth::kFalse || b == ShellTruth::kFalse) return ShellTruth::kFalse;
  return a == ShellTruth::kTrue ? b : a;
}

ShellTruth Or(ShellTruth a, ShellTruth b) { return Not(And(Not(a), Not(b))); }

bool IsShellCondition(const std::vector<ShellText>& words) {
  if (words.empty()) return false;
  const std::string first = PlainText(words.front());
  return first == "[" || first == "[[" || first == "test";
}

ShellTruth EvaluateShellCondition(const std::vector<ShellText>& words,
                                  const ShellVariables& variables) {
  ShellTruth any = ShellTruth::kFalse, all = ShellTruth::kTrue;
  std::vector<Operand> part;
  for (size_t i = 1; i <= words.size(); ++i) {
    const Operand operand = i < words.size() ? OperandOf(words[i], variables) : Operand{"]"};
    const bool is_or = operand.text == "||" || operand.text == "-o";
    const bool is_and = operand.text == "&&" || operand.text == "-a";
    const bool ends = operand.text == "]" || operand.text == "]]";
    if (!is_or && !is_and && !ends) {
      part.push_back(operand);
      continue;
    }
    all = And(all, Primary(std::move(part)));
    part = {};
    if (is_and) continue;
    any = Or(any, all);
    all = ShellTruth::kTrue;
    if (ends) break;
  }
  return any;
}

}  // namespace drydock
