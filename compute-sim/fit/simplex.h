// Nelder and Mead's simplex search (The Computer Journal 7, 1965) for the least of a function of
// several variables, none of which has bounds. Deterministic: the same start gives the same path.
#ifndef DRYDOCK_COMPUTE_SIM_FIT_SIMPLEX_H_
#define DRYDOCK_COMPUTE_SIM_FIT_SIMPLEX_H_

#include <functional>
#include <vector>

namespace drydock {

struct SimplexResult {
  std::vector<double> at;
  double value = 0;
  int evaluations = 0;
};

// `step`: how far the first corners lie from `start`, in each variable. Ends after `evaluations` or
// when the corners' values agree to 1e-7.
SimplexResult MinimizeSimplex(const std::function<double(const std::vector<double>&)>& function,
                              std::vector<double> start, double step, int evaluations);

}  // namespace drydock

#endif  // DRYDOCK_COMPUTE_SIM_FIT_SIMPLEX_H_
