// What importer and cluster note of the files that all points of a study share.
#ifndef DRYDOCK_STUDY_SHARED_NOTES_H_
#define DRYDOCK_STUDY_SHARED_NOTES_H_

#include <string>

#include "core/base/cli.h"
#include "workload-gen/generate/generate.h"

namespace drydock {

// Prints a line for each note. `model`: the name of its file.
void ReportNotes(const ToolInfo& tool, const CommonOptions& common, const std::string& model,
                 const Generated& base);

}  // namespace drydock

#endif  // DRYDOCK_STUDY_SHARED_NOTES_H_
