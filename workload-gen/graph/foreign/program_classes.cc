#include "workload-gen/graph/foreign/program_classes.h"

#include <utility>

#include "core/base/files.h"
#include "core/schema/artefacts/trace_file.h"

namespace drydock {

ProgramClasses::ProgramClasses(Workload* workload) : workload_(workload) {
  workload->class_of_rank.clear();
  workload->programs.clear();
  workload->class_count = 0;
}

void ProgramClasses::Add(Program program, int kind) {
  std::string sha256 = Sha256(EncodeTrace(*workload_, program));
  const auto [entry, added] = index_.emplace(std::pair(kind, sha256), workload_->class_count);
  if (added) {
    workload_->programs.push_back(std::move(program));
    ++workload_->class_count;
    sha256_.push_back(std::move(sha256));
  }
  workload_->class_of_rank.push_back(entry->second);
}

}  // namespace drydock
