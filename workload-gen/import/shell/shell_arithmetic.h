// The arithmetic of bash: $((...)), ((...)), let, subscripts and -eq in [[ ]].
#ifndef DRYDOCK_WORKLOAD_GEN_IMPORT_SHELL_SHELL_ARITHMETIC_H_
#define DRYDOCK_WORKLOAD_GEN_IMPORT_SHELL_SHELL_ARITHMETIC_H_

#include <cstdint>
#include <optional>
#include <string>

namespace drydock {

// The variables of an expression: "NAME", or "NAME[index]".
class ShellNumberNames {
 public:
  virtual ~ShellNumberNames() = default;
  // Returns the text of a variable, which is an expression again; nothing if it is not known.
  virtual std::optional<std::string> Get(const std::string& name, std::optional<int64_t> index) = 0;
  // `value`: nothing if it is not known, or if the assignment may not happen.
  virtual void Set(const std::string& name, std::optional<int64_t> index,
                   std::optional<int64_t> value) = 0;
  // The whole variable, at an index that is not known.
  virtual void Lose(const std::string& name) = 0;
};

struct ShellNumber {
  std::optional<int64_t> value;  // nothing: not known
  std::string mistake;           // why bash refuses the expression, or ""
};

// Stands for a part of an expression that is not known.
constexpr char kUnknownOperand = '\x01';

// A result that exceeds 64 bits is not known.
ShellNumber EvaluateArithmetic(const std::string& expression, ShellNumberNames* names);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_IMPORT_SHELL_SHELL_ARITHMETIC_H_
