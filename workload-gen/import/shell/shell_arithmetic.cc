#include "workload-gen/import/shell/shell_arithmetic.h"

#include <fmt/format.h>

#include <cstring>

#include "workload-gen/import/shell/shell_text.h"

namespace drydock {
namespace {

constexpr int kMaxNesting = 64;
constexpr int kMaxVariables = 16;  // whose values name variables

using Number = std::optional<int64_t>;

// Returns the value of a digit in bases up to 64; 64 for another character.
int64_t DigitOf(char c, int64_t base) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'z') return c - 'a' + 10;
  if (c >= 'A' && c <= 'Z') return c - 'A' + (base <= 36 ? 10 : 36);
  if (c == '@') return 62;
  return c == '_' ? 63 : 64;
}

class Expression {
 public:
  Expression(std::string text, ShellNumberNames* names, int variables)
      : text_(std::move(text)), names_(*names), variables_(variables) {}

  ShellNumber Evaluate() {
    if (Next() == '\0') return {0, ""};
    const Number value = Comma();
    if (mistake_.empty() && Next() != '\0') Fail(fmt::format("unexpected '{}'", text_.substr(at_)));
    if (!mistake_.empty()) return {std::nullopt, mistake_};
    // bash refuses an operand that is no number.
    return {unknown_ ? std::nullopt : value, ""};
  }

 private:
  // A variable, or one of its elements.
  struct Place {
    std::string name;
    bool has_index = false;
    Number index;
  };

  // Skips blanks and returns the next character; '\0' at the end and after a mistake.
  char Next() {
    while (at_ < text_.size() && std::strchr(" \t\n", text_[at_]) != nullptr) ++at_;
    return at_ < text_.size() && mistake_.empty() ? text_[at_] : '\0';
  }
  bool At(const char* sign) {
    Next();
    return mistake_.empty() && text_.compare(at_, std::strlen(sign), sign) == 0;
  }
  bool Take(const char* sign) {
    if (!At(sign)) return false;
    at_ += std::strlen(sign);
    return true;
  }
  // Takes `sign`, unless it is the beginning of a longer operator.
  bool TakeAlone(const char* sign, const char* not_before) {
    if (!At(sign)) return false;
    const size_t next = at_ + std::strlen(sign);
    if (next < text_.size() && std::strchr(not_before, text_[next]) != nullptr) return false;
    at_ = next;
    return true;
  }
  Number Fail(const std::string& mistake) {
    if (mistake_.empty()) mistake_ = mistake;
    return std::nullopt;
  }

  Number Comma() {
    Number value = Assignment();
    while (Take(",")) value = Assignment();
    return value;
  }

  Number Assignment() {
    if (++depth_ > kMaxNesting) return Fail("it is nested too deeply");
    const bool name = IsNameStart(Next());
    const size_t before = at_;
    Number value;
    const std::string sign = name ? SignAfterPlace() : "";
    at_ = before;
    if (sign.empty()) {
      value = Choice();
    } else {
      const Place place = TakePlace();
      Take(sign.c_str());
      const Number right = Assignment();
      value = sign == "=" ? right : Combine(ValueOf(place), sign.substr(0, sign.size() - 1), right);
      Set(place, value);
    }
    --depth_;
    return value;
  }

  // Returns the assigning operator after the variable at the reader, or "".
  std::string SignAfterPlace() {
    ++skip_;
    TakePlace();
    --skip_;
    static constexpr const char* kSigns[] = {
        "<<=", ">>=", "*=", "/=", "%=", "+=", "-=", "&=", "^=", "|="};
    for (const char* sign : kSigns) {
      if (At(sign)) return sign;
    }
    return TakeAlone("=", "=") ? "=" : "";
  }

  // condition ? value : value
  Number Choice() {
    const Number condition = Either();
    if (!Take("?")) return condition;
    const bool known = condition.has_value();
    const Number yes = Guarded(known && *condition == 0, !known, [this] { return Comma(); });
    if (!Take(":")) return Fail("expected ':' after '?'");
    const Number no = Guarded(known && *condition != 0, !known, [this] { return Assignment(); });
    if (!known) return yes == no ? yes : std::nullopt;
    return *condition != 0 ? yes : no;
  }

  // Reads a part that is not evaluated (`skip`), or perhaps not (`maybe`).
  template <typename Part>
  Number Guarded(bool skip, bool maybe, Part part) {
    skip_ += skip;
    maybe_ += maybe;
    const Number value = part();
    skip_ -= skip;
    maybe_ -= maybe;
    return value;
  }

  static Number Truth(const Number& value) {
    return value.has_value() ? Number(*value != 0) : std::nullopt;
  }

  Number Either() {
    Number left = Both();
    while (Take("||")) {
      left = Truth(left);
      const Number right = Truth(Guarded(left == 1, !left.has_value(), [this] { return Both(); }));
      left = left == 1 || right == 1 ? 1 : left == 0 ? right : std::nullopt;
    }
    return left;
  }

  Number Both() {
    Number left = Binary(0);
    while (Take("&&")) {
      left = Truth(left);
      const Number right =
          Truth(Guarded(left == 0, !left.has_value(), [this] { return Binary(0); }));
      left = left == 0 || right == 0 ? 0 : left == 1 ? right : std::nullopt;
    }
    return left;
  }

  // Takes an operator of a level, from | to *.
  std::string TakeOperator(int level) {
    const auto first = [&](std::initializer_list<const char*> signs) -> std::string {
      for (const char* sign : signs) {
        if (Take(sign)) return sign;
      }
      return "";
    };
    switch (level) {
      case 0:
        return TakeAlone("|", "|=") ? "|" : "";
      case 1:
        return TakeAlone("^", "=") ? "^" : "";
      case 2:
        return TakeAlone("&", "&=") ? "&" : "";
      case 3:
        return first({"==", "!="});
      case 4:
        if (At("<<") || At(">>")) return "";
        return first({"<=", ">=", "<", ">"});
      case 5:
        return TakeAlone("<<", "=") ? "<<" : TakeAlone(">>", "=") ? ">>" : "";
      case 6:
        return TakeAlone("+", "=") ? "+" : TakeAlone("-", "=") ? "-" : "";
      default:
        if (At("**")) return "";
        return TakeAlone("*", "=")   ? "*"
               : TakeAlone("/", "=") ? "/"
               : TakeAlone("%", "=") ? "%"
                                     : "";
    }
  }

  Number Binary(int level) {
    if (level == 8) return Power();
    Number left = Binary(level + 1);
    for (std::string sign = TakeOperator(level); !sign.empty(); sign = TakeOperator(level)) {
      left = Combine(left, sign, Binary(level + 1));
    }
    return left;
  }

  Number Combine(const Number& left, const std::string& sign, const Number& right) {
    if (!mistake_.empty() || skip_ > 0) return std::nullopt;
    if ((sign == "/" || sign == "%") && right == 0) {
      return maybe_ > 0 ? std::nullopt : Fail("division by 0");
    }
    if (!left.has_value() || !right.has_value()) return std::nullopt;
    return Compute(*left, sign, *right);
  }

  static Number Compute(int64_t a, const std::string& sign, int64_t b) {
    int64_t value = 0;
    if (sign == "+") return __builtin_add_overflow(a, b, &value) ? Number() : value;
    if (sign == "-") return __builtin_sub_overflow(a, b, &value) ? Number() : value;
    if (sign == "*") return __builtin_mul_overflow(a, b, &value) ? Number() : value;
    if (sign == "/" || sign == "%") {
      if (a == INT64_MIN && b == -1) return std::nullopt;
      return sign == "/" ? a / b : a % b;
    }
    if (sign == "<<" || sign == ">>") {
      if (b < 0 || b > 62 || a < 0) return std::nullopt;
      if (sign == ">>") return a >> b;
      return a > (INT64_MAX >> b) ? Number() : a << b;
    }
    if (sign == "&") return a & b;
    if (sign == "|") return a | b;
    if (sign == "^") return a ^ b;
    if (sign == "==") return a == b;
    if (sign == "!=") return a != b;
    if (sign == "<=") return a <= b;
    if (sign == ">=") return a >= b;
    return sign == "<" ? a < b : a > b;
  }

  // a ** b ** c is a ** (b ** c).
  Number Power() {
    if (++depth_ > kMaxNesting) return Fail("it is nested too deeply");
    const Number base = Unary();
    Number value = base;
    if (Take("**")) {
      const Number exponent = Power();
      value = std::nullopt;
      if (exponent.has_value() && *exponent < 0) {
        if (skip_ == 0 && maybe_ == 0) Fail("an exponent less than 0");
      } else if (base.has_value() && exponent.has_value()) {
        value = 1;
        const bool small = *base >= -1 && *base <= 1;
        const int64_t times = small && *exponent > 2 ? 2 + *exponent % 2 : *exponent;
        for (int64_t i = 0; i < times && value.has_value(); ++i)
          value = Compute(*value, "*", *base);
      }
    }
    --depth_;
    return value;
  }

  Number Unary() {
    if (++depth_ > kMaxNesting) return Fail("it is nested too deeply");
    Number value;
    if (At("++") || At("--")) {
      value = Increment();
    } else if (Take("!")) {
      const Number of = Truth(Unary());
      value = of.has_value() ? Number(1 - *of) : of;
    } else if (Take("~")) {
      const Number of = Unary();
      value = of.has_value() ? Number(~*of) : of;
    } else if (Take("-")) {
      const Number of = Unary();
      value = of.has_value() ? Compute(0, "-", *of) : of;
    } else if (Take("+")) {
      value = Unary();
    } else {
      value = Primary();
    }
    --depth_;
    return value;
  }

  // ++NAME; in another place, two signs.
  Number Increment() {
    const std::string sign = text_.substr(at_, 2);
    at_ += 2;
    if (!IsNameStart(Next())) {
      const Number of = Unary();
      return of;  // --5 is -(-5)
    }
    const Place place = TakePlace();
    const Number value = Combine(ValueOf(place), sign.substr(1), 1);
    Set(place, value);
    return value;
  }

  Number Primary() {
    const char next = Next();
    if (next == '(') {
      ++at_;
      const Number value = Comma();
      if (!Take(")")) return Fail("expected ')'");
      return value;
    }
    if (IsNameStart(next)) {
      const Place place = TakePlace();
      const bool more = At("++"), less = At("--");
      const Number value = ValueOf(place);
      if (more || less) {
        at_ += 2;
        Set(place, Combine(value, more ? "+" : "-", 1));
      }
      return value;
    }
    return Literal();
  }

  // 12, 010, 0x1f, 2#101
  Number Literal() {
    Next();
    const size_t begin = at_;
    bool unknown = false;
    while (at_ < text_.size() && (IsNameCharacter(text_[at_]) || text_[at_] == '#' ||
                                  text_[at_] == '@' || text_[at_] == kUnknownOperand)) {
      unknown = unknown || text_[at_] == kUnknownOperand;
      ++at_;
    }
    const std::string word = text_.substr(begin, at_ - begin);
    if (word.empty()) {
      return Fail(at_ < text_.size() ? fmt::format("unexpected '{}'", text_.substr(at_))
                                     : "a number is missing at the end");
    }
    if (unknown) {
      unknown_ = unknown_ || skip_ == 0;
      return std::nullopt;
    }
    int64_t base = 10;
    size_t first = 0;
    const size_t hash = word.find('#');
    if (hash != std::string::npos) {
      base = 0;
      for (size_t i = 0; i < hash && base <= 64; ++i) {
        base = base * 10 + (word[i] >= '0' && word[i] <= '9' ? word[i] - '0' : 100);
      }
      first = hash + 1;
      if (base < 2 || base > 64 || first == word.size()) {
        return Fail(fmt::format("'{}' is not a number", word));
      }
    } else if (word.size() > 1 && word[0] == '0') {
      const bool hexadecimal = word[1] == 'x' || word[1] == 'X';
      base = hexadecimal ? 16 : 8;
      first = hexadecimal ? 2 : 1;
    }
    Number value = 0;
    for (size_t i = first; i < word.size(); ++i) {
      const int64_t digit = DigitOf(word[i], base);
      if (digit >= base) {
        return Fail(fmt::format("'{}' is not a number of base {}", word, base));
      }
      if (value.has_value()) value = Compute(*value, "*", base);
      if (value.has_value()) value = Compute(*value, "+", digit);
    }
    return value;
  }

  Place TakePlace() {
    Place place;
    while (at_ < text_.size() && IsNameCharacter(text_[at_])) place.name += text_[at_++];
    if (at_ < text_.size() && text_[at_] == kUnknownOperand) {
      // A name that is not known in full.
      while (at_ < text_.size() && (IsNameCharacter(text_[at_]) || text_[at_] == kUnknownOperand)) {
        ++at_;
      }
      place.name = kUnknownOperand;
      return place;
    }
    if (at_ >= text_.size() || text_[at_] != '[') return place;
    ++at_;
    place.has_index = true;
    // The index is read once more for the value after an operator such as +=; that is harmless
    // unless it has an effect itself, as in a[i++].
    place.index = Comma();
    if (!Take("]")) Fail("expected ']'");
    return place;
  }

  Number ValueOf(const Place& place) {
    if (skip_ > 0 || !mistake_.empty() || place.name[0] == kUnknownOperand) return std::nullopt;
    if (place.has_index && !place.index.has_value()) return std::nullopt;
    const std::optional<std::string> text =
        names_.Get(place.name, place.has_index ? place.index : std::nullopt);
    if (!text.has_value()) {
      unknown_ = true;
      return std::nullopt;
    }
    if (variables_ >= kMaxVariables) return Fail("its variables refer to each other");
    const ShellNumber number = Expression(*text, &names_, variables_ + 1).Evaluate();
    if (!number.mistake.empty()) Fail(number.mistake);
    unknown_ = unknown_ || !number.value.has_value();
    return number.value;
  }

  void Set(const Place& place, const Number& value) {
    if (skip_ > 0 || !mistake_.empty()) return;
    if (place.has_index && !place.index.has_value()) return names_.Lose(place.name);
    names_.Set(place.name, place.has_index ? place.index : std::nullopt,
               maybe_ > 0 || unknown_ ? std::nullopt : value);
  }

  const std::string text_;
  ShellNumberNames& names_;
  const int variables_;
  size_t at_ = 0;
  int depth_ = 0;
  int skip_ = 0, maybe_ = 0;
  bool unknown_ = false;  // an operand
  std::string mistake_;
};

}  // namespace

ShellNumber EvaluateArithmetic(const std::string& expression, ShellNumberNames* names) {
  return Expression(expression, names, 0).Evaluate();
}

}  // namespace drydock
