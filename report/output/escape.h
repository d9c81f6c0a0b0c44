// Escapes text for JSON and HTML. Names come from files and may contain anything; bytes that are
// not UTF-8 are replaced.
#ifndef DRYDOCK_REPORT_OUTPUT_ESCAPE_H_
#define DRYDOCK_REPORT_OUTPUT_ESCAPE_H_

#include <string>
#include <string_view>

namespace drydock {

std::string JsonString(std::string_view text);  // with its quotes
std::string Html(std::string_view text);        // for element content and quoted attributes

}  // namespace drydock

#endif  // DRYDOCK_REPORT_OUTPUT_ESCAPE_H_
