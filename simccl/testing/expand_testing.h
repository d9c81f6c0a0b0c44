// What the tests of the expansion share: hosts, groups of every shape, and collectives as NCCL
// would hand them to its kernels.
#ifndef DRYDOCK_SIMCCL_TESTING_EXPAND_TESTING_H_
#define DRYDOCK_SIMCCL_TESTING_EXPAND_TESTING_H_

#include <string>
#include <vector>

#include "core/model/flow_plan.h"
#include "core/model/workload.h"
#include "core/nccl/nccl_library.h"
#include "core/nccl/nccl_settings.h"

namespace drydock {

// Classes of hosts of the one world.
enum TestHost : int { kH100, kA100, kH100Sharp, kA100Sharp, kA100FourNicsSharp, kTestHosts };
const NcclWorld& ExpansionWorld();
// Its settings, and those of any other world beside it: a process has one set.
const NcclSettings& ExpansionSettings();

// GPUs of hosts of one class; ranks host by host, or in turns: a rank of each host, and again.
struct GroupShape {
  TestHost host = kH100;
  std::vector<std::vector<int>> gpus;  // by host
  bool in_turns = false;

  int ranks() const;
  std::vector<hacknccl_place> Places() const;
  std::string ToString() const;
};
GroupShape AlikeHosts(TestHost host, int hosts, const std::vector<int>& gpus);
// Makes the communicator; a failure is a mistake of the test.
NcclCommunicator Open(const GroupShape& shape);
// Of the first GPUs of DGX H100s.
NcclCommunicator OpenH100s(int hosts, int gpus_per_host);

// A collective that NCCL could have chosen.
struct KernelChoice {
  int function = HACKNCCL_ALL_REDUCE;
  int algorithm = HACKNCCL_RING;
  int protocol = HACKNCCL_SIMPLE;
};
// What NCCL has kernels for.
const std::vector<KernelChoice>& KernelChoices();
// The communicator has what it needs.
bool Offers(const NcclCommunicator& comm, const KernelChoice& choice);

// Over at most `channels` channels, none without data, with chunks of `chunk` bytes (a multiple of
// 16). The elements are those of one part: of a whole buffer, or of a rank's share. The channels'
// shares differ.
hacknccl_collective KernelWork(const NcclCommunicator& comm, const KernelChoice& choice,
                               int element_bytes, int64_t elements, int64_t chunk, int channels);
// The call that such a collective serves.
CommCall CallOf(const NcclCommunicator& comm, const hacknccl_collective& work);

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_TESTING_EXPAND_TESTING_H_
