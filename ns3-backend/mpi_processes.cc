#include "ns3-backend/mpi_processes.h"

#include <fcntl.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <thread>
#include <utility>

#include "core/base/check.h"
#include "core/base/cli.h"
#include "ns3/mpi-interface.h"

namespace drydock {
namespace {

constexpr int kExitInternal = 3;
constexpr int kWindow = 1, kResult = 2;         // tags
constexpr uint64_t kPiece = uint64_t{1} << 30;  // MPI counts in ints
constexpr int kSpins = 2000;                    // about a tenth of a millisecond

class MpiProcesses final : public Processes {
 public:
  MpiProcesses() {
    int provided = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
    CHECK(provided >= MPI_THREAD_FUNNELED);
    ns3::MpiInterface::Enable(MPI_COMM_WORLD);
    index_ = static_cast<int>(ns3::MpiInterface::GetSystemId());
    count_ = static_cast<int>(ns3::MpiInterface::GetSize());
    // ns-3 waits on its own communicator for packets that never arrive.
    MPI_Comm_dup(ns3::MpiInterface::GetCommunicator(), &all_);
    MPI_Comm machine;
    MPI_Comm_split_type(all_, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
    MPI_Comm_size(machine, &here_);
    MPI_Comm_free(&machine);
  }

  ~MpiProcesses() override {
    MPI_Comm_free(&all_);
    ns3::MpiInterface::Disable();
    MPI_Finalize();
  }

  int index() const override { return index_; }
  int count() const override { return count_; }
  int count_here() const override { return here_; }

  std::vector<std::string> GatherAll(const std::string& own) override {
    const auto size = static_cast<size_t>(count_);
    const int bytes = Count(own.size());
    std::vector<int> sizes(size), begins(size);
    MPI_Allgather(&bytes, 1, MPI_INT, sizes.data(), 1, MPI_INT, all_);
    uint64_t total = 0;
    for (size_t p = 0; p < size; ++p) {
      begins[p] = Count(total);
      total += static_cast<uint64_t>(sizes[p]);
    }
    std::string joined(static_cast<size_t>(Count(total)), '\0');
    MPI_Allgatherv(own.data(), bytes, MPI_BYTE, joined.data(), sizes.data(), begins.data(),
                   MPI_BYTE, all_);
    std::vector<std::string> parts;
    for (size_t p = 0; p < size; ++p) {
      parts.push_back(joined.substr(static_cast<size_t>(begins[p]), static_cast<size_t>(sizes[p])));
    }
    return parts;
  }

  std::vector<std::string> GatherAtFirst(std::string own) override {
    if (!first()) {
      const uint64_t bytes = own.size();
      MPI_Send(&bytes, 1, MPI_UINT64_T, 0, kResult, all_);
      for (uint64_t at = 0; at < bytes; at += kPiece) {
        MPI_Send(own.data() + at, Count(std::min(kPiece, bytes - at)), MPI_BYTE, 0, kResult, all_);
      }
      return {};
    }
    std::vector<std::string> parts(static_cast<size_t>(count_));
    parts[0] = std::move(own);
    for (int p = 1; p < count_; ++p) {
      uint64_t bytes = 0;
      MPI_Recv(&bytes, 1, MPI_UINT64_T, p, kResult, all_, MPI_STATUS_IGNORE);
      std::string& part = parts[static_cast<size_t>(p)];
      part.resize(bytes);
      for (uint64_t at = 0; at < bytes; at += kPiece) {
        MPI_Recv(part.data() + at, Count(std::min(kPiece, bytes - at)), MPI_BYTE, p, kResult, all_,
                 MPI_STATUS_IGNORE);
      }
    }
    return parts;
  }

  void Exchange(const std::vector<std::string>& out, std::vector<std::string>* in) override {
    requests_.clear();
    for (int p = 0; p < count_; ++p) {
      if (p == index_) continue;
      const std::string& parcel = out[static_cast<size_t>(p)];
      MPI_Isend(parcel.data(), Count(parcel.size()), MPI_BYTE, p, kWindow, all_,
                &requests_.emplace_back());
    }
    for (int p = 0; p < count_; ++p) {
      if (p != index_) Receive(p, &(*in)[static_cast<size_t>(p)]);
    }
    Until([this] {
      int sent = 0;
      MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &sent, MPI_STATUSES_IGNORE);
      return sent != 0;
    });
  }

 private:
  static int Count(uint64_t bytes) {
    CHECK_NOTE(bytes <= INT_MAX, "more bytes than MPI can count");
    return static_cast<int>(bytes);
  }

  // Polls until the request completes. On a machine with fewer free cores than threads the other
  // process may wait for this core; a short sleep returns the core sooner than yielding does.
  template <typename Try>
  static void Until(Try succeeds) {
    for (int tries = 0; !succeeds(); ++tries) {
      if (tries >= kSpins) std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
  }

  void Receive(int from, std::string* parcel) {
    MPI_Status status;
    Until([&] {
      int there = 0;
      MPI_Iprobe(from, kWindow, all_, &there, &status);
      return there != 0;
    });
    int bytes = 0;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    parcel->resize(static_cast<size_t>(bytes));
    MPI_Recv(parcel->data(), bytes, MPI_BYTE, from, kWindow, all_, MPI_STATUS_IGNORE);
  }

  MPI_Comm all_ = MPI_COMM_NULL;
  int index_ = 0, count_ = 1, here_ = 1;
  std::vector<MPI_Request> requests_;  // scratch
};

std::unique_ptr<MpiProcesses> joined;

bool StartedByMpirun() {
  // OpenMPI's mpirun sets these variables. They decide which processes compute, never a result.
  const char* size = std::getenv("OMPI_COMM_WORLD_SIZE");
  return size != nullptr && std::atoi(size) > 1;
}

}  // namespace

Processes& JoinProcesses() {
  if (!StartedByMpirun()) return OneProcess();
  CHECK_NOTE(joined == nullptr, "processes are joined once");
  joined = std::make_unique<MpiProcesses>();
  if (!joined->first()) {
    const int nowhere = ::open("/dev/null", O_WRONLY);
    ::dup2(nowhere, STDOUT_FILENO);
    ::close(nowhere);
    SayNothing();
  }
  return *joined;
}

int LeaveProcesses(int status) {
  if (joined == nullptr) return status;
  // The other processes wait for this one.
  if (status == kExitInternal) MPI_Abort(MPI_COMM_WORLD, status);
  // One exit status other than 0 is enough: mpirun kills the remaining processes.
  if (!joined->first()) status = 0;
  joined.reset();
  return status;
}

}  // namespace drydock
