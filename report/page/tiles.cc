#include "report/page/tiles.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "report/output/compare.h"
#include "report/output/escape.h"
#include "report/page/html_table.h"

namespace drydock {
namespace {

// Whether a larger figure is better.
enum class Better : uint8_t { kLess, kMore, kNeither };

struct Tile {
  std::string id;
  std::string value;
  std::string what;
  double figure = 0;  // what the change compares
  Better better = Better::kNeither;
  bool alarm = false;
  std::string more;  // HTML below
};

// The parts of the memory, largest first, behind a line that opens.
std::string MemoryParts(const MemoryFacts& memory) {
  std::vector<MemoryPart> parts = memory.parts;
  std::stable_sort(parts.begin(), parts.end(),
                   [](const MemoryPart& a, const MemoryPart& b) { return a.bytes > b.bytes; });
  std::string out = "<dl>";
  for (const MemoryPart& part : parts) {
    if (part.bytes == Bytes()) continue;
    out += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>", Html(part.name),
                       Html(ToString(part.bytes)));
  }
  return out + "</dl>";
}

Tile MemoryTile(const MemoryFacts& memory) {
  return {"memory",
          ToString(memory.verdict),
          "memory of the fullest ranks" +
              (memory.pytorch ? "; PyTorch's " + ToString(*memory.pytorch) : ""),
          static_cast<double>(memory.verdict.total.count()),
          Better::kLess,
          !memory.verdict.fits(),
          MemoryParts(memory)};
}

std::string Figure(double value) {
  return value < 1000 ? fmt::format("{:.4g}", value) : fmt::format("{:.0f}", value);
}

// The cost and the energy of a token, or of an iteration if its tokens are unknown.
void AddCostTiles(const CostFacts& cost, std::vector<Tile>* tiles) {
  if (cost.iteration) {
    const bool by_token = cost.token.has_value();
    const double amount = by_token ? *cost.token * 1e6 : *cost.iteration;
    tiles->push_back(
        {"cost", Figure(amount) + " " + cost.currency,
         fmt::format("{}; {} {} an hour", by_token ? "a million tokens" : "an iteration",
                     Figure(*cost.per_hour), cost.currency),
         amount, Better::kLess});
  }
  if (cost.iteration_joules) {
    const double joules = cost.token_joules.value_or(*cost.iteration_joules);
    tiles->push_back(
        {"energy", Figure(joules) + " J",
         fmt::format("{}; {} kW at the meter", cost.token_joules ? "a token" : "an iteration",
                     Figure(*cost.watts / 1000)),
         joules, Better::kLess});
  }
}

std::string BandText(const Band& band) {
  return fmt::format("<p class=\"band\">{:g} % of measured runs lie within {} to {}</p>",
                     band.coverage * 100, Html(ToString(band.low)), Html(ToString(band.high)));
}

std::vector<Tile> TilesOf(const Summary& summary) {
  const Rates& rates = summary.rates;
  std::vector<Tile> tiles;
  const bool stopped = summary.length.stopped > Time();
  tiles.push_back({"iteration", ToString(rates.iteration),
                   stopped ? "until the run was stopped" : "iteration time",
                   rates.iteration.seconds(), Better::kLess, false,
                   summary.band ? BandText(*summary.band) : ""});
  if (summary.job.tokens > 0) {
    tiles.push_back({"tokens", fmt::format("{:.0f}", rates.tokens_per_second), "tokens per second",
                     rates.tokens_per_second, Better::kMore});
  }
  const double model = rates.model.flops_per_second();
  tiles.push_back({"flops", fmt::format("{:.1f} TFLOP/s", model * 1e-12), "model FLOPs per GPU",
                   model, Better::kMore});
  tiles.push_back({"mfu", rates.mfu ? Percent(*rates.mfu) : "unknown",
                   fmt::format("MFU, of {} dense {}", ToString(rates.peak), summary.job.precision),
                   rates.mfu.value_or(0), Better::kMore});
  if (rates.hfu) {
    tiles.push_back(
        {"hfu", Percent(*rates.hfu), "HFU, recompute included", *rates.hfu, Better::kMore});
  }
  if (summary.host_share) {
    tiles.push_back({"host", Percent(summary.host_share->decides),
                     "of the iteration the host decides: " + summary.host_share->verdict,
                     summary.host_share->decides, Better::kLess});
  }
  if (summary.memory) tiles.push_back(MemoryTile(*summary.memory));
  if (summary.cost) AddCostTiles(*summary.cost, &tiles);
  return tiles;
}

// "-4.91 % of the base's 1.527 s, faster"
std::string ChangeText(const Tile& tile, const Tile* base) {
  if (base == nullptr) return "<span class=\"change\">the base has no such figure</span>";
  const std::string change = Change(base->figure, tile.figure);
  if (change.empty() || tile.figure <= 0) {
    return fmt::format("<span class=\"change\">base {}</span>", Html(base->value));
  }
  const double difference = tile.figure / base->figure - 1;
  const bool same = std::abs(difference) < 0.00005;
  const bool better = (difference < 0) == (tile.better == Better::kLess);
  return fmt::format("<span class=\"change {}\">{} · base {}</span>",
                     same || tile.better == Better::kNeither ? "same"
                     : better                                ? "better"
                                                             : "worse",
                     Html(change), Html(base->value));
}

const Tile* Find(const std::vector<Tile>& tiles, const std::string& id) {
  for (const Tile& tile : tiles) {
    if (tile.id == id) return &tile;
  }
  return nullptr;
}

}  // namespace

std::string Tiles(const Summary& summary, const Summary* base) {
  const std::vector<Tile> other = base == nullptr ? std::vector<Tile>() : TilesOf(*base);
  std::string out = "<div class=\"tiles\">\n";
  for (const Tile& tile : TilesOf(summary)) {
    out += fmt::format("<div class=\"tile{}\" id=\"tile-{}\"><b>{}</b><span>{}</span>{}{}</div>\n",
                       tile.alarm ? " alarm" : "", tile.id, Html(tile.value), Html(tile.what),
                       base == nullptr ? "" : ChangeText(tile, Find(other, tile.id)), tile.more);
  }
  return out + "</div>\n";
}

}  // namespace drydock
