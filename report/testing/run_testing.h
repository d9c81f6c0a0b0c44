// A run small enough to check by hand, for the unit tests: TP2 × PP2 on four GPUs, one
// micro-batch, 600 us.
//
//   us          0       100    150    200                 400    450        600
//   rank 0      forward │ tp    │ send │ bubble            │ recv │ backward │
//   rank 1      forward… 110│tp │ send │ bubble            │ recv │ backward │
//   ranks 2, 3  bubble          │ recv 205 forward 305 tp 345 backward 400 send 450 idle
#ifndef DRYDOCK_REPORT_TESTING_RUN_TESTING_H_
#define DRYDOCK_REPORT_TESTING_RUN_TESTING_H_

#include <string>

#include "core/schema/cluster/cluster_file.h"
#include "report/inputs/inputs.h"

namespace drydock {

// One host of four "test-gpu", 100 TFLOPS dense in fp16, none in bf16.
ClusterInput FakeCluster();

Inputs FakeRun();

// Writes `inputs` as a run directory; overwrites an existing one.
void WriteFakeRun(const Inputs& inputs, const std::string& run);

// Returns an empty directory of this test.
std::string FreshDirectory(const std::string& name);

}  // namespace drydock

#endif  // DRYDOCK_REPORT_TESTING_RUN_TESTING_H_
