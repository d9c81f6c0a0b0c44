// Memory through which the processes of a communicator's ranks exchange small data.
//
// All ranks must take part in the same exchanges in the same order, as NCCL's own bootstrap
// requires. Every function returns false once a rank has failed, so no rank waits for a failed
// rank.
#ifndef DRYDOCK_SIMCCL_HACKNCCL_ORACLE_MEETING_H_
#define DRYDOCK_SIMCCL_HACKNCCL_ORACLE_MEETING_H_

#include <cstddef>
#include <vector>

namespace drydock {

class Meeting {
 public:
  // Ranks in order: of a communicator, or of one host of a communicator. Exchanges of the two kinds
  // may overlap in time; exchanges of groups of one kind with the same first rank must not.
  struct Group {
    std::vector<int> ranks;
    bool of_host = false;
  };

  // Returns the bytes of zeroed shared memory that a meeting of `ranks` ranks needs.
  static size_t Bytes(int ranks);

  Meeting(void* memory, int ranks, int rank) : memory_(memory), ranks_(ranks), rank_(rank) {}

  int rank() const { return rank_; }
  int ranks() const { return ranks_; }

  // `data` holds one record of `bytes` bytes for each rank of `group`, in that order. This rank's
  // record is filled in on entry.
  bool AllGather(const Group& group, void* data, size_t bytes);
  bool Barrier(const Group& group);

  // At most one message from one rank to another is in flight; the next one waits until it is
  // received. Returns false also if the message has another tag or size.
  bool Send(int to, int tag, const void* data, size_t bytes);
  bool Receive(int from, int tag, void* data, size_t bytes);

  // Marks this rank as failed and releases the ranks that wait for it.
  void Fail();

 private:
  struct Gate;
  struct Mail;
  struct Shared;
  Shared& shared() const;
  Gate& gate(const Group& group) const;
  Mail& mail(int from, int to) const;
  char* slot(int rank) const;
  bool Pass(Gate* gate, size_t members);

  void* memory_;
  int ranks_, rank_;
};

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_HACKNCCL_ORACLE_MEETING_H_
