// What the largest of many draws is expected to be. Plain functions; thread-safe.
#ifndef DRYDOCK_CORE_BASE_ORDER_STATISTICS_H_
#define DRYDOCK_CORE_BASE_ORDER_STATISTICS_H_

namespace drydock {

// The expected maximum of `count` standard normal draws: the number of standard deviations by
// which the largest of `count` values is above their mean. After Blom (1958), quantile (count -
// 3/8) / (count + 1/4); exact to 1 % from 5 on. 0 if count < 2.
double ExpectedMaxSigma(int count);

}  // namespace drydock

#endif  // DRYDOCK_CORE_BASE_ORDER_STATISTICS_H_
