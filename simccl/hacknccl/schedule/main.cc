// The program that `nccl-record --schedule` runs. Each process runs several ranks of the schedule,
// one per thread.
//
//   nccl-schedule SCHEDULE ID_FILE RANKS GPUS_PER_PROCESS
//
// RANKS is the number of ranks of all processes. Rank 0 writes the communicator's id to ID_FILE.
// The process finds its place in GROUP_RANK (the host) and LOCAL_RANK, as under torchrun.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "simccl/hacknccl/schedule/rank.h"

namespace drydock::schedule {
namespace {

// The longest pause between two checks for the file.
constexpr unsigned kMaxMicroseconds = 20'000;

[[noreturn]] void Fail(const std::string& what) {
  fprintf(stderr, "%s\n", what.c_str());
  _exit(1);
}

int Number(const char* variable) {
  const char* const text = getenv(variable);
  if (text == nullptr) Fail(std::string(variable) + " is not set; nccl-record starts this program");
  return atoi(text);
}

const char* Map(const char* path) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  struct stat about = {};
  if (file < 0 || fstat(file, &about) != 0) Fail(std::string("cannot read ") + path);
  void* const data =
      mmap(nullptr, static_cast<size_t>(about.st_size), PROT_READ, MAP_SHARED, file, 0);
  if (data == MAP_FAILED) Fail(std::string("cannot map ") + path);
  close(file);
  return static_cast<const char*>(data);
}

// Rank 0 makes the id, as init_process_group does, and writes it to the file.
ncclUniqueId ShareId(const std::string& path, bool first) {
  ncclUniqueId id;
  if (first) {
    if (ncclGetUniqueId(&id) != ncclSuccess) Fail(ncclGetLastError(nullptr));
    const std::string begun = path + ".new";
    FILE* const file = fopen(begun.c_str(), "wb");
    if (file == nullptr || fwrite(&id, sizeof id, 1, file) != 1 || fclose(file) != 0 ||
        rename(begun.c_str(), path.c_str()) != 0) {
      Fail("cannot write " + path);
    }
    return id;
  }
  FILE* file = nullptr;
  for (unsigned wait = 1000; (file = fopen(path.c_str(), "rb")) == nullptr;) {
    usleep(wait);
    wait = std::min(2 * wait, kMaxMicroseconds);
  }
  if (fread(&id, sizeof id, 1, file) != 1) Fail("cannot read " + path);
  fclose(file);
  return id;
}

void Run(const char* schedule, int rank, int device, const ncclUniqueId& id) {
  Rank played(schedule, rank, device);
  played.MakeCommunicators(id);
  played.PlayOps();
  played.DestroyCommunicators();
}

int Main(int argc, char** argv) {
  if (argc != 5) Fail("usage: nccl-schedule SCHEDULE ID_FILE RANKS GPUS_PER_PROCESS");
  const char* const schedule = Map(argv[1]);
  const int ranks = atoi(argv[3]), gpus = atoi(argv[4]);
  const int host = Number("GROUP_RANK"), first_device = Number("LOCAL_RANK") * gpus;
  const int first_rank =
      reinterpret_cast<const RankSchedule*>(schedule)->first_rank_of_host.In(schedule)[host];
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess) Fail("no GPU; nccl-record starts this program");
  const ncclUniqueId id = ShareId(argv[2], first_rank + first_device == 0);
  std::vector<std::thread> threads;
  for (int device = first_device; device < std::min(devices, first_device + gpus); ++device) {
    const int rank = first_rank + device;
    if (rank < ranks) threads.emplace_back(Run, schedule, rank, device, id);
  }
  for (std::thread& thread : threads) thread.join();
  return 0;
}

}  // namespace
}  // namespace drydock::schedule

int main(int argc, char** argv) { return drydock::schedule::Main(argc, argv); }
