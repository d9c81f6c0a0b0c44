#include "core/base/order_statistics.h"

#include <cmath>

namespace drydock {
namespace {

// The x below which a share `p` of a standard normal distribution lies; p from 0.5 to below 1.
double NormalQuantile(double p) {
  double low = 0, high = 10;
  for (int i = 0; i < 60; ++i) {  // enough halvings for the last digit
    const double middle = (low + high) / 2;
    (0.5 * std::erfc(-middle / std::sqrt(2.0)) < p ? low : high) = middle;
  }
  return low;
}

}  // namespace

double ExpectedMaxSigma(int count) {
  if (count < 2) return 0;
  return NormalQuantile((count - 0.375) / (count + 0.25));
}

}  // namespace drydock
