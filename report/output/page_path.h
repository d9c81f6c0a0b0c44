// The page's sections on the critical path and on the links.
#ifndef DRYDOCK_REPORT_OUTPUT_PAGE_PATH_H_
#define DRYDOCK_REPORT_OUTPUT_PAGE_PATH_H_

#include <string>

#include "report/facts/link_load.h"
#include "report/facts/summary.h"

namespace drydock {

std::string PathSection(const Inputs& inputs, const Summary& summary);

// Empty where nothing was asked.
std::string WhatIfSection(const Summary& summary);

// Empty if no link carries anything.
std::string LoadSection(const LinkLoad& load, Time iteration);

}  // namespace drydock

#endif  // DRYDOCK_REPORT_OUTPUT_PAGE_PATH_H_
