#include "workload-gen/graph/foreign/trace_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <string_view>

#include "core/base/files.h"
#include "core/base/spelling.h"

namespace drydock {
namespace {

constexpr int kMaxRanks = 1 << 20;

// STG's default ending is .eg. Chakra's jsonizer and feeder have .json.
constexpr std::string_view kEndings[] = {".et", ".eg", ".json"};

// Returns the rank of "<prefix>.<rank>.et", or -1 for other names.
int RankOf(const std::string& name, std::string* prefix) {
  size_t ending = 0;
  for (const std::string_view each : kEndings) {
    if (name.ends_with(each)) ending = each.size();
  }
  if (ending == 0) return -1;
  const std::string stem = name.substr(0, name.size() - ending);
  const size_t dot = stem.rfind('.');
  if (dot == std::string::npos || dot + 1 == stem.size()) return -1;
  int rank = -1;
  const char* end = stem.data() + stem.size();
  const auto [stop, error] = std::from_chars(stem.data() + dot + 1, end, rank);
  if (error != std::errc() || stop != end || rank < 0 || rank >= kMaxRanks) return -1;
  *prefix = stem.substr(0, dot);
  return rank;
}

using ByPrefix = std::map<std::string, std::map<int, std::string>>;

ByPrefix TracesIn(const std::string& folder) {
  ByPrefix all;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    std::string prefix;
    const std::string name = entry.path().filename().string();
    const int rank = RankOf(name, &prefix);
    if (rank < 0) continue;
    // A jsonized copy stands beside its trace.
    std::string& path = all[prefix][rank];
    if (path.empty() || path.ends_with(".json")) path = folder + "/" + name;
  }
  return all;
}

Result<TraceFolder> Complete(const std::string& prefix, const std::map<int, std::string>& traces) {
  TraceFolder folder{prefix, {}};
  for (const auto& [rank, path] : traces) {
    const auto wanted = static_cast<int>(folder.paths.size());
    if (rank != wanted) {
      return Error(fmt::format("the trace of rank {} is missing; there are {}, up to rank {}",
                               wanted, traces.size(), traces.rbegin()->first),
                   {fmt::format("{}.{}.et", prefix, wanted), 0, 0});
    }
    folder.paths.push_back(path);
  }
  return folder;
}

// The trace is that of rank 0 if its name has no rank.
Result<TraceFolder> TraceOf(const std::string& path) {
  std::string prefix;
  if (RankOf(BaseName(path), &prefix) >= 0) {
    return Complete(DirectoryOf(path) + "/" + prefix, TracesIn(DirectoryOf(path))[prefix]);
  }
  prefix = path;
  for (const std::string_view ending : kEndings) {
    if (prefix.ends_with(ending)) prefix.resize(prefix.size() - ending.size());
  }
  return TraceFolder{prefix, {path}};
}

}  // namespace

Result<TraceFolder> FindTraces(const std::string& place) {
  std::error_code error;
  const bool is_folder = std::filesystem::is_directory(place, error);
  if (!is_folder && std::filesystem::is_regular_file(place, error)) return TraceOf(place);
  const std::string folder = is_folder ? place : DirectoryOf(place);
  const ByPrefix all = TracesIn(folder);
  if (is_folder && all.size() == 1) {
    return Complete(folder + "/" + all.begin()->first, all.begin()->second);
  }
  std::vector<std::string> prefixes;
  for (const auto& [prefix, traces] : all) prefixes.push_back(prefix);
  if (all.empty()) {
    return Error("there are no traces here (<prefix>.<rank>.et or .json)", {folder, 0, 0});
  }
  if (is_folder) {
    return Error(fmt::format("there are traces of several runs here: {}; add one of these to the "
                             "folder's name",
                             Join(prefixes)),
                 {folder, 0, 0});
  }
  const auto found = all.find(BaseName(place));
  if (found == all.end()) {
    return Error(fmt::format("there are no traces {}.<rank>.et{}; there are {}", BaseName(place),
                             DidYouMean(BaseName(place), prefixes), Join(prefixes)),
                 {folder, 0, 0});
  }
  return Complete(folder + "/" + found->first, found->second);
}

}  // namespace drydock
