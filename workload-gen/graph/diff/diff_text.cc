#include "workload-gen/graph/diff/diff_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "core/base/plural.h"

namespace drydock {
namespace {

using Json = nlohmann::ordered_json;
using Out = std::back_insert_iterator<std::string>;

bool CountsFlop(DiffSubject subject) {
  return subject == DiffSubject::kProducts || subject == DiffSubject::kAttention ||
         subject == DiffSubject::kComputeStarts;
}

std::string CostText(const Difference& difference) {
  if (difference.cost <= 0) return "";
  if (CountsFlop(difference.subject)) return fmt::format(", {:.4g} FLOP", difference.cost);
  // Larger sums do not fit into Bytes.
  if (difference.cost > 9e18) return fmt::format(", {:.4g} bytes", difference.cost);
  return ", " + ToString(Bytes(static_cast<int64_t>(difference.cost)));
}

void AppendPlace(const char* side, const DiffPlace& place, std::string* text) {
  if (place.rank < 0) return;
  fmt::format_to(Out(*text), "      {}: rank {}", side, place.rank);
  if (place.op >= 0) fmt::format_to(Out(*text), ", op {}, {}", place.op, place.text);
  *text += '\n';
}

void AppendDifference(const Difference& d, std::string* text) {
  const std::string note = d.note.empty() ? "" : d.note + ": ";
  std::string what;
  if (d.a.empty()) {
    what = "only in B: " + d.b;
  } else if (d.b.empty()) {
    what = "only in A: " + d.a;
  } else if (d.a == d.b) {
    what = d.note + ": " + d.a;
  } else {
    what = fmt::format("{}A {}; B {}", note, d.a, d.b);
  }
  fmt::format_to(Out(*text), "  {}x {}\n", d.times, what);
  const std::string cost = CostText(d);
  if (d.subject != DiffSubject::kTotals && (d.rank_times != d.times || !cost.empty())) {
    fmt::format_to(Out(*text), "      {} in all ranks{}\n", d.rank_times, cost);
  }
  AppendPlace("A", d.at_a, text);
  AppendPlace("B", d.at_b, text);
}

Json PlaceJson(const DiffPlace& place) {
  if (place.rank < 0) return nullptr;
  Json json = {{"rank", place.rank}};
  if (place.op >= 0) {
    json["op"] = place.op;
    json["place"] = place.text;
  }
  return json;
}

}  // namespace

std::string DiffText(const WorkloadDiff& diff, size_t shown) {
  std::string text;
  const int ranks = std::min(diff.ranks_a, diff.ranks_b);
  fmt::format_to(Out(text), "{} compared, as {} with different programs; {} of them differ\n\n",
                 Plural(ranks, "rank"), diff.compared_ranks, ranks - diff.same_ranks);
  fmt::format_to(Out(text), "{:<20}{:>12}{:>12}{:>12}{:>12}\n", "what", "equal", "only in A",
                 "only in B", "differ");
  for (size_t i = 0; i < std::size(diff.counts); ++i) {
    const DiffCount& count = diff.counts[i];
    if (count.equal + count.differences() == 0) continue;
    fmt::format_to(Out(text), "{:<20}{:>12}{:>12}{:>12}{:>12}\n", DiffSubjectNames()[i],
                   count.equal, count.only_a, count.only_b, count.differ);
  }
  for (const std::string& note : diff.notes) fmt::format_to(Out(text), "note: {}\n", note);
  for (size_t i = 0; i < diff.differences.size();) {
    const DiffSubject subject = diff.differences[i].subject;
    size_t end = i;
    while (end < diff.differences.size() && diff.differences[end].subject == subject) ++end;
    fmt::format_to(Out(text), "\n{}: {} of {}\n", DiffSubjectNames()[static_cast<size_t>(subject)],
                   Plural(diff.counts[static_cast<size_t>(subject)].differences(), "difference"),
                   Plural(end - i, "kind"));
    for (size_t j = i; j < std::min(end, i + shown); ++j) {
      AppendDifference(diff.differences[j], &text);
    }
    if (end - i > shown) fmt::format_to(Out(text), "  ... and {} more kinds\n", end - i - shown);
    i = end;
  }
  return text;
}

std::string DiffJson(const WorkloadDiff& diff) {
  Json json = {{"equal", diff.equal()},
               {"ranks",
                {{"a", diff.ranks_a},
                 {"b", diff.ranks_b},
                 {"compared", diff.compared_ranks},
                 {"same", diff.same_ranks}}}};
  Json& summary = json["summary"] = Json::array();
  for (size_t i = 0; i < std::size(diff.counts); ++i) {
    const DiffCount& count = diff.counts[i];
    summary.push_back({{"what", DiffSubjectNames()[i]},
                       {"equal", count.equal},
                       {"only_a", count.only_a},
                       {"only_b", count.only_b},
                       {"differ", count.differ}});
  }
  Json& differences = json["differences"] = Json::array();
  for (const Difference& d : diff.differences) {
    const auto side = [](const std::string& text) { return text.empty() ? Json() : Json(text); };
    differences.push_back({{"what", DiffSubjectNames()[static_cast<size_t>(d.subject)]},
                           {"a", side(d.a)},
                           {"b", side(d.b)},
                           {"note", side(d.note)},
                           {"times", d.times},
                           {"rank_times", d.rank_times},
                           {CountsFlop(d.subject) ? "flop" : "bytes", d.cost},
                           {"place_a", PlaceJson(d.at_a)},
                           {"place_b", PlaceJson(d.at_b)}});
  }
  json["notes"] = diff.notes;
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace drydock
