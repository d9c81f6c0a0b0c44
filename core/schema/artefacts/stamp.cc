#include "core/schema/artefacts/stamp.h"

#include <fmt/format.h>

#include "core/base/cli.h"
#include "core/base/files.h"

namespace drydock {
namespace {

std::string PathOf(const Stamp& stamp) { return stamp.run + "/.stamps/" + stamp.stage; }

// One line per fact. The hash of a missing file is "absent".
std::string Describe(const Stamp& stamp) {
  std::string text;
  const auto add = [&](const std::string& what, const std::string& path) {
    const Result<std::string> hash = Sha256OfFile(path);
    text += fmt::format("{} {} {}\n", what, hash.ok() ? *hash : "absent", path);
  };
  add("program", "/proc/self/exe");
  for (const std::string& path : stamp.inputs) add("input", path);
  // The length keeps one option with a line break from looking like two.
  for (const std::string& option : stamp.options) {
    text += fmt::format("option {} {}\n", option.size(), option);
  }
  for (const std::string& path : stamp.outputs) add("output", path);
  return text;
}

}  // namespace

bool IsUpToDate(const Stamp& stamp) {
  const Result<std::string> saved = ReadFile(PathOf(stamp));
  if (!saved.ok()) return false;
  for (const std::string& path : stamp.outputs) {
    if (!FileExists(path)) return false;
  }
  return *saved == Describe(stamp);
}

Status SaveStamp(const Stamp& stamp) {
  RETURN_IF_ERROR(MakeDirectories(stamp.run + "/.stamps"));
  return WriteFileAtomically(PathOf(stamp), Describe(stamp));
}

bool SkipsRun(const Stamp& stamp, const ToolInfo& tool, const CommonOptions& common) {
  if (!common.if_changed || common.check || !IsUpToDate(stamp)) return false;
  Report(tool, common, "up to date");
  return true;
}

}  // namespace drydock
