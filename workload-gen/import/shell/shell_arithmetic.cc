#include "workload-gen/import/shell/shell_arithmetic.h"

#include <charconv>

#include "core/base/scan.h"

namespace drydock {
namespace {

constexpr int kMaxNesting = 64;

class Expression {
 public:
  using ValueOf = std::function<std::optional<int64_t>(const std::string&)>;
  Expression(const std::string& text, const ValueOf& value_of) : text_(text), value_of_(value_of) {}

  std::optional<int64_t> Evaluate() {
    const std::optional<int64_t> value = Choice();
    return At('\0') ? value : std::nullopt;
  }

 private:
  using Number = std::optional<int64_t>;

  // Skips blanks and returns the next character; '\0' at the end.
  char Next() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n')) {
      ++at_;
    }
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool At(char c) { return Next() == c; }

  // condition ? value : value
  Number Choice() {
    if (depth_ >= kMaxNesting) return std::nullopt;
    const Number condition = Comparison();
    if (!condition.has_value() || !At('?')) return condition;
    ++at_;
    ++depth_;
    const Number yes = Choice();
    if (!At(':')) return std::nullopt;
    ++at_;
    const Number no = Choice();
    --depth_;
    return *condition != 0 ? yes : no;
  }

  Number Comparison() {
    const Number left = Sum();
    if (!left.has_value() || !(At('<') || At('>') || At('=') || At('!'))) return left;
    const char sign = text_[at_++];
    const bool equal = at_ < text_.size() && text_[at_] == '=';
    if (equal) ++at_;
    if ((sign == '=' || sign == '!') && !equal) return std::nullopt;
    const Number right = Sum();
    if (!right.has_value()) return std::nullopt;
    if (sign == '=') return *left == *right;
    if (sign == '!') return *left != *right;
    if (equal && *left == *right) return 1;
    return sign == '<' ? *left < *right : *left > *right;
  }

  Number Sum() {
    Number left = Product();
    while (left.has_value() && (At('+') || At('-'))) {
      const bool plus = text_[at_++] == '+';
      const Number right = Product();
      int64_t value = 0;
      if (!right.has_value() || (plus ? __builtin_add_overflow(*left, *right, &value)
                                      : __builtin_sub_overflow(*left, *right, &value))) {
        return std::nullopt;
      }
      left = value;
    }
    return left;
  }

  Number Product() {
    Number left = Factor();
    while (left.has_value() && (At('*') || At('/') || At('%'))) {
      const char sign = text_[at_++];
      const Number right = Factor();
      if (!right.has_value()) return std::nullopt;
      left = Combine(*left, sign, *right);
    }
    return left;
  }

  static Number Combine(int64_t left, char sign, int64_t right) {
    int64_t value = 0;
    if (sign == '*') {
      return __builtin_mul_overflow(left, right, &value) ? Number() : Number(value);
    }
    if (right == 0 || (left == INT64_MIN && right == -1)) return std::nullopt;
    return sign == '/' ? left / right : left % right;
  }

  Number Factor() {
    if (++depth_ > kMaxNesting) return std::nullopt;
    const Number value = Unnested();
    --depth_;
    return value;
  }

  Number Unnested() {
    if (At('-')) {
      ++at_;
      const Number value = Factor();
      return value.has_value() && *value != INT64_MIN ? Number(-*value) : std::nullopt;
    }
    if (At('(')) {
      ++at_;
      const Number value = Choice();
      if (!At(')')) return std::nullopt;
      ++at_;
      return value;
    }
    return NumberOrName();
  }

  Number NumberOrName() {
    const bool dollar = At('$');
    if (dollar) ++at_;
    const bool brace = dollar && At('{');
    if (brace) ++at_;
    Next();
    const size_t begin = at_;
    while (at_ < text_.size() &&
           (isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '_')) {
      ++at_;
    }
    const std::string word = text_.substr(begin, at_ - begin);
    if (brace && !At('}')) return std::nullopt;
    if (brace) ++at_;
    if (word.empty()) return std::nullopt;
    const bool digit = word[0] >= '0' && word[0] <= '9';
    return digit && !dollar ? WholeNumber(word) : value_of_(word);
  }

  const std::string& text_;
  const ValueOf& value_of_;
  size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

std::optional<int64_t> EvaluateArithmetic(
    const std::string& expression,
    const std::function<std::optional<int64_t>(const std::string& name)>& value_of) {
  return Expression(expression, value_of).Evaluate();
}

}  // namespace drydock
