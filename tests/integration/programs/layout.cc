// A typical program against nccl.h, with one process a rank. It joins the ranks through a file,
// splits the world into tensor (8 neighbors) and data groups, reduces, shifts data around a ring,
// gathers, continues with fewer ranks, and checks that wrong calls fail with NCCL's errors.
//
//   layout ID_FILE [MISTAKE]
//
// MISTAKE names the mistake that one rank makes: count, missing, send, overflow, crash, split.
#include <cuda_runtime.h>
#include <nccl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <string>

#define CHECK(call, wanted)                                                \
  do {                                                                     \
    const int got_ = (int)(call);                                          \
    if (got_ != (int)(wanted)) {                                           \
      fprintf(stderr, "line %d: %s gives %d: %s\n", __LINE__, #call, got_, \
              ncclGetLastError(NULL));                                     \
      exit(1);                                                             \
    }                                                                      \
  } while (0)
#define NCCL(call) CHECK(call, ncclSuccess)
#define CUDA(call) CHECK(call, cudaSuccess)

static int Number(const char* name) { return atoi(getenv(name)); }

static ncclUniqueId Meet(const std::string& path, int rank) {
  ncclUniqueId id;
  if (rank == 0) {
    NCCL(ncclGetUniqueId(&id));
    FILE* file = fopen((path + ".new").c_str(), "wb");
    fwrite(&id, sizeof id, 1, file);
    fclose(file);
    rename((path + ".new").c_str(), path.c_str());
    return id;
  }
  FILE* file = NULL;
  while ((file = fopen(path.c_str(), "rb")) == NULL) usleep(2000);
  if (fread(&id, sizeof id, 1, file) != 1) exit(1);
  fclose(file);
  return id;
}

static void CheckError(const char* part) {
  if (strstr(ncclGetLastError(NULL), part) != NULL) return;
  fprintf(stderr, "'%s' is not in '%s'\n", part, ncclGetLastError(NULL));
  exit(1);
}

static void MakeWrongCalls(ncclComm_t world, int ranks, float* data, cudaStream_t stream) {
  CHECK(ncclAllReduce(data, data, 8, ncclFloat, ncclSum, NULL, stream), ncclInvalidArgument);
  CheckError("AllReduce : comm argument is NULL");
  CHECK(ncclBroadcast(data, data, 8, ncclFloat, ranks, world, stream), ncclInvalidArgument);
  CheckError("Broadcast : invalid root");
  CHECK(ncclAllReduce(data, data, 8, (ncclDataType_t)77, ncclSum, world, stream),
        ncclInvalidArgument);
  CheckError("AllReduce : invalid type 77");
  CHECK(ncclAllReduce(data, data, 8, ncclFloat, (ncclRedOp_t)900, world, stream),
        ncclInvalidArgument);
  CheckError("reduction operation 900 unknown to this communicator");
  CHECK(ncclGroupEnd(), ncclInvalidUsage);
  CheckError("ncclGroupEnd: not in a group call.");
  // A group that fails issues none of its calls.
  NCCL(ncclGroupStart());
  NCCL(ncclAllReduce(data, data, 8, ncclFloat, ncclSum, world, stream));
  CHECK(ncclSend(data, 8, ncclFloat, -1, world, stream), ncclInvalidArgument);
  CHECK(ncclGroupEnd(), ncclInvalidArgument);
  ncclComm_t none = NULL;
  ncclUniqueId id;
  memset(&id, 1, sizeof id);
  CHECK(ncclCommInitRank(&none, 4, id, 4), ncclInvalidArgument);
  CheckError("Invalid rank requested : 4/4");
  CHECK(cudaSetDevice(1000), cudaErrorInvalidDevice);
}

int main(int argc, char** argv) {
  const int rank = Number("RANK"), ranks = Number("WORLD_SIZE");
  const std::string mistake = argc > 2 ? argv[2] : "";
  const bool wrong = rank == 3;
  CUDA(cudaSetDevice(Number("LOCAL_RANK")));
  float* data = NULL;
  CUDA(cudaMalloc((void**)&data, 64 << 20));
  cudaStream_t tensor_stream, data_stream;
  CUDA(cudaStreamCreateWithFlags(&tensor_stream, cudaStreamNonBlocking));
  CUDA(cudaStreamCreateWithFlags(&data_stream, cudaStreamNonBlocking));
  cudaEvent_t ready;
  CUDA(cudaEventCreateWithFlags(&ready, cudaEventDisableTiming));

  ncclComm_t world, tensor, replicas;
  NCCL(ncclCommInitRank(&world, ranks, Meet(argv[1], rank), rank));
  int count = 0, own = -1, device = -1;
  NCCL(ncclCommCount(world, &count));
  NCCL(ncclCommUserRank(world, &own));
  NCCL(ncclCommCuDevice(world, &device));
  CHECK(count, ranks);
  CHECK(own, rank);
  CHECK(device, Number("LOCAL_RANK"));
  if (mistake == "crash" && wrong) abort();
  if (mistake == "split" && wrong) return 0;
  NCCL(ncclCommSplit(world, rank / 8, rank, &tensor, NULL));
  NCCL(ncclCommSplit(world, rank % 8, rank, &replicas, NULL));
  MakeWrongCalls(world, ranks, data, tensor_stream);

  for (int step = 0; step < 2; ++step) {
    const size_t size = mistake == "count" && wrong ? 100 : 1 << 20;
    NCCL(ncclAllReduce(data, data, size, ncclFloat, ncclSum, tensor, tensor_stream));
    CUDA(cudaEventRecord(ready, tensor_stream));
    CUDA(cudaStreamWaitEvent(data_stream, ready, 0));
    NCCL(ncclReduceScatter(data, data, 1 << 18, ncclBfloat16, ncclAvg, replicas, data_stream));
  }
  int place = 0, places = 0;
  NCCL(ncclCommUserRank(tensor, &place));
  NCCL(ncclCommCount(tensor, &places));
  NCCL(ncclGroupStart());
  if (!(mistake == "send" && rank == 4))
    NCCL(ncclRecv(data, 4096, ncclFloat, (place + places - 1) % places, tensor, data_stream));
  NCCL(ncclSend(data, 4096, ncclFloat, (place + 1) % places, tensor, data_stream));
  NCCL(ncclGroupEnd());
  NCCL(ncclGather(data, data, 512, ncclFloat, 0, tensor, data_stream));
  CUDA(cudaStreamSynchronize(data_stream));
  const size_t most = mistake == "overflow" ? (size_t)1 << 60 : 1024;
  if (!(mistake == "missing" && wrong))
    NCCL(ncclAllReduce(data, data, most, ncclFloat, ncclMax, world, tensor_stream));
  CUDA(cudaDeviceSynchronize());

  // All ranks except the last continue.
  int excluded = ranks - 1;
  if (rank != excluded) {
    ncclComm_t rest;
    NCCL(ncclCommShrink(world, &excluded, 1, &rest, NULL, NCCL_SHRINK_DEFAULT));
    NCCL(ncclAllGather(data, data, 64, ncclFloat, rest, NULL));
    NCCL(ncclCommDestroy(rest));
  }

  NCCL(ncclCommFinalize(tensor));
  NCCL(ncclCommDestroy(tensor));
  NCCL(ncclCommDestroy(replicas));
  NCCL(ncclCommDestroy(world));
  CUDA(cudaFree(data));
  if (rank == 0) printf("done, %d ranks\n", ranks);
  return 0;
}
