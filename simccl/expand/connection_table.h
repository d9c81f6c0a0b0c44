// Indices of connections by what tells them apart: a hash table without a node for each, as a plan
// has millions. Not thread-safe.
#ifndef DRYDOCK_SIMCCL_EXPAND_CONNECTION_TABLE_H_
#define DRYDOCK_SIMCCL_EXPAND_CONNECTION_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace drydock {

class ConnectionTable {
 public:
  static constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();

  ConnectionTable();

  // Where the index of (graph, channel, from, to) is kept, kNone if it is new; until the next call.
  // Each number must fit into 16 bits.
  uint32_t* Find(int graph, int channel, int from, int to);
  void Clear();

 private:
  struct Entry {
    uint64_t key = kEmpty;
    uint32_t index = kNone;
  };
  static constexpr uint64_t kEmpty = std::numeric_limits<uint64_t>::max();

  // The entry of `key`, or the empty one where it belongs.
  Entry* Place(uint64_t key);
  void Grow();

  std::vector<Entry> entries_;  // a power of two, at most half in use
  size_t used_ = 0;
};

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_EXPAND_CONNECTION_TABLE_H_
