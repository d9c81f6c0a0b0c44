// A communicator as the API knows it: one or a few real NCCL communicators, each a single rank that
// believes the others exist. One per kind of host is made when first needed, further ones only for
// ranks whose own send/recv plan is asked for.
#ifndef DRYDOCK_SIMCCL_HACKNCCL_COMMUNICATOR_H_
#define DRYDOCK_SIMCCL_HACKNCCL_COMMUNICATOR_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "simccl/hacknccl/layout.h"
#include "simccl/hacknccl/link_memory.h"
#include "simccl/hacknccl/session.h"

namespace drydock {

class Communicator;

// How NCCL comes to make a communicator.
struct Origin {
  std::optional<hacknccl_config> config;
  std::shared_ptr<Communicator> parent;  // null: by itself
  std::vector<int> parent_ranks;         // by rank
  std::vector<SplitWish> split;          // of each of the parent's ranks, or
  std::vector<int> excluded;             // those that a shrink leaves out
};

class Communicator {
 public:
  // `classes` must outlive the communicator.
  Communicator(const std::vector<HostClass>* classes, const std::vector<hacknccl_place>& places,
               Origin origin);
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  // All return "" or the reason of the failure.
  std::string Start();
  std::string Launch(int rank, const std::vector<hacknccl_call>& calls, const CapturedPlan** plan);
  std::string Link(int graph, int channel, int from, int to, hacknccl_link* link);
  // Whether a link like this was asked for before; *link is then this one.
  bool KnowsLink(int graph, int channel, int from, int to, hacknccl_link* link) const {
    return links_.Find(graph, channel, from, to, link);
  }

  // Leaves the steps in pat_steps().
  std::string Pat(const hacknccl_collective& work, int rank, int channel);
  const std::vector<hacknccl_pat_step>& pat_steps() const { return pat_steps_; }

  const Layout& layout() const { return layout_; }
  const std::vector<HostClass>* classes() const { return classes_; }
  hacknccl_shape shape() const;
  // Along the ring, from rank 0.
  std::vector<int> Ring(int channel) const;
  const std::vector<std::vector<hacknccl_tree>>& trees() const { return recorded().trees; }
  const std::vector<std::vector<hacknccl_nvls>>& nvls() const { return recorded().nvls; }
  // By rank. "" or the reason of the failure.
  std::string CollNet(int channel, std::vector<hacknccl_collnet>* places);

 private:
  struct Solo {
    Session session;
    ncclComm* comm = nullptr;
  };
  // The real communicator of `rank`; made if there is none yet.
  std::string SoloAt(int rank, Solo** solo);
  // That of the model of `rank`'s kind.
  std::string ModelOf(int rank, Solo** solo);
  std::string Make(const std::vector<hacknccl_call>& calls, Solo* solo);
  // What registered buffers need and a rank alone does not know: whether far NICs read and write
  // their GPUs' memory, and whether all connections of the rings do, and without PXN. Sets
  // `as_taken` to false if NCCL took it to be otherwise.
  std::string AskOtherRanks(Solo* solo, bool* as_taken);
  std::string AskAtUnknownEnds(Solo* solo, bool* as_taken);
  std::string Search();
  std::string Survey(int kind);
  std::string Init(int rank, bool survey, Solo* solo);
  // `parent` is the parent's real rank that becomes `rank`, if there is a parent.
  ncclResult_t Make(int rank, ncclComm* parent, Solo* solo);
  // What a real rank connected for itself must be what rank 0 recorded on its behalf.
  std::string Disagreement(const Solo& solo) const;
  const Recorded& recorded() const { return solos_.begin()->second->session.recorded; }

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

#endif  // DRYDOCK_SIMCCL_HACKNCCL_COMMUNICATOR_H_
