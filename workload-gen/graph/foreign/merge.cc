#include <fmt/format.h>

#include "core/base/files.h"
#include "core/schema/artefacts/manifest_file.h"
#include "core/schema/artefacts/rank_trace_file.h"
#include "workload-gen/graph/foreign/explode.h"
#include "workload-gen/graph/foreign/program_classes.h"
#include "workload-gen/graph/foreign/trace_folder.h"
#include "workload-gen/work/table_finish.h"

namespace drydock {

Result<Merged> Merge(const std::string& place) {
  ASSIGN_OR_RETURN(const TraceFolder folder, FindTraces(place));
  const std::string path = DirectoryOf(folder.prefix) + "/" + kExplodedManifest;
  if (!FileExists(path)) {
    return Error(
        "there is no manifest beside the traces, so workload-gen explode has not written "
        "them; `workload-gen import --from chakra` reads others",
        {path, 0, 0});
  }
  ASSIGN_OR_RETURN(ManifestFile manifest, ReadManifest(path));
  Merged merged;
  merged.workload = std::move(manifest.workload);
  const std::vector<int> class_of_rank = merged.workload.class_of_rank;
  if (folder.paths.size() != class_of_rank.size()) {
    return Error(fmt::format("there are traces of {} ranks, but the manifest has {}",
                             folder.paths.size(), class_of_rank.size()),
                 {folder.prefix, 0, 0});
  }
  // Ranks keep the facts of their class in the manifest that are not part of the program.
  const std::vector<std::vector<MemoryPart>> memory = std::move(merged.workload.memory);
  merged.workload.memory.clear();
  const std::vector<PyTorchPeaks> pytorch = std::exchange(merged.workload.pytorch, {});
  ProgramClasses classes(&merged.workload);
  for (size_t rank = 0; rank < folder.paths.size(); ++rank) {
    ASSIGN_OR_RETURN(const std::string content, ReadFile(folder.paths[rank]));
    ASSIGN_OR_RETURN(RankTrace trace, DecodeRankTrace(content, merged.workload,
                                                      static_cast<int>(rank), folder.paths[rank]));
    merged.durations += trace.durations;
    const int before = merged.workload.class_count;
    classes.Add(std::move(trace.program), class_of_rank[rank]);
    if (merged.workload.class_count == before) continue;
    const auto old_class = static_cast<size_t>(class_of_rank[rank]);
    if (!memory.empty()) merged.workload.memory.push_back(memory[old_class]);
    if (!pytorch.empty()) merged.workload.pytorch.push_back(pytorch[old_class]);
  }
  merged.cluster = std::move(manifest.cluster);
  merged.provenance = std::move(manifest.provenance);
  merged.attention_backend = std::move(manifest.attention_backend);
  if (classes.sha256() != manifest.class_sha256 || merged.workload.class_of_rank != class_of_rank) {
    CollectUses(&merged.workload);
    merged.provenance.options.push_back("merged, other classes");
  }
  return merged;
}

}  // namespace drydock
