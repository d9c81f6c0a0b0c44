// What two workloads do, as numbers: equal texts have equal numbers, in both.
#ifndef DRYDOCK_WORKLOAD_GEN_GRAPH_DIFF_MEANINGS_H_
#define DRYDOCK_WORKLOAD_GEN_GRAPH_DIFF_MEANINGS_H_

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace drydock {

class Meanings {
 public:
  uint32_t NumberOf(const std::string& text) {
    const auto [entry, is_new] = known_.emplace(text, static_cast<uint32_t>(texts_.size()));
    if (is_new) texts_.push_back(&entry->first);
    return entry->second;
  }
  const std::string& TextOf(uint32_t number) const { return *texts_[number]; }

 private:
  std::unordered_map<std::string, uint32_t> known_;
  std::vector<const std::string*> texts_;
};

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_GRAPH_DIFF_MEANINGS_H_
