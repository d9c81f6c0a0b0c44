// Which ranks run the same program, as far as is known: ranks whose groups are alike and who have
// the same place where places matter.
#ifndef DRYDOCK_CAPTURE_CLASSES_PARTITION_H_
#define DRYDOCK_CAPTURE_CLASSES_PARTITION_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "capture/classes/class_tape.h"
#include "capture/classes/world_groups.h"

namespace drydock::capture {

// Of a rank's host.
struct HostFacts {
  int local = 0;  // rank on the host
  int kind = 0;   // equal for hosts with the same GPUs and as many ranks
};

class Partition {
 public:
  // `hosts`: by rank. `groups` must outlive this object, and may grow.
  Partition(const WorldGroups* groups, std::vector<HostFacts> hosts)
      : groups_(*groups), hosts_(std::move(hosts)) {}

  // Notes what a tape shows. Returns true if that is new.
  bool Note(const PlacesThatMatter& places);

  // The classes, by their first rank; each sorted.
  std::vector<std::vector<int>> Classes() const;

  // `keys`: of the ranks that have run, of which some of a class differ. Looks for a reason that a
  // program may have: rank 0 and the first rank of a host write logs; the first or last of a group,
  // or all from some position on, have less of something. Replaces earlier reasons, so that the new
  // ones explain all ranks so far. Returns false if nothing explains them.
  bool Explain(const std::map<int, std::string>& keys);

 private:
  // A fact of a rank by which it may differ.
  struct Reason {
    enum class What : uint8_t { kRank, kLocal, kFrom, kPosition };
    What what = What::kRank;
    GroupKind kind = {};  // kFrom, kPosition
    int from = 0;         // kRank: a rank; kFrom: the first position
  };
  int ValueOf(const Reason& reason, int rank) const;
  std::vector<Reason> Candidates(const std::map<int, std::string>& keys, bool positions_too) const;
  bool ExplainBy(const std::map<int, std::string>& keys, bool positions_too);
  std::vector<int64_t> SignatureOf(int rank, std::map<GroupKind, int>* numbers) const;

  const WorldGroups& groups_;
  std::vector<HostFacts> hosts_;
  std::set<GroupKind> positions_;
  std::map<GroupKind, std::set<int>> roots_;
  std::vector<Reason> reasons_;
};

}  // namespace drydock::capture

#endif  // DRYDOCK_CAPTURE_CLASSES_PARTITION_H_
