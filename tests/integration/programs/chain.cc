// Passes a buffer from rank to rank: each rank receives from the previous rank, then sends to the
// next rank.
#include <cuda_runtime.h>
#include <nccl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <string>

int main(int, char** argv) {
  const int rank = atoi(getenv("RANK")), ranks = atoi(getenv("WORLD_SIZE"));
  const std::string path = argv[1], begun = path + ".new";
  ncclUniqueId id;
  if (rank == 0) {
    if (ncclGetUniqueId(&id) != ncclSuccess) return 1;
    FILE* file = fopen(begun.c_str(), "wb");
    fwrite(&id, sizeof id, 1, file);
    fclose(file);
    rename(begun.c_str(), path.c_str());
  }
  FILE* file = NULL;
  while ((file = fopen(path.c_str(), "rb")) == NULL) usleep(2000);
  if (fread(&id, sizeof id, 1, file) != 1) return 1;
  fclose(file);

  ncclComm_t comm;
  if (cudaSetDevice(atoi(getenv("LOCAL_RANK"))) != cudaSuccess) return 1;
  if (ncclCommInitRank(&comm, ranks, id, rank) != ncclSuccess) return 1;
  float* data = NULL;
  if (cudaMalloc((void**)&data, 4 << 20) != cudaSuccess) return 1;
  if (rank > 0 && ncclRecv(data, 1 << 20, ncclFloat, rank - 1, comm, NULL) != ncclSuccess) return 1;
  if (rank + 1 < ranks && ncclSend(data, 1 << 20, ncclFloat, rank + 1, comm, NULL) != ncclSuccess)
    return 1;
  return ncclCommDestroy(comm) == ncclSuccess ? 0 : 1;
}
