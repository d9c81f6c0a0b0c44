// How a communicator is split or shrunk before its parts are compared.
#ifndef DRYDOCK_TESTS_ORACLE_PARTING_H_
#define DRYDOCK_TESTS_ORACLE_PARTING_H_

#include <cstdint>
#include <string>
#include <vector>

namespace drydock {

// Uses ncclCommSplit if there are colors and ncclCommShrink if ranks are excluded. Otherwise the
// communicator stays whole.
struct Parting {
  std::string name;                   // " split by parity"; empty: stays whole
  std::vector<int32_t> colors, keys;  // by rank; the color -1 is in no part
  std::vector<int32_t> excluded;

  // For each part, the parent's ranks in the part's order. A whole communicator is its only part.
  std::vector<std::vector<int>> Parts(int ranks) const;
};

// REQUIRES: at least four ranks. Returns a split into alternating ranks in reverse order, a split
// into three parts of different sizes with one rank in no part, and a shrink without the second and
// the last rank.
std::vector<Parting> Partings(int ranks);

}  // namespace drydock

#endif  // DRYDOCK_TESTS_ORACLE_PARTING_H_
