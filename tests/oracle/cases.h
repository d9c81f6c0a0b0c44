// The cases that are compared: communicators on hosts of several kinds, and the calls of their
// ranks.
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

// One group of calls. Every rank takes part; a rank without calls has an empty group.
struct OracleStep {
  std::string name;  // "all-reduce float16 64 KiB"
  std::function<std::vector<hacknccl_call>(int rank)> calls;
};

// The short matrix has each kind of host and each shape of group once; the full matrix combines
// them. Returns an error if a cluster file cannot be read.
Result<std::vector<OracleCase>> OracleCases(bool full);

// The calls of a communicator of `ranks` ranks, which is the case's communicator or a part of it.
std::vector<OracleStep> OracleSteps(const OracleCase& of, int ranks, bool full);

}  // namespace drydock

#endif  // DRYDOCK_TESTS_ORACLE_CASES_H_
