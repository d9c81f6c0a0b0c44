// The files that the page contains: D3, and report/page/browser. The build makes the definitions
// from the files (report/page/embed.cmake).
#ifndef DRYDOCK_REPORT_PAGE_PAGE_ASSETS_H_
#define DRYDOCK_REPORT_PAGE_PAGE_ASSETS_H_

#include <string_view>

namespace drydock {

std::string_view D3License();  // which its copies have to carry
std::string_view D3Script();
std::string_view PageScript();
std::string_view PageStyle();

}  // namespace drydock

#endif  // DRYDOCK_REPORT_PAGE_PAGE_ASSETS_H_
