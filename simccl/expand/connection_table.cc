#include "simccl/expand/connection_table.h"

#include <algorithm>
#include <utility>

namespace drydock {

ConnectionTable::ConnectionTable() : entries_(64) {}

uint32_t* ConnectionTable::Find(int graph, int channel, int from, int to) {
  const uint64_t key = static_cast<uint64_t>(graph) << 48 | static_cast<uint64_t>(channel) << 32 |
                       static_cast<uint64_t>(from) << 16 | static_cast<uint64_t>(to);
  Entry* entry = Place(key);
  if (entry->key == key) return &entry->index;
  if (2 * (used_ + 1) > entries_.size()) {
    Grow();
    entry = Place(key);
  }
  ++used_;
  entry->key = key;
  return &entry->index;
}

void ConnectionTable::Clear() {
  if (used_ > 0) std::fill(entries_.begin(), entries_.end(), Entry());
  used_ = 0;
}

ConnectionTable::Entry* ConnectionTable::Place(uint64_t key) {
  const size_t mask = entries_.size() - 1;
  uint64_t hash = key * 0x9e3779b97f4a7c15u;
  hash ^= hash >> 32;
  size_t at = hash & mask;
  while (entries_[at].key != kEmpty && entries_[at].key != key) at = (at + 1) & mask;
  return &entries_[at];
}

void ConnectionTable::Grow() {
  std::vector<Entry> old(2 * entries_.size());
  old.swap(entries_);
  for (const Entry& entry : old) {
    if (entry.key != kEmpty) *Place(entry.key) = entry;
  }
}

}  // namespace drydock
