#include "workload-gen/import/shell/shell_condition.h"

#include <algorithm>
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
  bool not_assigned = false;  // the word is a variable that the script does not assign
  bool vanishes = false;      // and is not quoted: no word
  bool count = false;         // $# of the script itself
};

// Returns the name of the first part that is not known, or "".
std::string NeedsOf(const ShellText& word, const ShellSession& session) {
  for (const ShellChar& c : word) {
    if (c.unresolved >= 0) return session.Of(c).what;
  }
  return "";
}

Operand OperandOf(const ShellText& word, const ShellSession& session) {
  Operand operand{PlainText(word), IsResolved(word)};
  if (word.empty() || operand.known) return operand;
  operand.not_assigned = std::all_of(word.begin(), word.end(), [&](const ShellChar& c) {
    return c.unresolved >= 0 && session.Of(c).kind == ShellUnknown::Kind::kNotAssigned;
  });
  operand.vanishes = operand.not_assigned && IsWide(word);
  operand.count = operand.not_assigned && word.size() == 1 && session.Of(word[0]).what == "$#";
  return operand;
}

bool IsNumberSign(const std::string& sign) {
  return sign == "-eq" || sign == "-ne" || sign == "-gt" || sign == "-ge" || sign == "-lt" ||
         sign == "-le";
}

ShellTruth CompareNumbers(const std::string& sign, int64_t a, int64_t b) {
  if (sign == "-eq") return Truth(a == b);
  if (sign == "-ne") return Truth(a != b);
  if (sign == "-gt") return Truth(a > b);
  if (sign == "-ge") return Truth(a >= b);
  if (sign == "-lt") return Truth(a < b);
  return Truth(a <= b);
}

// A whole number of [ ]: decimal, with blanks around it and a sign.
std::optional<int64_t> DecimalOf(const std::string& text) {
  const size_t begin = text.find_first_not_of(" \t\n");
  if (begin == std::string::npos) return std::nullopt;
  const size_t end = text.find_last_not_of(" \t\n");
  std::string digits = text.substr(begin, end - begin + 1);
  if (digits.size() > 1 && digits[0] == '+' && digits[1] != '-') digits.erase(0, 1);
  return WholeNumber(digits);
}

// [ ... ] and test.
class SingleTest {
 public:
  explicit SingleTest(std::vector<Operand> words) : words_(std::move(words)) {}

  ShellAnswer Evaluate() {
    // An unquoted word that is not known may be no word or several.
    ShellAnswer answer;
    const bool whole = words_.size() <= 4;
    answer.truth = whole ? Few(0, words_.size()) : Many();
    answer.assumed = assumed_;
    return answer;
  }

 private:
  ShellTruth IsEmpty(const Operand& a) {
    if (a.not_assigned) {
      assumed_ = true;
      return ShellTruth::kTrue;
    }
    if (!a.text.empty()) return ShellTruth::kFalse;
    return a.known ? ShellTruth::kTrue : ShellTruth::kUnknown;
  }

  ShellTruth Compare(const Operand& a, const std::string& sign, const Operand& b) {
    if (IsNumberSign(sign)) {
      const auto number = [&](const Operand& operand) -> std::optional<int64_t> {
        if (operand.count) {
          assumed_ = true;
          return 0;
        }
        return operand.known ? DecimalOf(operand.text) : std::nullopt;
      };
      const std::optional<int64_t> left = number(a), right = number(b);
      if (!left.has_value() || !right.has_value()) return ShellTruth::kUnknown;
      return CompareNumbers(sign, *left, *right);
    }
    if (!a.known || !b.known) return ShellTruth::kUnknown;
    if (sign == "=" || sign == "==") return Truth(a.text == b.text);
    if (sign == "!=") return Truth(a.text != b.text);
    return ShellTruth::kUnknown;
  }

  static bool IsBinary(const Operand& word) {
    if (!word.known) return false;
    const std::string& sign = word.text;
    return IsNumberSign(sign) || sign == "=" || sign == "==" || sign == "!=" || sign == "<" ||
           sign == ">" || sign == "-nt" || sign == "-ot" || sign == "-ef";
  }

  bool Is(size_t at, const char* text) const { return words_[at].known && words_[at].text == text; }

  // Up to four words, whose meaning depends on their number, as POSIX has it.
  ShellTruth Few(size_t begin, size_t count) {
    const auto& w = words_;
    if (count == 0) return ShellTruth::kFalse;
    if (count == 1) {
      // [ $X ] without X is [ ].
      return Not(IsEmpty(w[begin]));
    }
    if (count == 2) {
      if (Is(begin, "!")) return Not(Few(begin + 1, 1));
      if (Is(begin, "-z")) return IsEmpty(w[begin + 1]);
      if (Is(begin, "-n")) {
        if (!w[begin + 1].vanishes) return Not(IsEmpty(w[begin + 1]));
        assumed_ = true;  // [ -n ] is true: -n is a text
        return ShellTruth::kTrue;
      }
      return ShellTruth::kUnknown;
    }
    if (count == 3) {
      if (IsBinary(w[begin + 1])) return Compare(w[begin], w[begin + 1].text, w[begin + 2]);
      if (Is(begin + 1, "-a")) return And(Few(begin, 1), Few(begin + 2, 1));
      if (Is(begin + 1, "-o")) return Or(Few(begin, 1), Few(begin + 2, 1));
      if (Is(begin, "!")) return Not(Few(begin + 1, 2));
      return ShellTruth::kUnknown;
    }
    if (Is(begin, "!")) return Not(Few(begin + 1, 3));
    return ShellTruth::kUnknown;
  }

  // Comparisons between -a and -o.
  ShellTruth Many() {
    ShellTruth any = ShellTruth::kFalse, all = ShellTruth::kTrue;
    size_t begin = 0;
    for (size_t i = 0; i <= words_.size(); ++i) {
      const bool ends = i == words_.size();
      if (!ends && (Is(i, "(") || Is(i, ")"))) return ShellTruth::kUnknown;
      const bool is_or = !ends && Is(i, "-o"), is_and = !ends && Is(i, "-a");
      if (!ends && !is_or && !is_and) continue;
      if (i == begin || i - begin > 4) return ShellTruth::kUnknown;
      all = And(all, Few(begin, i - begin));
      begin = i + 1;
      if (is_and) continue;
      any = Or(any, all);
      all = ShellTruth::kTrue;
    }
    return any;
  }

  const std::vector<Operand> words_;
  bool assumed_ = false;
};

// [[ ... ]]
class DoubleTest {
 public:
  DoubleTest(const std::vector<ShellTestToken>& tokens, ShellState* state, ShellExpander* expander)
      : tokens_(tokens), state_(*state), expander_(*expander) {}

  ShellAnswer Evaluate() {
    ShellAnswer answer;
    answer.truth = Either();
    if (at_ != tokens_.size()) answer.truth = ShellTruth::kUnknown;
    answer.assumed = assumed_;
    answer.needs = needs_;
    return answer;
  }

 private:
  ShellText TextOf(const ShellWord& word) {
    ShellText text = expander_.Text(word);
    if (needs_.empty()) needs_ = NeedsOf(text, state_.session());
    return text;
  }

  bool AtSign(const char* sign) const { return at_ < tokens_.size() && tokens_[at_].sign == sign; }
  bool AtWord() const { return at_ < tokens_.size() && tokens_[at_].sign.empty(); }
  std::string Literal(size_t at) const {
    return at < tokens_.size() && tokens_[at].sign.empty()
               ? LiteralWord(tokens_[at].word).value_or("")
               : "";
  }

  ShellTruth Either() {
    ShellTruth value = Both();
    while (AtSign("||")) {
      ++at_;
      value = Or(value, After(value, ShellTruth::kTrue, [this] { return Both(); }));
    }
    return value;
  }

  ShellTruth Both() {
    ShellTruth value = Factor();
    while (AtSign("&&")) {
      ++at_;
      value = And(value, After(value, ShellTruth::kFalse, [this] { return Factor(); }));
    }
    return value;
  }

  // Evaluates a part, unless what stands before it decides; expansions in it may assign.
  template <typename Part>
  ShellTruth After(ShellTruth before, ShellTruth decides, Part part) {
    const bool skip = before == decides;
    skip_ += skip;
    const ShellState saved = state_;
    const ShellTruth value = part();
    if (before == ShellTruth::kUnknown && skip_ == 0) {
      state_.Join(
          saved, "this condition may assign it",
          at_ > 0 && !tokens_[at_ - 1].word.empty() ? tokens_[at_ - 1].word[0].c : ShellChar());
    }
    skip_ -= skip;
    return value;
  }

  ShellTruth Factor() {
    if (Literal(at_) == "!") {
      ++at_;
      return Not(Factor());
    }
    if (AtSign("(")) {
      ++at_;
      const ShellTruth value = Either();
      if (!AtSign(")")) return ShellTruth::kUnknown;
      ++at_;
      return value;
    }
    if (!AtWord()) return ShellTruth::kUnknown;
    const std::string sign =
        at_ + 1 < tokens_.size()
            ? (tokens_[at_ + 1].sign.empty() ? Literal(at_ + 1) : tokens_[at_ + 1].sign)
            : "";
    const bool binary = IsNumberSign(sign) || sign == "=" || sign == "==" || sign == "!=" ||
                        sign == "=~" || sign == "<" || sign == ">" || sign == "-nt" ||
                        sign == "-ot" || sign == "-ef";
    if (binary && at_ + 2 < tokens_.size()) {
      at_ += 3;
      return Compare(tokens_[at_ - 3].word, sign, tokens_[at_ - 1].word);
    }
    const std::string flag = Literal(at_);
    if (flag.size() == 2 && flag[0] == '-' && at_ + 1 < tokens_.size() &&
        tokens_[at_ + 1].sign.empty()) {
      at_ += 2;
      return Unary(flag, tokens_[at_ - 1].word);
    }
    return Not(IsEmpty(tokens_[at_++].word));
  }

  ShellTruth IsEmpty(const ShellWord& word) {
    if (skip_ > 0) return ShellTruth::kUnknown;
    const Operand a = OperandOf(TextOf(word), state_.session());
    if (a.not_assigned) {
      assumed_ = true;
      return ShellTruth::kTrue;
    }
    if (!a.text.empty()) return ShellTruth::kFalse;
    return a.known ? ShellTruth::kTrue : ShellTruth::kUnknown;
  }

  ShellTruth Unary(const std::string& flag, const ShellWord& word) {
    if (skip_ > 0) return ShellTruth::kUnknown;
    if (flag == "-z") return IsEmpty(word);
    if (flag == "-n") return Not(IsEmpty(word));
    const ShellText text = TextOf(word);
    if (flag != "-v" || !IsResolved(text) || !IsShellName(PlainText(text))) {
      return ShellTruth::kUnknown;
    }
    const std::string name = PlainText(text);
    const ShellVariable* variable = state_.Find(name);
    if (state_.Distrusted(name, {}).has_value()) return ShellTruth::kUnknown;
    if (variable != nullptr) {
      if (variable->unknown >= 0) return ShellTruth::kUnknown;
      return Truth(variable->is_set && variable->text() != nullptr);
    }
    const ShellUnknown& unknown = state_.session().Of(state_.Unassigned(name, {}));
    if (unknown.kind != ShellUnknown::Kind::kNotAssigned) return ShellTruth::kUnknown;
    assumed_ = true;
    return ShellTruth::kFalse;
  }

  ShellTruth Compare(const ShellWord& left, const std::string& sign, const ShellWord& right) {
    if (skip_ > 0) return ShellTruth::kUnknown;
    if (IsNumberSign(sign)) {
      const auto number = [&](const ShellWord& word) -> std::optional<int64_t> {
        const ShellText text = TextOf(word);
        if (OperandOf(text, state_.session()).count) {
          assumed_ = true;
          return 0;
        }
        return expander_.NumberOf(text).value;
      };
      const std::optional<int64_t> a = number(left), b = number(right);
      if (!a.has_value() || !b.has_value()) return ShellTruth::kUnknown;
      return CompareNumbers(sign, *a, *b);
    }
    const ShellText text = TextOf(left);
    if (sign == "=~") {
      expander_.Text(right);
      return ShellTruth::kUnknown;
    }
    const std::optional<ShellPattern> pattern = expander_.Pattern(right);
    if (!IsResolved(text) || !pattern.has_value()) return ShellTruth::kUnknown;
    if (sign == "=" || sign == "==") return Truth(Matches(*pattern, PlainText(text)));
    if (sign == "!=") return Truth(!Matches(*pattern, PlainText(text)));
    return ShellTruth::kUnknown;
  }

  const std::vector<ShellTestToken>& tokens_;
  ShellState& state_;
  ShellExpander& expander_;
  size_t at_ = 0;
  int skip_ = 0;
  bool assumed_ = false;
  std::string needs_;
};

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

ShellAnswer EvaluateTest(const std::vector<ShellText>& words, const ShellSession& session) {
  std::vector<Operand> operands;
  for (size_t i = 1; i < words.size(); ++i) operands.push_back(OperandOf(words[i], session));
  if (PlainText(words[0]) == "[") {
    // Without its ] the command fails.
    if (operands.empty() || !operands.back().known || operands.back().text != "]") return {};
    operands.pop_back();
  }
  // An unquoted value that is not known may be several words, except in the common -z and -n.
  const bool wide = std::any_of(words.begin(), words.end(), [&](const ShellText& word) {
    return IsWide(word) && !OperandOf(word, session).not_assigned;
  });
  std::string needs;
  for (const ShellText& word : words) {
    if (needs.empty()) needs = NeedsOf(word, session);
  }
  ShellAnswer answer;
  if (!wide) answer = SingleTest(std::move(operands)).Evaluate();
  answer.needs = needs;
  return answer;
}

ShellAnswer EvaluateDoubleTest(const std::vector<ShellTestToken>& tokens, ShellState* state,
                               ShellExpander* expander) {
  return DoubleTest(tokens, state, expander).Evaluate();
}

}  // namespace drydock
