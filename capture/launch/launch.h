// What a launcher (torchrun, srun, mpirun, deepspeed, accelerate) would start: the program of every
// rank, and where the ranks are. Plain data.
#ifndef DRYDOCK_CAPTURE_LAUNCH_LAUNCH_H_
#define DRYDOCK_CAPTURE_LAUNCH_LAUNCH_H_

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "core/base/process.h"
#include "core/base/result.h"

namespace drydock::capture {

// The numbers by which a rank's program differs from that of another rank.
enum class RankNumber { kRank, kLocalRank, kHost };

// Word `index` of the command is `before`, the number and `after`: "--local_rank=3".
struct RankWord {
  size_t index = 0;
  std::string before;
  RankNumber number = RankNumber::kRank;
  std::string after;
  bool operator==(const RankWord&) const = default;
};

struct Launch {
  std::string launcher;              // "torchrun"; "" for a program that is started by itself
  std::vector<std::string> command;  // of rank 0
  std::vector<RankWord> rank_words;  // of the command, by index
  std::string folder;                // in which the ranks start
  // The whole environment of rank 0, and the variables of it that are numbers of the rank. What
  // torchrun sets for each rank (RANK, WORLD_SIZE, MASTER_ADDR ...) comes on top of it.
  Variables environment;
  std::vector<std::pair<std::string, RankNumber>> rank_variables;
  int hosts = 1;
  int ranks_per_host = 1;

  int ranks() const { return hosts * ranks_per_host; }
};

int NumberOf(const Launch& launch, int rank, RankNumber number);
// The command and the environment of one rank.
std::vector<std::string> CommandOf(const Launch& launch, int rank);
Variables EnvironmentOf(const Launch& launch, int rank);

// What a launcher has to know of the cluster.
struct ClusterSize {
  int hosts = 1;
  int gpus_per_host = 8;
  // As nvidia-smi prints them; "" and 0: not known.
  std::string gpu;                 // "NVIDIA H100 SXM 80G"
  std::string compute_capability;  // "9.0"
  long memory_mib = 0;
  std::string driver = "";  // "580.65.06"
};

// Errors: more ranks or hosts than the cluster has; the message has both numbers.
Status CheckFits(const Launch& launch, const ClusterSize& cluster, const std::string& cluster_file);

}  // namespace drydock::capture

#endif  // DRYDOCK_CAPTURE_LAUNCH_LAUNCH_H_
