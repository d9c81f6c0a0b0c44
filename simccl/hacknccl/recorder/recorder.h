// This process as a recorded program: its virtual host, how its ranks meet ranks of other
// processes, and the log of what it issues. nccl-record started the process and answers its
// requests (core/nccl/recording.h). In a capture, libhackcuda does so (core/nccl/capture.h).
//
// In a recorded process NCCL's own code checks arguments and runs group calls. The hooks of
// record_calls.cc and record_communicator.cc take over where NCCL would search a topology or launch
// kernels. A communicator is one real rank that knows only its size and its name.
//
// Thread-safe. Lives as long as the process: programs call NCCL from static destructors.
#ifndef DRYDOCK_SIMCCL_HACKNCCL_RECORDER_RECORDER_H_
#define DRYDOCK_SIMCCL_HACKNCCL_RECORDER_RECORDER_H_

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "core/nccl/capture.h"
#include "core/nccl/recording.h"
#include "simccl/hacknccl/session/session.h"

struct ncclComm;

struct ncclInfo;

namespace drydock {

class Recorder {
 public:
  static Recorder& Get();

  // Returns false if nccl-record did not start this process or cannot be reached; reason() tells
  // the cause. The host then has no GPU.
  bool connected() const { return reason_.empty(); }
  const std::string& reason() const { return reason_; }
  const RecordHost& host() const { return host_; }
  uint32_t process() const { return process_; }
  bool captures() const { return capture_ != nullptr; }
  Session* session() { return &session_; }

  // Sends request.bytes bytes at `own` to all members and waits for theirs; `all` gets
  // request.bytes bytes per member. Returns "" or the reason of the failure. *serial, if given,
  // identifies the exchange.
  std::string Exchange(const RecordRequest& request, const void* own, std::vector<char>* all,
                       uint64_t* serial = nullptr);

  // Appends entries without others in between. Writes calls and communicators at once, with all
  // entries before them.
  void Log(const RecordEntry* entries, size_t count);
  // In a capture, does what a valid call does to the buffers.
  void Move(const RecordEntry& call, const ncclInfo& info) const;
  // Counts a kernel or copy. The count is written with the next entry, or when the process ends.
  void CountKernel(int device) { Count(device, RecordKind::kKernels); }
  void CountCopy(int device) { Count(device, RecordKind::kCopies); }
  // Writes all pending entries.
  void Finish();

 private:
  Recorder();
  std::string Connect();
  void FindCapture();
  std::string Ask(const RecordRequest& request, const void* payload, RecordReply* reply,
                  std::vector<char>* answer) const;
  std::string OpenLog();
  void MakeSession();
  void Count(int device, RecordKind kind);
  void AppendCounts(std::vector<RecordEntry>* entries);
  void WritePending();
  void DropEntriesOfParent();
  void Write(const RecordEntry* entries, size_t count);

  std::string reason_;
  const CaptureApi* capture_ = nullptr;  // null: nccl-record started the process
  std::string socket_;
  uint32_t process_ = 0;
  RecordHost host_;
  std::vector<HostClass> classes_;
  Layout layout_;
  Session session_;

  std::mutex mutex_;
  int log_ = -1;
  std::vector<RecordEntry> pending_;
  int pending_of_ = 0;  // the process that issued pending_
  uint64_t kernels_[RecordHost::kMaxGpus] = {};
  uint64_t copies_[RecordHost::kMaxGpus] = {};
};

// Returns the number of a recorded communicator in the log.
uint64_t SerialOf(const ncclComm& comm);

// Returns what NCCL knows of this rank's buffers of a call.
RecordBuffers BuffersOf(const ncclInfo& info);

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_HACKNCCL_RECORDER_RECORDER_H_
