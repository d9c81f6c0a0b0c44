#include "study/shared_notes.h"

namespace drydock {

void ReportNotes(const ToolInfo& tool, const CommonOptions& common, const std::string& model,
                 const Generated& base) {
  for (const std::string& line : base.notes.Lines(model)) Report(tool, common, line);
  for (const std::string& note : base.cluster.notes) Report(tool, common, "note: " + note);
}

}  // namespace drydock
