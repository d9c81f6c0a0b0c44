// How a communicator is taken apart before its parts are compared.
#ifndef DRYDOCK_TESTS_ORACLE_PARTING_H_
#define DRYDOCK_TESTS_ORACLE_PARTING_H_

#include <cstdint>
#include <string>
#include <vector>

namespace drydock {

// By ncclCommSplit if there are colors, by ncclCommShrink if ranks are excluded, else not at all.
struct Parting {
  std::string name;                   // " split by parity"; empty: not at all
  std::vector<int32_t> colors, keys;  // by rank; the color -1 is in no part
  std::vector<int32_t> excluded;

  // Of each part the parent's ranks, in the part's order; of a whole communicator all of them.
  std::vector<std::vector<int>> Parts(int ranks) const;
};

// For four ranks or more. Alternating ranks in reverse order; three parts of unlike sizes, one rank
// in none; a shrink that leaves out the second and the last rank.
std::vector<Parting> Partings(int ranks);

}  // namespace drydock

#endif  // DRYDOCK_TESTS_ORACLE_PARTING_H_
