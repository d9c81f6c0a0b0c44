#include "compute-sim/measure/measure_file.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "compute-sim/profile/profile_rows.h"
#include "core/base/files.h"
#include "core/base/spelling.h"

namespace drydock {
namespace {

constexpr std::string_view kProvenance = "gpu-profiler on ";
constexpr std::string_view kMethod =
    "CUDA events around one launch, median of 20 after 5 to warm up; L2 filled with other data "
    "before each; "
    "operands without pattern; products by cuBLASLt, those of a group on four streams; attention "
    "by "
    "cuDNN; the others by kernels of its own";

// The columns of every kernel that can be measured.
const std::vector<std::string>& Columns() {
  static const std::vector<std::string> columns = {
      "batch",    "groups",  "m",           "n",         "k",
      "rows",     "columns", "sequence",    "heads",     "kv_heads",
      "head_dim", "causal",  "kv_sequence", "value_dim", std::string(kBytesColumn)};
  return columns;
}

std::string ColumnLine() { return fmt::format("kernel,dtype,{},time", Join(Columns(), ",")); }

std::vector<std::pair<std::string, std::string>> HeaderOf(const MeasuredOn& on) {
  return {{"gpu", on.gpu},
          {"provenance", fmt::format("{}{}", kProvenance, on.device)},
          {"method", std::string(kMethod)},
          {"date", on.date},
          {"clocks", "burst"},
          {"driver", on.driver},
          {"libraries", on.libraries},
          {"measured-clock", on.clocks}};
}

// The value of the first "# key: value"; "" if there is none.
std::string HeaderValue(std::string_view text, const std::string& key) {
  const std::string before = fmt::format("\n# {}: ", key), all = fmt::format("\n{}", text);
  const size_t at = all.find(before);
  if (at == std::string::npos) return "";
  const size_t begin = at + before.size();
  return all.substr(begin, all.find('\n', begin) - begin);
}

}  // namespace

std::string MeasuredHeader(const MeasuredOn& on) {
  std::string header;
  for (const auto& [key, value] : HeaderOf(on)) header += fmt::format("# {}: {}\n", key, value);
  return header + ColumnLine() + "\n";
}

std::string MeasuredRow(const Kernel& kernel, double us) {
  return ProfileRowText(kernel, Columns(), us);
}

std::string MeasuredRemark(const std::string& what) { return fmt::format("# {}\n", what); }

Result<BegunFile> ReadBegunFile(const std::string& path, const std::string& gpu) {
  BegunFile file;
  ASSIGN_OR_RETURN(file.text, ReadFile(path));
  file.text.resize(file.text.rfind('\n') + 1);  // to 0 if there is no whole line
  if (!HeaderValue(file.text, "provenance").starts_with(kProvenance) ||
      file.text.find(fmt::format("\n{}\n", ColumnLine())) == std::string::npos) {
    return Error("gpu-profiler did not begin this file, or another version did; name another file",
                 {path, 0, 0});
  }
  ASSIGN_OR_RETURN(file.profile, ParseProfile(file.text, path));
  if (!gpu.empty() && file.profile.gpu != gpu) {
    return Error(fmt::format("this file has rows of '{}', not of '{}'", file.profile.gpu, gpu),
                 {path, 0, 0});
  }
  return file;
}

Status CheckContinues(const BegunFile& file, const MeasuredOn& on) {
  for (const auto& [key, value] : HeaderOf(on)) {
    if (key == "date") continue;
    const std::string begun = HeaderValue(file.text, key);
    if (begun == value) continue;
    return Error(fmt::format("it was begun with '{}: {}', this is '{}'; name another file", key,
                             begun, value),
                 {file.profile.file_name, 0, 0});
  }
  return OkStatus();
}

}  // namespace drydock
