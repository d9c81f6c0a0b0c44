// The picture of the critical path.
#ifndef DRYDOCK_REPORT_OUTPUT_PATH_PICTURE_H_
#define DRYDOCK_REPORT_OUTPUT_PATH_PICTURE_H_

#include <string>

#include "report/inputs/inputs.h"
#include "report/facts/summary.h"

namespace drydock {

// Draws a row for each rank class (several rows if there are many), with the steps of the path on
// its ranks.
std::string PathSvg(const Inputs& inputs, const Summary& summary);

}  // namespace drydock

#endif  // DRYDOCK_REPORT_OUTPUT_PATH_PICTURE_H_
