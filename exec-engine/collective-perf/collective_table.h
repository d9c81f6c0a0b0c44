// The output of collective-perf: nccl-tests' columns, digit for digit as nccl-tests formats them
// (util.cu), or JSON with nccl-tests' keys.
#ifndef DRYDOCK_EXEC_ENGINE_COLLECTIVE_PERF_COLLECTIVE_TABLE_H_
#define DRYDOCK_EXEC_ENGINE_COLLECTIVE_PERF_COLLECTIVE_TABLE_H_

#include <string>
#include <vector>

#include "core/base/units.h"
#include "exec-engine/collective-perf/collective_sweep.h"

namespace drydock {

struct SweepResult {
  SweepSize size;
  Time out_of_place, in_place;  // zero if there is nothing to move
  std::string decision;         // of the first group, out of place: "ring Simple, 16 channels"
  std::string network;          // that carried the call
};

struct SweepTitle {
  std::string calls;    // "all-reduce on dgx-h100-8, 64 ranks: 0-63"
  std::string network;  // "packet below 67108864 B, analytical from there"
  std::string launch;   // "processes of 8 GPUs, ..."; empty if launches take no time
  std::vector<std::string> idle;  // options without effect (idle_options.h)
};

std::string TableHeader(const SweepTitle& title);
// `explains` adds the decision behind nccl-tests' columns.
std::string TableRow(const SweepResult& result, bool explains);
std::string TableFooter(const std::vector<SweepResult>& results);

std::string SweepJson(const SweepTitle& title, const std::vector<SweepResult>& results);

// nccl-tests' loop, as its options state it.
struct NcclTestsLoop {
  int process_gpus = 1;
  int calls = 20;
  int aggregated = 1;
  int graphs = 0;
  int blocking = 0;
};
// The file of nccl-tests' --output_file, version 3: the values of util.cu that do not depend on a
// machine or a clock.
std::string NcclTestsJson(const Sweep& sweep, const NcclTestsLoop& loop,
                          const std::vector<SweepResult>& results);

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_COLLECTIVE_PERF_COLLECTIVE_TABLE_H_
