#include "tests/fuzz/astra_target.h"

#include <algorithm>

#include "core/base/check.h"
#include "core/schema/foreign/astra_files.h"
#include "exec-engine/dimensions/dimension_system.h"
#include "tests/fuzz/printable.h"

namespace drydock::fuzz {

void AstraNetwork(const std::string& input) {
  const Result<DimensionNetwork> network = ParseAstraNetwork(input, "f");
  CheckPrintable(network);
  if (!network.ok()) return;
  const int npus = std::min(network->npus(), 32);
  for (int from = 0; from < npus; ++from) {
    for (int to = 0; to < npus; ++to) {
      if (from != to) CHECK(network->Delay(from, to, 1 << 20) >= Time());
    }
  }
}

std::vector<std::string> AstraNetworkSeeds() {
  return {
      "topology: [ Ring ]\nnpus_count: [ 4 ]\nbandwidth: [ 50.0 ]  # GB/s\nlatency: [ 500.0 ]\n",
      "topology: [Ring, FullyConnected, Switch]\nnpus_count: [2, 8, 4]\n"
      "bandwidth: [200, 100, 50]\nlatency: [50, 500, 2000]\n"};
}

void AstraSystem(const std::string& input) {
  static const DimensionNetwork network = *ParseAstraNetwork(
      "topology: [Ring, Switch]\nnpus_count: [4, 2]\nbandwidth: [50, 25]\nlatency: [500, 700]\n",
      "n");
  const Result<CollectiveSystem> system = ParseAstraSystem(input, "f", network);
  CheckPrintable(system);
  if (!system.ok() || system->splits > 100) return;
  using enum CollectiveType;
  for (const CollectiveType type : {kAllReduce, kAllGather, kReduceScatter, kAllToAll}) {
    CHECK(TimeOfCollective(network, *system, type, 12345) > Time());
    CHECK(TimeOfCollective(network, *system, type, 1 << 20) ==
          TimeOfCollective(network, *system, type, 1 << 20, /*fold=*/false));
  }
}

std::vector<std::string> AstraSystemSeeds() {
  return {R"({"scheduling-policy": "LIFO", "endpoint-delay": 10, "active-chunks-per-dimension": 1,
"preferred-dataset-splits": 4, "all-reduce-implementation": ["ring", "doubleBinaryTree"],
"all-gather-implementation": ["ring", "direct"],
"reduce-scatter-implementation": ["halvingDoubling", "ring"],
"all-to-all-implementation": ["oneDirect2"],
"collective-optimization": "localBWAware", "local-mem-bw": 1600, "boost-mode": 0,
"roofline-enabled": 0, "peak-perf": 900})",
          R"({"scheduling-policy": "EXPLICIT", "preferred-dataset-splits": 3, "local-mem-bw": 50.5,
"all-reduce-implementation": ["oneHalvingDoubling"], "all-gather-implementation": ["oneRing"],
"reduce-scatter-implementation": ["direct1", "direct9"],
"all-to-all-implementation": ["ring", "direct"], "collective-optimization": "baseline"})"};
}

}  // namespace drydock::fuzz
