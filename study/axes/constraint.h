// A condition on the values of a point: "tensor * pipeline <= 64". muParser evaluates it.
#ifndef DRYDOCK_STUDY_AXES_CONSTRAINT_H_
#define DRYDOCK_STUDY_AXES_CONSTRAINT_H_

#include <memory>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "study/axes/axis.h"

namespace drydock {

// Names in the expression are axes (FindAxis). An axis
// of numbers counts with its value; units are left out ("200 Gbps" is 200). Not thread-safe.
class Constraint {
 public:
  // Errors: not an expression, a name that is no axis or several, an axis of words. The error says
  // where in the text.
  static Result<Constraint> Parse(const std::string& text, const std::vector<Axis>& axes);
  Constraint(Constraint&&) noexcept;
  ~Constraint();

  const std::string& text() const { return text_; }
  // `values`: an index into Axis::values for each axis. A result of 0 is false, and so is none (0 /
  // 0).
  bool Holds(const std::vector<size_t>& values) const;

 private:
  struct Compiled;
  Constraint(std::string text, std::unique_ptr<Compiled> compiled);

  std::string text_;
  std::unique_ptr<Compiled> compiled_;
};

}  // namespace drydock

#endif  // DRYDOCK_STUDY_AXES_CONSTRAINT_H_
