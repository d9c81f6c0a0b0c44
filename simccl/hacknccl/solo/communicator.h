// A communicator of the C interface. It has one or a few real NCCL communicators; each is a single
// rank for which NCCL assumes that the others exist. There is one per kind of host, made on first
// use, and one for each rank whose own send and receive plan the caller requests.
#ifndef DRYDOCK_SIMCCL_HACKNCCL_SOLO_COMMUNICATOR_H_
#define DRYDOCK_SIMCCL_HACKNCCL_SOLO_COMMUNICATOR_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "simccl/hacknccl/cluster/layout.h"
#include "simccl/hacknccl/session/session.h"
#include "simccl/hacknccl/solo/link_memory.h"

namespace drydock {

class Communicator;

// What a communicator is made of.
struct Origin {
  std::optional<hacknccl_config> config;
  std::shared_ptr<Communicator> parent;  // null: none
  std::vector<int> parent_ranks;         // by rank
  std::vector<SplitRequest> split;       // by rank of the parent, or
  std::vector<int> excluded;             // ranks that a shrink leaves out
};

class Communicator {
 public:
  // `classes` must outlive the communicator.
  Communicator(const std::vector<HostClass>* classes, const std::vector<hacknccl_place>& places,
               Origin origin);
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  // These functions return "" or the reason of the failure.
  std::string Start();
  std::string Launch(int rank, const std::vector<hacknccl_call>& calls, const NcclPlan** plan);
  std::string Link(int graph, int channel, int from, int to, hacknccl_link* link);
  // Returns true and sets *link if NCCL has resolved an equivalent link before.
  bool KnowsLink(int graph, int channel, int from, int to, hacknccl_link* link) const {
    return links_.Find(graph, channel, from, to, link);
  }

  // Stores the steps in pat_steps().
  std::string Pat(const hacknccl_collective& work, int rank, int channel);
  const std::vector<hacknccl_pat_step>& pat_steps() const { return pat_steps_; }

  const Layout& layout() const { return layout_; }
  const std::vector<HostClass>* classes() const { return classes_; }
  hacknccl_shape shape() const;
  // Returns the ranks along the ring, from rank 0.
  std::vector<int> Ring(int channel) const;
  const std::vector<std::vector<hacknccl_tree>>& trees() const { return connected().trees; }
  const std::vector<std::vector<hacknccl_nvls>>& nvls() const { return connected().nvls; }
  // Sets *places by rank. Returns "" or the reason of the failure.
  std::string CollNet(int channel, std::vector<hacknccl_collnet>* places);

 private:
  struct Solo {
    Session session;
    ncclComm* comm = nullptr;
  };
  // Finds or makes the real communicator of `rank`.
  std::string SoloAt(int rank, Solo** solo);
  // The same for the model of `rank`'s kind.
  std::string ModelOf(int rank, Solo** solo);
  std::string Make(const std::vector<hacknccl_call>& calls, Solo* solo);
  // Asks other ranks what a rank cannot know about registered buffers: whether far NICs read and
  // write GPU memory, and whether all connections of the rings do so, without PXN. Sets
  // `as_assumed` to false if NCCL assumed otherwise.
  std::string AskOtherRanks(Solo* solo, bool* as_assumed);
  std::string AskAtUnknownEnds(Solo* solo, bool* as_assumed);
  std::string Search();
  std::string Survey(int kind);
  std::string Init(int rank, bool survey, Solo* solo);
  // Makes the real rank. `parent` is the parent's real rank that becomes `rank`, or null.
  ncclResult_t Make(int rank, ncclComm* parent, Solo* solo);
  // Returns "" if a real rank connected what rank 0 recorded on its behalf.
  std::string Disagreement(const Solo& solo) const;
  const ConnectedTrees& connected() const {
    return solos_.begin()->second->session.graphs.connected;
  }

  const std::vector<HostClass>* classes_;
  Origin origin_;
  Findings findings_;
  Layout layout_;
  bool layout_corrected_ = false;
  std::vector<std::unique_ptr<KindGraphs>> kind_graphs_;
  LinkMemory links_;
  std::map<int, std::unique_ptr<Solo>> solos_;  // by rank; rank 0 always
  std::vector<hacknccl_pat_step> pat_steps_;
};

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_HACKNCCL_SOLO_COMMUNICATOR_H_
