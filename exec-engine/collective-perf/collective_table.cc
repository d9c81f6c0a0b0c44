#include "exec-engine/collective-perf/collective_table.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/model/calls/call_words.h"

namespace drydock {
namespace {

// Formats with fewer decimals the more digits the number has, so that it fits into `width`.
std::string Figure(double value, int width) {
  int digits = 0;
  for (double power = 1; value >= power; power *= 10) ++digits;
  if (digits < width - 2) return fmt::format("{:>{}.2f}", value, width);
  if (digits < width - 1) return fmt::format("{:>{}.1f}", value, width);
  if (digits < width + 1) return fmt::format("{:>{}.0f}", value, width);
  return fmt::format("{:>{}.{}e}", value, width, width >= 7 ? 1 : 0);
}

// Bandwidths in 1e9 B/s.
struct Bandwidths {
  double algorithm = 0, bus = 0;
};
Bandwidths BandwidthsOf(const SweepSize& size, Time time) {
  if (time == Time()) return {};
  const double algorithm = static_cast<double>(size.size.count()) * 1e-9 / time.seconds();
  return {algorithm, algorithm * size.bus_factor};
}

// Values that a check finds wrong. Plans are proven correct (simccl/proof), and parsers of
// nccl-tests expect a number.
constexpr int kWrong = 0;

std::string Figures(const SweepSize& size, Time time) {
  const Bandwidths gb_s = BandwidthsOf(size, time);
  return fmt::format("  {}  {}  {}  {:>6}", Figure(time.us(), 7), Figure(gb_s.algorithm, 6),
                     Figure(gb_s.bus, 6), kWrong);
}

std::string RedOp(const CommCall& call) {
  return Reduces(call.collective) ? NcclTestsName(call.op) : "none";
}

int Root(const CommCall& call) { return HasRoot(call.collective) ? call.root : -1; }

double AverageBus(const std::vector<SweepResult>& results) {
  double sum = 0;
  for (const SweepResult& result : results) {
    sum += BandwidthsOf(result.size, result.out_of_place).bus +
           BandwidthsOf(result.size, result.in_place).bus;
  }
  return results.empty() ? 0 : sum / static_cast<double>(2 * results.size());
}

nlohmann::ordered_json FiguresJson(const SweepSize& size, Time time) {
  const Bandwidths gb_s = BandwidthsOf(size, time);
  return {
      {"time", time.us()}, {"alg_bw", gb_s.algorithm}, {"bus_bw", gb_s.bus}, {"nwrong", kWrong}};
}

}  // namespace

std::string TableHeader(const SweepTitle& title) {
  std::string text =
      fmt::format("# collective-perf: {}\n# network: {}\n", title.calls, title.network);
  if (!title.launch.empty()) text += fmt::format("# launch: {}\n", title.launch);
  for (const std::string& option : title.idle) {
    text += fmt::format("# without effect: {}\n", option);
  }
  text += "#\n";
  text += fmt::format(
      "# {:>10}  {:>12}  {:>8}  {:>6}  {:>6}           out-of-place                       in-place"
      "          \n",
      "", "", "", "", "");
  const auto columns = [&text](std::initializer_list<const char*> first,
                               std::initializer_list<const char*> figures) {
    constexpr int kFirst[] = {10, 12, 8, 6, 6};
    constexpr int kFigures[] = {7, 6, 6, 6};
    int column = 0;
    for (const char* name : first) {
      text += fmt::format("{}{:>{}}", column == 0 ? "# " : "  ", name, kFirst[column]);
      ++column;
    }
    for (int twice = 0; twice < 2; ++twice) {
      column = 0;
      for (const char* name : figures) text += fmt::format("  {:>{}}", name, kFigures[column++]);
    }
    text += " \n";
  };
  columns({"size", "count", "type", "redop", "root"}, {"time", "algbw", "busbw", "#wrong"});
  columns({"(B)", "(elements)", "", "", ""}, {"(us)", "(GB/s)", "(GB/s)", ""});
  return text;
}

std::string TableRow(const SweepResult& result, bool explains) {
  const CommCall& call = result.size.call;
  std::string row = fmt::format("{:>12}  {:>12}  {:>8}  {:>6}  {:>6}", result.size.size.count(),
                                result.size.count, NcclTestsName(call.type), RedOp(call),
                                fmt::format("{:>6}", Root(call)));
  row += Figures(result.size, result.out_of_place) + Figures(result.size, result.in_place);
  if (explains) row += fmt::format("  # {}; {}", result.decision, result.network);
  return row + "\n";
}

std::string TableFooter(const std::vector<SweepResult>& results) {
  return fmt::format("# {:<20} : {} OK\n# {:<20} : {:.6g} \n#\n", "Out of bounds values", kWrong,
                     "Avg bus bandwidth", AverageBus(results));
}

std::string SweepJson(const SweepTitle& title, const std::vector<SweepResult>& results) {
  nlohmann::ordered_json json = {{"calls", title.calls}, {"network", title.network}};
  if (!title.launch.empty()) json["launch"] = title.launch;
  if (!title.idle.empty()) json["without_effect"] = title.idle;
  json["results"] = nlohmann::json::array();
  for (const SweepResult& result : results) {
    const CommCall& call = result.size.call;
    json["results"].push_back({{"size", result.size.size.count()},
                               {"count", result.size.count},
                               {"type", NcclTestsName(call.type)},
                               {"redop", RedOp(call)},
                               {"root", Root(call)},
                               {"out_of_place", FiguresJson(result.size, result.out_of_place)},
                               {"in_place", FiguresJson(result.size, result.in_place)},
                               {"decision", result.decision},
                               {"network", result.network}});
  }
  json["average_bus_bandwidth"] = AverageBus(results);
  return json.dump(2) + "\n";
}

std::string NcclTestsJson(const Sweep& sweep, const NcclTestsLoop& loop,
                          const std::vector<SweepResult>& results) {
  constexpr int kVersion = 3;                                              // JSON_FILE_VERSION
  const auto truth = [](bool value) { return value ? "true" : "false"; };  // strings there
  nlohmann::ordered_json config = {{"nthreads", 1},
                                   {"ngpus", loop.process_gpus},
                                   {"minimum_bytes", sweep.smallest.count()},
                                   {"maximum_bytes", sweep.largest.count()}};
  if (sweep.factor > 1) {
    config["step_factor"] = sweep.factor;
  } else {
    config["step_bytes"] = sweep.increment.count();
  }
  config.update({{"warmup_iters", 0},
                 {"iterations", loop.calls},
                 {"aggregated_iterations", loop.aggregated},
                 {"validation", 0},
                 {"graph", loop.graphs},
                 {"blocking_collectives", truth(loop.blocking != 0)},
                 {"per_iter_timing", "false"},
                 {"per_iter_skip", 0},
                 {"parallel_init", "false"}});
  nlohmann::ordered_json json = {{"version", kVersion}, {"config", std::move(config)}};
  json["results"] = nlohmann::json::array();
  for (const SweepResult& result : results) {
    const CommCall& call = result.size.call;
    json["results"].push_back({{"size", result.size.size.count()},
                               {"count", result.size.count},
                               {"type", NcclTestsName(call.type)},
                               {"redop", RedOp(call)},
                               {"root", fmt::format("{:>6}", Root(call))},
                               {"out_of_place", FiguresJson(result.size, result.out_of_place)},
                               {"in_place", FiguresJson(result.size, result.in_place)},
                               {"actual_iterations", loop.calls},
                               {"experiment_name", ""}});
  }
  json["out_of_bounds"] = {{"count", kWrong}, {"okay", truth(kWrong == 0)}};
  json["average_bus_bandwidth"] = {{"bandwidth", AverageBus(results)}, {"okay", "unchecked"}};
  json["errors"] = nlohmann::json::array();
  return json.dump(2) + "\n";
}

}  // namespace drydock
