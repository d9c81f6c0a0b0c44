// The properties of a rank's communicator and the launches of a rank as lines of text. A real rank
// and its simulated counterpart must give equal lines.
#ifndef DRYDOCK_TESTS_ORACLE_FACTS_H_
#define DRYDOCK_TESTS_ORACLE_FACTS_H_

#include <string>
#include <vector>

#include "core/nccl/nccl_library.h"
#include "tests/oracle/processes.h"

namespace drydock {

void AddShape(const hacknccl_shape& shape, Lines* lines);

// `order` is the ring from any rank on; the line begins it at rank 0.
void AddRing(int channel, int rank, const std::vector<int>& order, Lines* lines);
void AddTree(int channel, const hacknccl_tree& tree, Lines* lines);
void AddNvls(int channel, const hacknccl_nvls& nvls, Lines* lines);

void AddCollNet(int channel, const hacknccl_collnet& collnet, Lines* lines);

void AddPlan(const std::string& step, const NcclPlan& plan, Lines* lines);

}  // namespace drydock

#endif  // DRYDOCK_TESTS_ORACLE_FACTS_H_
