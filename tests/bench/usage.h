// The resources that this process, which has one thread, has used so far.
#ifndef DRYDOCK_TESTS_BENCH_USAGE_H_
#define DRYDOCK_TESTS_BENCH_USAGE_H_

#include <sys/resource.h>

#include <ctime>

namespace drydock {

// CPU time of the process. On an idle machine it equals the elapsed time.
inline double CpuSeconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

inline double PeakMegabytes() {
  rusage usage = {};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024 / 1e6;
}

}  // namespace drydock

#endif  // DRYDOCK_TESTS_BENCH_USAGE_H_
