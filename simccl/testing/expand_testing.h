// Shared by the tests of the expansion: hosts, groups of every shape, and collectives as NCCL
// passes them to its kernels.
#ifndef DRYDOCK_SIMCCL_TESTING_EXPAND_TESTING_H_
#define DRYDOCK_SIMCCL_TESTING_EXPAND_TESTING_H_

#include <string>
#include <vector>

#include "core/model/flow_plan.h"
#include "core/model/workload.h"
#include "core/nccl/nccl_library.h"
#include "core/nccl/nccl_settings.h"

namespace drydock {

// Host classes of the world.
enum TestHost : int { kH100, kA100, kH100Sharp, kA100Sharp, kA100FourNicsSharp, kTestHosts };
const NcclWorld& ExpansionWorld();
// The settings of every world of the process.
const NcclSettings& ExpansionSettings();

// GPUs on hosts of one class. Ranks go host by host, or round-robin over the hosts.
struct GroupShape {
  TestHost host = kH100;
  std::vector<std::vector<int>> gpus;  // by host
  bool round_robin = false;

  int ranks() const;
  std::vector<hacknccl_place> Places() const;
  std::string ToString() const;
};
GroupShape SameGpusOnHosts(TestHost host, int hosts, const std::vector<int>& gpus);
// Makes the communicator. A failure is an error of the test.
NcclCommunicator Open(const GroupShape& shape);
// Makes a communicator of the first GPUs of DGX H100s.
NcclCommunicator OpenH100s(int hosts, int gpus_per_host);

// A collective that NCCL could have chosen.
struct KernelChoice {
  int function = HACKNCCL_ALL_REDUCE;
  int algorithm = HACKNCCL_RING;
  int protocol = HACKNCCL_SIMPLE;
};
// Returns all collectives that NCCL has kernels for.
const std::vector<KernelChoice>& KernelChoices();
// Returns true if the communicator supports the choice.
bool Offers(const NcclCommunicator& comm, const KernelChoice& choice);

// Returns a collective over at most `channels` channels, each with data, with chunks of `chunk`
// bytes (a multiple of 16). `elements` counts one part: the whole buffer, or a rank's share. The
// channels' shares differ.
hacknccl_collective KernelWork(const NcclCommunicator& comm, const KernelChoice& choice,
                               int element_bytes, int64_t elements, int64_t chunk, int channels);
// Returns the call that the collective serves.
CommCall CallOf(const NcclCommunicator& comm, const hacknccl_collective& work);

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_TESTING_EXPAND_TESTING_H_
