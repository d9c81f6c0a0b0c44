// What is compared: communicators on hosts of several kinds, and what their ranks call.
#ifndef DRYDOCK_TESTS_ORACLE_CASES_H_
#define DRYDOCK_TESTS_ORACLE_CASES_H_

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/nccl/nccl_library.h"
#include "core/nccl/topology_xml.h"
#include "tests/oracle/parting.h"

namespace drydock {

struct OracleCase {
  std::string name;  // "dgx-h100: 2 hosts of 8"
  std::vector<NcclHost> host_classes;
  std::vector<std::pair<std::string, std::string>> settings;
  std::vector<hacknccl_place> places;
  Parting parting;

  int ranks() const { return static_cast<int>(places.size()); }
};

// One group of calls; every rank takes part, if only with an empty one.
struct OracleStep {
  std::string name;  // "all-reduce float16 64 KiB"
  std::function<std::vector<hacknccl_call>(int rank)> calls;
};

// The short matrix stands for each kind of host and each shape of group once; the full one crosses
// them. Error: a cluster file that cannot be read.
Result<std::vector<OracleCase>> OracleCases(bool full);

// What a communicator of `ranks` ranks calls, a part of the case's or the whole.
std::vector<OracleStep> OracleSteps(const OracleCase& of, int ranks, bool full);

}  // namespace drydock

#endif  // DRYDOCK_TESTS_ORACLE_CASES_H_
