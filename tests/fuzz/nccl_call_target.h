// One call of one communicator, with everything that decides it, as a text of a few lines:
//
//   NCCL_BUFFSIZE=65536                            a setting, one a line
//   host h100                                      h100, a100, v100, pcie or gb200
//   group 2 4                                      hosts, and how many GPUs of each
//   config 1 4 -1                                  min_ctas, max_ctas, nvls_ctas, ...
//   call all_reduce bf16 sum 1048576 0 1 in_place  elements, root, peer
//   <system ...                                    a topology in place of the host's own
//
// Missing values have defaults; unknown lines are ignored.
#ifndef DRYDOCK_TESTS_FUZZ_NCCL_CALL_TARGET_H_
#define DRYDOCK_TESTS_FUZZ_NCCL_CALL_TARGET_H_

#include <string>
#include <vector>

namespace drydock::fuzz {

// Returns the algorithm that NCCL chooses, or "refused: " and the reason. A plan that computes a
// wrong result or cannot finish fails a CHECK. Each call loads its own copy of the library.
std::string OutcomeOfNcclCall(const std::string& input);

void NcclCall(const std::string& input);
std::vector<std::string> NcclCallSeeds();

}  // namespace drydock::fuzz

#endif  // DRYDOCK_TESTS_FUZZ_NCCL_CALL_TARGET_H_
