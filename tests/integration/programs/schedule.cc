// Makes the calls of a generated workload on NCCL, one process a rank: splits the world into the
// workload's groups and calls in the order of the rank's list.
//
//   schedule ID_FILE FOLDER
//
// FOLDER/RANK has a line a thing: "group COLOR", one for each group in the same order on all ranks
// (COLOR -1: this rank is not in it); "all-reduce GROUP BYTES" and its like, "send GROUP BYTES PEER",
// "recv GROUP BYTES PEER": with the number of the group in that order, and the peer's place in it.
#include <cuda_runtime.h>
#include <nccl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#define CHECK(call)                                                                     \
  do {                                                                                  \
    const int got_ = (int)(call);                                                       \
    if (got_ != 0) {                                                                    \
      fprintf(stderr, "line %d: %s gives %d: %s\n", __LINE__, #call, got_,              \
              ncclGetLastError(NULL));                                                  \
      exit(1);                                                                          \
    }                                                                                   \
  } while (0)

static int Number(const char* name) { return atoi(getenv(name)); }

static ncclUniqueId Meet(const std::string& path, int rank) {
  ncclUniqueId id;
  if (rank == 0) {
    CHECK(ncclGetUniqueId(&id));
    std::ofstream(path + ".new", std::ios::binary).write(id.internal, sizeof id.internal);
    rename((path + ".new").c_str(), path.c_str());
    return id;
  }
  while (access(path.c_str(), R_OK) != 0) usleep(2000);
  std::ifstream(path, std::ios::binary).read(id.internal, sizeof id.internal);
  return id;
}

struct Group {
  ncclComm_t comm = NULL;
  cudaStream_t stream, sends, receives;
  int size = 0;
};

static void Call(const std::string& what, size_t bytes, int peer, char* data, const Group& g) {
  const size_t part = bytes / (size_t)g.size;
  if (what == "all-reduce") {
    CHECK(ncclAllReduce(data, data, bytes, ncclInt8, ncclSum, g.comm, g.stream));
  } else if (what == "all-gather") {
    CHECK(ncclAllGather(data, data, part, ncclInt8, g.comm, g.stream));
  } else if (what == "reduce-scatter") {
    CHECK(ncclReduceScatter(data, data, part, ncclInt8, ncclSum, g.comm, g.stream));
  } else if (what == "broadcast") {
    CHECK(ncclBroadcast(data, data, bytes, ncclInt8, 0, g.comm, g.stream));
  } else if (what == "send") {
    CHECK(ncclSend(data, bytes, ncclInt8, peer, g.comm, g.sends));
  } else if (what == "recv") {
    CHECK(ncclRecv(data, bytes, ncclInt8, peer, g.comm, g.receives));
  } else {
    fprintf(stderr, "what is %s?\n", what.c_str());
    exit(1);
  }
}

int main(int, char** argv) {
  const int rank = Number("RANK"), ranks = Number("WORLD_SIZE");
  CHECK(cudaSetDevice(Number("LOCAL_RANK")));
  char* data = NULL;
  CHECK(cudaMalloc((void**)&data, (size_t)8 << 30));
  ncclComm_t world;
  CHECK(ncclCommInitRank(&world, ranks, Meet(argv[1], rank), rank));
  std::vector<Group> groups;
  std::ifstream lines(std::string(argv[2]) + "/" + std::to_string(rank));
  std::string line;
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    std::string what;
    words >> what;
    if (what == "group") {
      int color = -1;
      words >> color;
      Group g;
      CHECK(ncclCommSplit(world, color < 0 ? NCCL_SPLIT_NOCOLOR : color, rank, &g.comm, NULL));
      if (color >= 0) CHECK(ncclCommCount(g.comm, &g.size));
      for (cudaStream_t* stream : {&g.stream, &g.sends, &g.receives}) {
        CHECK(cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking));
      }
      groups.push_back(g);
      continue;
    }
    size_t group = 0, bytes = 0;
    int peer = 0;
    words >> group >> bytes >> peer;
    Call(what, bytes, peer, data, groups[group]);
  }
  CHECK(cudaDeviceSynchronize());
  return 0;
}
