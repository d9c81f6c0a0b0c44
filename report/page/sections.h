// The sections of the page in their order, each with its tables and the places of its charts.
#ifndef DRYDOCK_REPORT_PAGE_SECTIONS_H_
#define DRYDOCK_REPORT_PAGE_SECTIONS_H_

#include <string>

#include "report/facts/summary.h"
#include "report/output/compare.h"

namespace drydock {

// Returns "" for a section without content in this run.
std::string TimeSection(const Summary& summary);
std::string TimelineSection();
std::string PathSection(const Summary& summary);
std::string WhatIfSection(const Summary& summary);
std::string MemorySection(const Summary& summary);
std::string CommunicationSection(const Summary& summary);
std::string LinksSection(const Summary& summary);
std::string KernelsSection(const Summary& summary);
std::string AssumptionsSection(const Summary& summary);
std::string ComparisonSection(const Comparison& comparison);

}  // namespace drydock

#endif  // DRYDOCK_REPORT_PAGE_SECTIONS_H_
