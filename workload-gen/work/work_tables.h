// The tables of distinct work of a Workload under construction. Equal submodules, blocks and calls
// are stored once, and numbered in order of first use, so that hashing does not affect the numbers.
#ifndef DRYDOCK_WORKLOAD_GEN_WORK_WORK_TABLES_H_
#define DRYDOCK_WORKLOAD_GEN_WORK_WORK_TABLES_H_

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "core/containers/hash.h"
#include "core/model/workload.h"

namespace drydock {

class WorkTables {
 public:
  explicit WorkTables(Workload* workload) : workload_(workload) {}
  WorkTables(const WorkTables&) = delete;

  // Each returns the index in the Workload's table.
  uint32_t Intern(const Submodule& submodule);
  // The name of a block lists its submodules: "attention.fwd", "mlp+attention.bwd".
  uint32_t InternBlock(const std::vector<uint32_t>& submodules);
  uint32_t Intern(const CommCall& call);
  uint32_t Intern(const MemoryTransfer& transfer);

  const Submodule& submodule(uint32_t index) const { return workload_->submodules[index]; }

 private:
  using CallKey = std::tuple<int, int, int, int64_t, int, int, int, bool, int>;
  uint32_t InternListed(const CommCall& call);
  std::string BlockName(const std::vector<uint32_t>& submodules) const;

  Workload* workload_;
  std::map<std::string, uint32_t> submodules_;  // by FactsOf
  std::unordered_map<std::vector<uint32_t>, uint32_t, RangeHash> blocks_;
  std::map<CallKey, uint32_t> calls_;   // without parts and pair counts
  std::vector<uint32_t> listed_calls_;  // with parts or pair counts
  std::map<std::tuple<std::string, int, int64_t, int64_t>, uint32_t> transfers_;
};

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_WORK_WORK_TABLES_H_
