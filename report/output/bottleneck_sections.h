// The page's sections on what limits the iteration: the critical path, what-if answers, and the
// load of links.
#ifndef DRYDOCK_REPORT_OUTPUT_BOTTLENECK_SECTIONS_H_
#define DRYDOCK_REPORT_OUTPUT_BOTTLENECK_SECTIONS_H_

#include <string>

#include "report/facts/link_load.h"
#include "report/facts/summary.h"

namespace drydock {

std::string PathSection(const Inputs& inputs, const Summary& summary);

// Returns "" if the run has no what-if answers.
std::string WhatIfSection(const Summary& summary);

// Returns "" if no link carries data.
std::string LoadSection(const LinkLoad& load, Time iteration);

}  // namespace drydock

#endif  // DRYDOCK_REPORT_OUTPUT_BOTTLENECK_SECTIONS_H_
