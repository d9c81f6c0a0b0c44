// Groups of calls: collectives with messages, broadcasts with different roots, messages among some
// of the ranks, and messages that only one side groups.
#include <cuda_runtime.h>
#include <nccl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <string>

static void Check(ncclResult_t result) {
  if (result != ncclSuccess) {
    fprintf(stderr, "%s\n", ncclGetLastError(NULL));
    exit(1);
  }
}

static ncclUniqueId MeetAt(const std::string& path, int rank) {
  const std::string begun = path + ".new";
  ncclUniqueId id;
  if (rank == 0) {
    Check(ncclGetUniqueId(&id));
    FILE* file = fopen(begun.c_str(), "wb");
    fwrite(&id, sizeof id, 1, file);
    fclose(file);
    rename(begun.c_str(), path.c_str());
  }
  FILE* file = NULL;
  while ((file = fopen(path.c_str(), "rb")) == NULL) usleep(2000);
  if (fread(&id, sizeof id, 1, file) != 1) exit(1);
  fclose(file);
  return id;
}

struct World {
  ncclComm_t comm;
  int rank, ranks;
  char* data;
  void Send(int peer, size_t count) { Check(ncclSend(data, count, ncclFloat, peer, comm, NULL)); }
  void Receive(int peer, size_t count) {
    Check(ncclRecv(data, count, ncclFloat, peer, comm, NULL));
  }
};

// Several buckets of gradients in one group, the most common use of ncclGroupStart, with a message.
static void Buckets(World* w) {
  Check(ncclGroupStart());
  for (const size_t count : {3 << 20, 100, 1 << 18}) {
    Check(ncclAllReduce(w->data, w->data, count, ncclFloat, ncclSum, w->comm, NULL));
  }
  if (w->rank == 0) w->Send(w->ranks - 1, 5000);
  if (w->rank == w->ranks - 1) w->Receive(0, 5000);
  Check(ncclAllGather(w->data, w->data, 1 << 16, ncclFloat, w->comm, NULL));
  Check(ncclGroupEnd());
}

// An all-gather of uneven parts, as broadcasts.
static void UnevenGather(World* w) {
  Check(ncclGroupStart());
  for (int root = 0; root < w->ranks; ++root) {
    const size_t count = static_cast<size_t>(root + 1) * 20000;
    Check(ncclBroadcast(w->data, w->data, count, ncclFloat, root, w->comm, NULL));
  }
  Check(ncclGroupEnd());
}

// Each stage receives from the previous stage and sends to the next. The last rank is not a stage.
static void PipelineStep(World* w) {
  const int stages = w->ranks - 1;
  if (w->rank == stages) return;
  Check(ncclGroupStart());
  if (w->rank > 0) w->Receive(w->rank - 1, 1 << 20);
  if (w->rank + 1 < stages) w->Send(w->rank + 1, 1 << 20);
  Check(ncclGroupEnd());
}

// Rank 0 sends in two calls the data that rank 1 receives in one group. Other ranks make no calls.
static void TwoInOne(World* w) {
  if (w->rank == 0) {
    w->Send(1, 1000);
    w->Send(1, 2000);
  } else if (w->rank == 1) {
    Check(ncclGroupStart());
    w->Receive(0, 1000);
    w->Receive(0, 2000);
    Check(ncclGroupEnd());
  }
}

int main(int, char** argv) {
  World w = {};
  w.rank = atoi(getenv("RANK"));
  w.ranks = atoi(getenv("WORLD_SIZE"));
  const ncclUniqueId id = MeetAt(argv[1], w.rank);
  if (cudaSetDevice(atoi(getenv("LOCAL_RANK"))) != cudaSuccess) return 1;
  Check(ncclCommInitRank(&w.comm, w.ranks, id, w.rank));
  if (cudaMalloc((void**)&w.data, 64 << 20) != cudaSuccess) return 1;
  Buckets(&w);
  UnevenGather(&w);
  PipelineStep(&w);
  TwoInOne(&w);
  if (w.rank == 2) w.Send(5, 700);
  if (w.rank == 5) w.Receive(2, 700);
  Check(ncclCommDestroy(w.comm));
  return 0;
}
