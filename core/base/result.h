// Errors as values. A user's mistake is an Error: one or more Diagnostics, each with a message and,
// if known, the place in a file. Result<T> is a T or an Error; Status is Result<void>. Copyable;
// not thread-safe.
#ifndef DRYDOCK_CORE_BASE_RESULT_H_
#define DRYDOCK_CORE_BASE_RESULT_H_

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/check.h"

namespace drydock {

// Returns `text` with '?' in place of control characters, which a terminal obeys: a name in a file
// could change its colors or title. Line breaks and tabs stay.
std::string Printable(std::string_view text);

struct Location {
  std::string file;
  int line = 0;    // 1-based; 0 = the file as a whole
  int column = 0;  // 1-based, in characters; 0 = the line as a whole
  bool known() const { return !file.empty(); }
};

struct Diagnostic {
  std::string message;
  Location location;
  std::string source_line;  // the text of that line, for the caret; may be empty

  // "file:line:column: error: message", then the line (the part around the column, if it is long)
  // and a caret where known.
  std::string ToString() const;
};

class Error {
 public:
  explicit Error(std::string message) { diagnostics_.push_back({std::move(message), {}, {}}); }
  Error(std::string message, Location location, std::string source_line = {}) {
    diagnostics_.push_back({std::move(message), std::move(location), std::move(source_line)});
  }
  explicit Error(std::vector<Diagnostic> diagnostics) : diagnostics_(std::move(diagnostics)) {
    CHECK(!diagnostics_.empty());
  }

  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }
  const std::string& message() const { return diagnostics_.front().message; }
  // All diagnostics, each on its own line(s), without a trailing newline.
  std::string ToString() const;

 private:
  std::vector<Diagnostic> diagnostics_;
};

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT: implicit
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT: implicit

  bool ok() const { return state_.index() == 0; }
  T& value() & {
    CHECK_NOTE(ok(), ok() ? "" : error().message());
    return std::get<0>(state_);
  }
  const T& value() const& {
    CHECK_NOTE(ok(), ok() ? "" : error().message());
    return std::get<0>(state_);
  }
  T&& value() && {
    CHECK_NOTE(ok(), ok() ? "" : error().message());
    return std::get<0>(std::move(state_));
  }
  const Error& error() const { return std::get<1>(state_); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT: implicit

  bool ok() const { return !error_.has_value(); }
  const Error& error() const { return *error_; }

 private:
  std::optional<Error> error_;
};

using Status = Result<void>;
inline Status OkStatus() { return Status(); }

}  // namespace drydock

#define DRYDOCK_CONCAT_INNER(a, b) a##b
#define DRYDOCK_CONCAT(a, b) DRYDOCK_CONCAT_INNER(a, b)

// Returns the error of a Result<...> or Status expression from the enclosing function.
#define RETURN_IF_ERROR(expression)                                                           \
  do {                                                                                        \
    if (auto status_ = (expression); !status_.ok()) return ::drydock::Error(status_.error()); \
  } while (false)

// ASSIGN_OR_RETURN(auto x, Compute()): x is the value, or the error is returned.
#define ASSIGN_OR_RETURN(declaration, expression) \
  DRYDOCK_ASSIGN_OR_RETURN(DRYDOCK_CONCAT(result_, __LINE__), declaration, expression)
#define DRYDOCK_ASSIGN_OR_RETURN(temporary, declaration, expression) \
  auto temporary = (expression);                                     \
  if (!temporary.ok()) return ::drydock::Error(temporary.error());   \
  declaration = std::move(temporary).value()

#endif  // DRYDOCK_CORE_BASE_RESULT_H_
