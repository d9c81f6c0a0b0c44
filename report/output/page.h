// report.html: the summary as one self-contained page, without scripts.
#ifndef DRYDOCK_REPORT_OUTPUT_PAGE_H_
#define DRYDOCK_REPORT_OUTPUT_PAGE_H_

#include <string>
#include <vector>

#include "report/inputs/inputs.h"
#include "report/facts/summary.h"
#include "report/output/compare.h"

namespace drydock {

struct PageOptions {
  std::vector<int> ranks;  // whose timelines and links the page shows; empty: one of each class
  const Comparison* comparison = nullptr;
};
std::string PageOf(const Inputs& inputs, const Summary& summary, const PageOptions& options = {});

}  // namespace drydock

#endif  // DRYDOCK_REPORT_OUTPUT_PAGE_H_
