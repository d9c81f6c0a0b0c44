// report.html: the summary as one page that needs nothing else, no network and no script.
#ifndef DRYDOCK_REPORT_OUTPUT_HTML_H_
#define DRYDOCK_REPORT_OUTPUT_HTML_H_

#include <string>
#include <vector>

#include "report/facts/inputs.h"
#include "report/facts/summary.h"
#include "report/output/compare.h"

namespace drydock {

struct PageOptions {
  std::vector<int> ranks;  // whose timelines and links are drawn; empty: one of each class
  const Comparison* comparison = nullptr;
};
std::string PageOf(const Inputs& inputs, const Summary& summary, const PageOptions& options = {});

}  // namespace drydock

#endif  // DRYDOCK_REPORT_OUTPUT_HTML_H_
