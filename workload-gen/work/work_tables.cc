#include "workload-gen/work/work_tables.h"

#include <algorithm>

#include "core/base/check.h"
#include "core/base/spelling.h"

namespace drydock {
uint32_t WorkTables::Intern(const Submodule& submodule) {
  const auto [place, added] =
      submodules_.emplace(FactsOf(submodule), static_cast<uint32_t>(workload_->submodules.size()));
  if (added) workload_->submodules.push_back(submodule);
  return place->second;
}

uint32_t WorkTables::InternBlock(const std::vector<uint32_t>& submodules) {
  CHECK(!submodules.empty());
  const auto [place, added] =
      blocks_.emplace(submodules, static_cast<uint32_t>(workload_->blocks.size()));
  if (added) workload_->blocks.push_back({BlockName(submodules), submodules});
  return place->second;
}

uint32_t WorkTables::Intern(const CommCall& call) {
  if (!call.parts.empty() || !call.pair_counts.empty()) return InternListed(call);
  const CallKey key{static_cast<int>(call.collective),
                    static_cast<int>(call.type),
                    static_cast<int>(call.op),
                    call.count,
                    call.root,
                    call.peer,
                    call.group_size,
                    call.in_place,
                    static_cast<int>(call.buffers)};
  const auto [place, added] = calls_.emplace(key, static_cast<uint32_t>(workload_->calls.size()));
  if (added) workload_->calls.push_back(call);
  return place->second;
}

uint32_t WorkTables::Intern(const MemoryTransfer& transfer) {
  const auto [place, added] =
      transfers_.emplace(std::tuple(transfer.name, static_cast<int>(transfer.tier),
                                    transfer.bytes.count(), transfer.time.ps()),
                         static_cast<uint32_t>(workload_->transfers.size()));
  if (added) workload_->transfers.push_back(transfer);
  return place->second;
}

uint32_t WorkTables::InternListed(const CommCall& call) {
  for (const uint32_t index : listed_calls_) {
    if (workload_->calls[index] == call) return index;
  }
  listed_calls_.push_back(static_cast<uint32_t>(workload_->calls.size()));
  workload_->calls.push_back(call);
  return listed_calls_.back();
}

std::string WorkTables::BlockName(const std::vector<uint32_t>& submodules) const {
  std::vector<std::string> parts;
  std::string pass;
  for (const uint32_t index : submodules) {
    const Submodule& s = submodule(index);
    const std::string part = s.name.substr(0, s.name.find('.'));
    if (std::find(parts.begin(), parts.end(), part) == parts.end()) parts.push_back(part);
    const std::string& own = PassNames()[static_cast<size_t>(s.pass)];
    pass = pass.empty() || pass == own ? own : "bwd";
  }
  const std::string name = Join(parts, "+");
  return pass == "-" ? name : name + "." + pass;
}

}  // namespace drydock
