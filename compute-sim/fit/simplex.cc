#include "compute-sim/fit/simplex.h"

#include <algorithm>

namespace drydock {
namespace {

struct Corner {
  std::vector<double> at;
  double value = 0;
};

class Simplex {
 public:
  Simplex(const std::function<double(const std::vector<double>&)>& function,
          const std::vector<double>& start, double step)
      : function_(function) {
    corners_.push_back(Make(start));
    for (size_t i = 0; i < start.size(); ++i) {
      std::vector<double> at = start;
      at[i] += step;
      corners_.push_back(Make(std::move(at)));
    }
    Sort();
  }

  int evaluations() const { return evaluations_; }
  const Corner& best() const { return corners_.front(); }
  bool converged() const { return corners_.back().value - corners_.front().value < 1e-7; }

  void Step() {
    Corner& worst = corners_.back();
    const Corner mirrored = Beyond(1);
    if (mirrored.value < best().value) {
      const Corner further = Beyond(2);
      worst = further.value < mirrored.value ? further : mirrored;
    } else if (mirrored.value < corners_[corners_.size() - 2].value) {
      worst = mirrored;
    } else {
      const Corner nearer = Beyond(mirrored.value < worst.value ? 0.5 : -0.5);
      if (nearer.value < std::min(worst.value, mirrored.value))
        worst = nearer;
      else
        Shrink();
    }
    Sort();
  }

 private:
  Corner Make(std::vector<double> at) {
    ++evaluations_;
    const double value = function_(at);
    return {std::move(at), value};
  }

  // The point on the line from the worst corner through the middle of the others, `factor` times as
  // far from the middle as the worst corner.
  Corner Beyond(double factor) {
    const size_t n = corners_.size() - 1;
    std::vector<double> at(n);
    for (size_t i = 0; i < n; ++i) {
      double middle = 0;
      for (size_t c = 0; c < n; ++c) middle += corners_[c].at[i] / static_cast<double>(n);
      at[i] = middle + factor * (middle - corners_.back().at[i]);
    }
    return Make(std::move(at));
  }

  void Shrink() {
    for (size_t c = 1; c < corners_.size(); ++c) {
      std::vector<double> at = corners_[c].at;
      for (size_t i = 0; i < at.size(); ++i) at[i] = (at[i] + best().at[i]) / 2;
      corners_[c] = Make(std::move(at));
    }
  }

  void Sort() {
    std::stable_sort(corners_.begin(), corners_.end(),
                     [](const Corner& a, const Corner& b) { return a.value < b.value; });
  }

  const std::function<double(const std::vector<double>&)>& function_;
  std::vector<Corner> corners_;  // best first
  int evaluations_ = 0;
};

}  // namespace

SimplexResult MinimizeSimplex(const std::function<double(const std::vector<double>&)>& function,
                              std::vector<double> start, double step, int evaluations) {
  Simplex simplex(function, start, step);
  while (simplex.evaluations() < evaluations && !simplex.converged()) simplex.Step();
  return {simplex.best().at, simplex.best().value, simplex.evaluations()};
}

}  // namespace drydock
