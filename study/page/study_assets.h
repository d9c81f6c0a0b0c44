// The files of study/page/browser, and of report/page/browser what both pages use. The build makes
// the definitions from the files (report/page/embed.cmake).
#ifndef DRYDOCK_STUDY_PAGE_STUDY_ASSETS_H_
#define DRYDOCK_STUDY_PAGE_STUDY_ASSETS_H_

#include <string_view>

namespace drydock {

std::string_view StudyScript();
std::string_view StudyStyle();

}  // namespace drydock

#endif  // DRYDOCK_STUDY_PAGE_STUDY_ASSETS_H_
