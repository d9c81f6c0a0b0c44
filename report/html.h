// report.html: the summary as one page that needs nothing else, no network and no script.
#ifndef DRYDOCK_REPORT_HTML_H_
#define DRYDOCK_REPORT_HTML_H_

#include <string>

#include "report/inputs.h"
#include "report/summary.h"

namespace drydock {

std::string PageOf(const Inputs& inputs, const Summary& summary);

}  // namespace drydock

#endif  // DRYDOCK_REPORT_HTML_H_
