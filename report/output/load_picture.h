// The picture of the load of links.
#ifndef DRYDOCK_REPORT_OUTPUT_LOAD_PICTURE_H_
#define DRYDOCK_REPORT_OUTPUT_LOAD_PICTURE_H_

#include <string>
#include <vector>

#include "report/facts/link_load.h"

namespace drydock {

// Draws the utilization of links over the iteration: a row for each link. `what` is the title.
std::string LoadSvg(const std::vector<LoadRow>& rows, Time iteration, const char* what);

}  // namespace drydock

#endif  // DRYDOCK_REPORT_OUTPUT_LOAD_PICTURE_H_
