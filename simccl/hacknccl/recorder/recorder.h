// The process as a recorded program: which virtual host it lives on, how its ranks meet those of
// other processes, and the log of what it issues. nccl-record started it and is at the other end
// (core/nccl/recording.h).
//
// In a recorded process NCCL's own code checks arguments and runs group calls; the hooks of
// record_calls.cc and record_communicator.cc take over where it would search a topology or launch
// kernels. A communicator is one real rank, with nothing in it but its members' number and its
// name.
//
// Thread-safe. Lives for the whole process: programs call NCCL from their own static destructors.
#ifndef DRYDOCK_SIMCCL_HACKNCCL_RECORDER_RECORDER_H_
#define DRYDOCK_SIMCCL_HACKNCCL_RECORDER_RECORDER_H_

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "core/nccl/recording.h"
#include "simccl/hacknccl/session.h"

struct ncclComm;

struct ncclInfo;

namespace drydock {

class Recorder {
 public:
  static Recorder& Get();

  // False if nccl-record did not start this process, or cannot be reached any more; reason() says
  // which. Then the host has no GPU.
  bool connected() const { return reason_.empty(); }
  const std::string& reason() const { return reason_; }
  const RecordHost& host() const { return host_; }
  uint32_t process() const { return process_; }
  Session* session() { return &session_; }

  // Gives `bytes` bytes at `own` to all members and waits for theirs: all->size() becomes members
  // * bytes. Returns "" or the reason why it cannot be. *serial, if given, names this exchange.
  std::string Exchange(const RecordRequest& request, const void* own, std::vector<char>* all,
                       uint64_t* serial = nullptr);

  // Takes entries in this order; nobody else's come between. Calls and communicators are written at
  // once, with all that came before them.
  void Log(const RecordEntry* entries, size_t count);
  // Counts something that is written only with the next entry, or when the process ends.
  void CountKernel(int device) { Count(device, RecordKind::kKernels); }
  void CountCopy(int device) { Count(device, RecordKind::kCopies); }
  // Writes what is left.
  void Finish();

 private:
  Recorder();
  std::string Connect();
  std::string Ask(const RecordRequest& request, const void* payload, RecordReply* reply,
                  std::vector<char>* answer) const;
  std::string OpenLog();
  void MakeSession();
  void Count(int device, RecordKind kind);
  void AppendCounts(std::vector<RecordEntry>* entries);
  void WritePending();
  void DropOfParent();
  void Write(const RecordEntry* entries, size_t count);

  std::string reason_;
  std::string socket_;
  uint32_t process_ = 0;
  RecordHost host_;
  std::vector<HostClass> classes_;
  Layout layout_;
  Session session_;

  std::mutex mutex_;
  int log_ = -1;
  std::vector<RecordEntry> pending_;
  int pending_of_ = 0;  // the process whose they are
  uint64_t kernels_[RecordHost::kMostGpus] = {};
  uint64_t copies_[RecordHost::kMostGpus] = {};
};

// The number under which the log knows a recorded communicator.
uint64_t SerialOf(const ncclComm& comm);

// What the program had told NCCL of a call's buffers, of this rank.
RecordBuffers BuffersOf(const ncclInfo& info);

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_HACKNCCL_RECORDER_RECORDER_H_
