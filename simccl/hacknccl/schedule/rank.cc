#include "simccl/hacknccl/schedule/rank.h"

#include <stdio.h>
#include <unistd.h>

#include "core/nccl/recording.h"
#include "simccl/hacknccl/calls/nccl_call.h"

namespace drydock::schedule {
namespace {

// No data moves, so all unregistered buffers have one address.
constexpr size_t kPlainBytes = 256;

// Marks the entries that follow in the log as this op's.
void Mark(int device, cudaStream_t stream, uint64_t op) {
  RecordEntry entry;
  entry.kind = RecordKind::kOp;
  entry.device = static_cast<int16_t>(device);
  entry.count = op;
  SetStream(reinterpret_cast<uint64_t>(stream), &entry);
  hacknccl_get_recording()->log(&entry);
}

}  // namespace

Rank::Rank(const char* file, int rank, int device)
    : file_(file),
      schedule_(*reinterpret_cast<const RankSchedule*>(file)),
      rank_(rank),
      device_(device),
      class_(schedule_.class_of_rank.In(file)[rank]) {
  place_ = "its start";
  Check(cudaSetDevice(device_), "cudaSetDevice");
  // As in PyTorch: compute goes to the default stream, communication to streams that ignore it.
  streams_.resize(static_cast<size_t>(schedule_.streams));
  for (size_t i = 1; i < streams_.size(); ++i) {
    Check(cudaStreamCreateWithFlags(&streams_[i], cudaStreamNonBlocking), "cudaStreamCreate");
  }
  Check(cudaMalloc(reinterpret_cast<void**>(&plain_), 2 * kPlainBytes), "cudaMalloc");
}

void Rank::MakeCommunicators(const ncclUniqueId& id) {
  place_ = "the world";
  communicators_.resize(1 + static_cast<size_t>(schedule_.splits));
  communicators_[0].member = rank_;
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  Check(ncclCommInitRankConfig(&communicators_[0].comm, schedule_.ranks, id, rank_, &config),
        "ncclCommInitRankConfig");
  for (int split = 0; split < schedule_.splits; ++split) Split(split);
}

void Rank::Split(int split) {
  const SchedulePart& part =
      schedule_.splits_of_world.In(file_)[int64_t{split} * schedule_.ranks + rank_];
  place_ = "group " + std::to_string(part.color);
  Communicator& made = communicators_[1 + static_cast<size_t>(split)];
  made.member = part.member;
  const int color = part.color < 0 ? NCCL_SPLIT_NOCOLOR : part.color;
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  Check(ncclCommSplit(communicators_[0].comm, color, part.member, &made.comm, &config),
        "ncclCommSplit");
  if (part.color < 0) return;
  int members = 0, member = 0;
  Check(ncclCommCount(made.comm, &members), "ncclCommCount");
  Check(ncclCommUserRank(made.comm, &member), "ncclCommUserRank");
  if (members != part.members || member != part.member) {
    Fail("NCCL says that the rank is " + std::to_string(member) + " of " + std::to_string(members) +
         ", the schedule " + std::to_string(part.member) + " of " + std::to_string(part.members));
  }
}

void Rank::PlayOps() {
  const ScheduleClass& program = schedule_.classes.In(file_)[class_];
  events_.resize(program.events);
  waits_ = schedule_.waits.In(file_) + program.wait_begin;
  const ScheduleOp* const ops = schedule_.ops.In(file_);
  for (uint64_t i = program.op_begin; i < program.op_end; ++i) {
    Play(ops[i], i - program.op_begin);
  }
  op_ = nullptr;
  place_ = "its end";
  Check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

void Rank::Play(const ScheduleOp& op, uint64_t number) {
  const cudaStream_t stream = streams_[op.stream];
  op_ = &op;
  number_ = number;
  for (uint32_t i = 0; i < op.waits; ++i) {
    Check(cudaStreamWaitEvent(stream, events_[*waits_++], 0), "cudaStreamWaitEvent");
  }
  if (op.host == ScheduleWait::kStream) {
    Check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  } else if (op.host == ScheduleWait::kDevice) {
    Check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  }
  Mark(device_, stream, number);
  if (op.call != ScheduleOp::kNone) {
    const int communicator =
        schedule_.communicators.In(file_)[int64_t{rank_} * schedule_.roles + op.role];
    MakeCalls(op, &communicators_[static_cast<size_t>(communicator)]);
  }
  if (op.event == ScheduleOp::kNone) return;
  Check(cudaEventCreateWithFlags(&events_[op.event], cudaEventDisableTiming), "cudaEventCreate");
  Check(cudaEventRecord(events_[op.event], stream), "cudaEventRecord");
}

void Rank::MakeCalls(const ScheduleOp& op, Communicator* communicator) {
  const ScheduleCall& call = schedule_.calls.In(file_)[op.call];
  const int member = call.same_for_all != 0 ? 0 : communicator->member;
  const ScheduleMember& own = schedule_.members.In(file_)[call.first + uint32_t(member)];
  const hacknccl_call* const parts = schedule_.parts.In(file_);
  const bool together = own.end - own.begin > 1;
  if (together) Check(ncclGroupStart(), "ncclGroupStart");
  for (uint64_t i = own.begin; i < own.end; ++i) {
    MakeCall(parts[i], streams_[op.stream], communicator);
  }
  if (together) Check(ncclGroupEnd(), "ncclGroupEnd");
}

void Rank::MakeCall(const hacknccl_call& call, cudaStream_t stream, Communicator* communicator) {
  char* const from = BufferFor(call.buffers, communicator);
  const uint64_t known = call.buffers == HACKNCCL_BUFFERS_PLAIN        ? kPlainBytes
                         : call.buffers == HACKNCCL_BUFFERS_REGISTERED ? schedule_.registered_bytes
                                                                       : schedule_.symmetric_bytes;
  char* const to = call.in_place != 0 ? from : from + known;
  Check(MakeNcclCall(call, from, to, communicator->comm, stream), NcclNameOf(call.function));
}

// Returns the send buffer; the receive buffer follows it. Registers both with the communicator if
// the call's buffers are registered.
char* Rank::BufferFor(int kind, Communicator* communicator) {
  if (kind == HACKNCCL_BUFFERS_PLAIN) return plain_;
  const bool symmetric = kind == HACKNCCL_BUFFERS_SYMMETRIC;
  char*& buffer = symmetric ? symmetric_ : registered_;
  const size_t bytes = 2 * (symmetric ? schedule_.symmetric_bytes : schedule_.registered_bytes);
  if (buffer == nullptr) {
    Check(ncclMemAlloc(reinterpret_cast<void**>(&buffer), bytes), "ncclMemAlloc");
  }
  bool& told = symmetric ? communicator->symmetric : communicator->registered;
  if (told) return buffer;
  told = true;
  if (symmetric) {
    ncclWindow_t window = nullptr;
    Check(
        ncclCommWindowRegister(communicator->comm, buffer, bytes, &window, NCCL_WIN_COLL_SYMMETRIC),
        "ncclCommWindowRegister");
  } else {
    void* handle = nullptr;
    Check(ncclCommRegister(communicator->comm, buffer, bytes, &handle), "ncclCommRegister");
  }
  return buffer;
}

void Rank::DestroyCommunicators() {
  while (!communicators_.empty()) {
    const ncclComm_t comm = communicators_.back().comm;
    if (comm != nullptr) Check(ncclCommDestroy(comm), "ncclCommDestroy");
    communicators_.pop_back();
  }
}

void Rank::Check(ncclResult_t result, const char* what) {
  if (result == ncclSuccess) return;
  const std::string reason = ncclGetLastError(nullptr);
  Fail(std::string(what) + ": " + (reason.empty() ? ncclGetErrorString(result) : reason));
}

void Rank::Check(cudaError_t error, const char* what) {
  if (error != cudaSuccess) Fail(std::string(what) + ": " + cudaGetErrorString(error));
}

void Rank::Fail(const std::string& reason) {
  if (op_ != nullptr) {
    place_ = "op " + std::to_string(number_) + " of class " + std::to_string(class_) + " (" +
             (schedule_.texts.In(file_) + op_->name) + ")";
  }
  fprintf(stderr, "rank %d, %s: %s\n", rank_, place_.c_str(), reason.c_str());
  fflush(stderr);
  _exit(1);  // other threads may be in the middle of anything
}

}  // namespace drydock::schedule
