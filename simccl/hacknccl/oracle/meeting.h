// Memory through which the processes of a communicator's ranks exchange small data.
//
// All ranks must take part in the same exchanges in the same order, as NCCL's own bootstrap
// demands. Every function returns false once any rank has failed: nobody waits for one that is
// gone.
#ifndef DRYDOCK_SIMCCL_HACKNCCL_ORACLE_MEETING_H_
#define DRYDOCK_SIMCCL_HACKNCCL_ORACLE_MEETING_H_

#include <cstddef>
#include <vector>

namespace drydock {

class Meeting {
 public:
  // Some of the ranks, in order: those of a communicator, or of it those of one host. The two kinds
  // may overlap in time; groups of one kind with the same first rank must not.
  struct Group {
    std::vector<int> ranks;
    bool of_host = false;
  };

  // Bytes of zeroed shared memory that a meeting of `ranks` needs.
  static size_t Bytes(int ranks);

  Meeting(void* memory, int ranks, int rank) : memory_(memory), ranks_(ranks), rank_(rank) {}

  int rank() const { return rank_; }
  int ranks() const { return ranks_; }

  // `data` holds one record of `bytes` bytes for each of `group`, in that order; this rank's own is
  // filled.
  bool AllGather(const Group& group, void* data, size_t bytes);
  bool Barrier(const Group& group);

  // At most one message from one rank to another is under way; the next waits for its receipt.
  // False as well if the message that is there has another tag or size.
  bool Send(int to, int tag, const void* data, size_t bytes);
  bool Receive(int from, int tag, void* data, size_t bytes);

  // This rank failed: releases those who wait for it.
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
