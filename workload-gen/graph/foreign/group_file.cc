#include "workload-gen/graph/foreign/group_file.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/schema/foreign/json_place.h"
#include "workload-gen/graph/foreign/import.h"

namespace drydock {
namespace {

using Json = nlohmann::json;

// A value of a few bytes takes about 100 bytes of memory.
constexpr size_t kMaxBytes = 32 << 20;

Result<Json> Parse(const std::string& text, const std::string& path) {
  if (text.size() > kMaxBytes) return Error("the groups are larger than 32 MiB", {path, 0, 0});
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& e) {
    return Error("this is not valid JSON", JsonPlace(text, path, e.byte));
  } catch (const Json::out_of_range&) {  // the exception has no position
    return Error("a number has no value: it is too large", {path, 0, 0});
  }
}

Result<std::vector<int>> RanksOf(const Json& list, const std::string& name,
                                 const std::string& place, int rank_count) {
  const auto fail = [&](const std::string& what) {
    return Error(fmt::format("group '{}': {}", PrintableName(name), what), {place, 0, 0});
  };
  if (!list.is_array() || list.empty()) return fail("expected a list of ranks");
  std::vector<int> ranks;
  std::vector<bool> seen(static_cast<size_t>(rank_count), false);
  for (const Json& each : list) {
    if (!each.is_number_integer()) return fail("expected a list of ranks");
    const auto rank = each.get<int64_t>();
    if (rank < 0 || rank >= rank_count) {
      return fail(fmt::format("there is no rank {}; there are {} ranks", each.dump(), rank_count));
    }
    if (seen[static_cast<size_t>(rank)]) return fail(fmt::format("rank {} occurs twice", rank));
    seen[static_cast<size_t>(rank)] = true;
    ranks.push_back(static_cast<int>(rank));
  }
  return ranks;
}

}  // namespace

Result<NamedGroups> ParseGroupFile(const std::string& text, const std::string& path,
                                   int rank_count) {
  ASSIGN_OR_RETURN(const Json root, Parse(text, path));
  if (!root.is_object()) {
    return Error("expected an object of lists: {\"1\": [0, 1]}", {path, 0, 0});
  }
  NamedGroups groups;
  for (const auto& [name, list] : root.items()) {
    ASSIGN_OR_RETURN(groups[name], RanksOf(list, name, path, rank_count));
  }
  return groups;
}

Status AddMetadataGroups(const std::string& text, const std::string& place, int rank_count,
                         NamedGroups* groups) {
  const Result<Json> root = Parse(text, place);
  if (!root.ok() || !root->is_array()) return OkStatus();
  for (const Json& each : *root) {
    if (!each.is_object() || !each.contains("pg_name") || !each["pg_name"].is_string()) continue;
    const auto name = each["pg_name"].get<std::string>();
    if (!each.contains("ranks") || each["ranks"].empty()) continue;
    ASSIGN_OR_RETURN(std::vector<int> ranks, RanksOf(each["ranks"], name, place, rank_count));
    const auto [entry, added] = groups->emplace(name, ranks);
    if (!added && entry->second != ranks) {
      return Error(
          fmt::format("group '{}' has different ranks in another trace", PrintableName(name)),
          {place, 0, 0});
    }
  }
  return OkStatus();
}

}  // namespace drydock
