#include "report/page/page_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/model/memory_total.h"
#include "core/schema/artefacts/trace_file.h"
#include "report/facts/link_load.h"
#include "report/facts/memory_over_time.h"
#include "report/facts/messages.h"
#include "report/facts/spans.h"

namespace drydock {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kLoadColumns = 240;
constexpr int kMemorySteps = 2000;
constexpr size_t kMaxMessages = 10000;
constexpr size_t kMaxPathSteps = 5000;
constexpr size_t kMaxKernels = 300;

int64_t Ns(Time time) { return (time.ps() + 500) / 1000; }

// The colors are named after phases, dimensions and parts; the style sheet has them.
std::string ColorKey(std::string name) {
  std::replace(name.begin(), name.end(), ' ', '-');
  return name;
}

std::string ColorOf(const Workload& workload, const Op& op) {
  if (IsCommunication(op.kind)) {
    return ColorKey(DimensionNames()[static_cast<size_t>(workload.roles[op.role].dimension)]);
  }
  if (UsesMemory(op.kind)) return "memory";
  return ColorKey(PhaseNames()[static_cast<size_t>(op.phase)]);
}

// Names of ops, without layer and micro-batch, with their colors; each once.
class Names {
 public:
  explicit Names(const Workload& workload) : workload_(workload) {}

  int Of(Op op) {
    op.layer = op.microbatch = -1;
    const std::pair<std::string, std::string> name = {OpName(workload_, op),
                                                      ColorOf(workload_, op)};
    const auto [found, added] = index_.try_emplace(name, static_cast<int>(index_.size()));
    if (added) list_.push_back({name.first, name.second});
    return found->second;
  }
  Json Finish() { return std::move(list_); }

 private:
  const Workload& workload_;
  std::map<std::pair<std::string, std::string>, int> index_;
  Json list_ = Json::array();
};

// Of each bar: the time since the end of the one before, its wait, its length, name, layer,
// micro-batch, number of ops.
Json BarsOf(const Inputs& inputs, const SpanLane& lane, Names* names) {
  Json bars = Json::array();
  int64_t before = 0;
  for (const Span& span : lane.spans) {
    const Op& op = inputs.program_of(lane.rank).ops[span.op];
    const int64_t begin = Ns(span.begin), end = std::max(begin, Ns(span.end));
    for (const int64_t value : {begin - before, Ns(span.wait), end - begin, int64_t{names->Of(op)},
                                int64_t{op.layer}, int64_t{op.microbatch}, int64_t{span.ops}}) {
      bars.push_back(value);
    }
    before = end;
  }
  return bars;
}

// Lanes of ranks of one class are often equal; such a lane has the number of the first.
Json LanesOf(const Inputs& inputs, const Spans& spans, Names* names) {
  Json lanes = Json::array();
  std::map<std::string, int> known;
  for (const SpanLane& lane : spans.lanes) {
    Json bars = BarsOf(inputs, lane, names);
    const auto [same, added] = known.try_emplace(bars.dump(), static_cast<int>(lanes.size()));
    lanes.push_back({{"rank", lane.rank},
                     {"stream", inputs.workload.streams[lane.stream]},
                     {"bars", added ? std::move(bars) : Json(same->second)}});
  }
  return lanes;
}

// Of each message: sender, its stream, when data begin to move, receiver, its stream, arrival.
Json MessagesOf(const Inputs& inputs, const std::vector<int>& ranks) {
  const std::vector<SentMessage> all = MessagesBetween(inputs, ranks);
  Json list = Json::array();
  for (const size_t i : EvenlyChosen(all.size(), kMaxMessages)) {
    const auto& [send, receive] = all[i];
    list.push_back({send.rank, inputs.workload.streams[send.stream], Ns(send.ready), receive.rank,
                    inputs.workload.streams[receive.stream], Ns(receive.end)});
  }
  return {{"all", all.size()}, {"list", std::move(list)}};
}

const char* PathColor(int part) {
  if (part == 0) return "compute";
  return part == kPathHostPart ? "host" : "memory";
}

// Steps of the path, each from the end of the one before: length, name, rank. Steps that together
// take at most a 5000th of the iteration are one, with the name of the longest.
Json PathOf(const Inputs& inputs, const Summary& summary, Names* names) {
  const std::vector<PathStep>& steps = summary.path.steps;
  const Time grain = steps.size() <= kMaxPathSteps
                         ? Time()
                         : Time::Ps(summary.rates.iteration.ps() / int64_t{kMaxPathSteps});
  Json list = Json::array();
  for (size_t first = 0, next; first < steps.size(); first = next) {
    size_t longest = first;
    for (next = first + 1; next < steps.size() && steps[next].end - steps[first].begin <= grain;
         ++next) {
      const PathStep &a = steps[next], &b = steps[longest];
      if (a.end - a.begin > b.end - b.begin) longest = next;
    }
    const PathStep& step = steps[longest];
    const Op& op = inputs.program_of(step.rank).ops[step.op];
    const int part = PathPartOf(inputs, step);
    const bool moves = part > 0 && part < kPathPartCount - 2;
    list.push_back({Ns(steps[next - 1].end) - Ns(steps[first].begin), names->Of(op), step.rank,
                    moves ? ColorOf(inputs.workload, op) : PathColor(part)});
  }
  return list;
}

Json ClassesOf(const Summary& summary) {
  Json classes = Json::array();
  for (const size_t i : EvenlyChosen(summary.classes.size(), kMaxPageRanks)) {
    const ClassBreakdown& each = summary.classes[i];
    Json parts = Json::array();
    for (const Time part : each.mean) parts.push_back(Ns(part));
    classes.push_back({{"ranks", RangesOf(each.ranks)},
                       {"layers", RangesOf(each.layers)},
                       {"parts", std::move(parts)}});
  }
  return classes;
}

int64_t Thousandths(double share) { return std::llround(share * 1000); }

Json LoadRowsOf(const std::vector<LoadRow>& rows) {
  Json out = Json::array();
  for (const LoadRow& row : rows) {
    Json mean = Json::array(), p99 = Json::array(), peak = Json::array();
    for (const Load& load : row.columns) {
      mean.push_back(Thousandths(load.mean));
      p99.push_back(Thousandths(load.p99));
      peak.push_back(Thousandths(load.peak));
    }
    out.push_back(
        {{"name", row.name},
         {"rate", std::llround(row.rate.bytes_per_second())},
         {"whole",
          {Thousandths(row.whole.mean), Thousandths(row.whole.p99), Thousandths(row.whole.peak)}},
         {"mean", std::move(mean)},
         {"p99", std::move(p99)},
         {"peak", std::move(peak)}});
  }
  return out;
}

Json LoadOf(const Inputs& inputs, std::vector<int> ranks) {
  ranks.resize(std::min(ranks.size(), kMaxLoadRanks));
  const LinkLoad load = MeasureLinkLoad(inputs, ranks, kLoadColumns);
  Json groups = Json::array();
  const auto add = [&](const char* name, const std::vector<LoadRow>& rows) {
    if (!rows.empty()) groups.push_back({{"name", name}, {"rows", LoadRowsOf(rows)}});
  };
  add("Scale-up links of GPUs", load.scale_up);
  add("NICs", load.nics);
  add("Cables of the cluster", load.cables);
  add("Cables as the packet network logged them", load.logged);
  return groups;
}

Json MemoryOf(const Inputs& inputs, const Summary& summary) {
  const int rank = RankWithMemory(inputs);
  if (rank < 0 || !summary.memory) return nullptr;
  const Time iteration = summary.rates.iteration;
  Json curve = Json::array();
  for (const AllocatedAt& step :
       Thinned(AllocatedOverTime(inputs, rank), iteration, kMemorySteps)) {
    curve.push_back(Ns(step.time));
    curve.push_back(step.bytes.count());
  }
  Json out = {{"rank", rank},
              {"gpu", summary.memory->verdict.capacity.count()},
              {"needed", summary.memory->verdict.total.count()}};
  if (summary.memory->pytorch) {
    out["allocated"] = summary.memory->pytorch->allocated.count();
    out["reserved"] = summary.memory->pytorch->reserved.count();
  }
  out["curve"] = std::move(curve);
  return out;
}

Json KernelsOf(const Summary& summary) {
  Json rows = Json::array();
  for (const KernelRow& row : summary.kernels.rows) {
    if (row.flops + row.bytes <= 0 || row.time <= Time()) continue;
    if (rows.size() == kMaxKernels) break;
    rows.push_back({row.name, row.shape, row.gpu, row.flops, row.bytes, row.time.seconds(),
                    row.launches, row.share, ToString(row.bound),
                    TimeSourceNames()[static_cast<size_t>(row.source)]});
  }
  return rows;
}

// The GPUs that the run has, with the rates that bound their kernels.
Json RoofsOf(const Inputs& inputs, const Summary& summary) {
  Json roofs = Json::array();
  for (size_t i = 0; i < summary.cluster.gpus.size(); ++i) {
    if (summary.cluster.gpus[i].count == 0) continue;
    const GpuSpec& gpu = inputs.workload.topology.gpus[i];
    Json rates = Json::array();
    for (const DataType type :
         {DataType::kTf32, DataType::kFp16, DataType::kBf16, DataType::kFp8}) {
      const double rate = gpu.RateOf(type).flops_per_second();
      if (rate > 0) rates.push_back({ToString(type), rate});
    }
    roofs.push_back({{"gpu", gpu.name},
                     {"memory", gpu.memory_bandwidth.bytes_per_second()},
                     {"rates", std::move(rates)}});
  }
  return roofs;
}

// "<" would end the script element, or begin a comment in it.
std::string ForScript(const std::string& json) {
  std::string out;
  for (const char c : json) {
    if (c == '<')
      out += "\\u003c";
    else
      out += c;
  }
  return out;
}

}  // namespace

std::vector<size_t> EvenlyChosen(size_t all, size_t most) {
  std::vector<size_t> chosen;
  for (size_t i = 0; i < std::min(all, most); ++i) {
    chosen.push_back(all <= most ? i : i * (all - 1) / (most - 1));
  }
  return chosen;
}

std::string PageData(const Inputs& inputs, const Summary& summary, const std::vector<int>& ranks) {
  std::vector<int> shown;
  for (const size_t i : EvenlyChosen(ranks.size(), kMaxPageRanks)) shown.push_back(ranks[i]);
  const Spans spans = SpansOf(inputs, shown);
  Names names(inputs.workload);
  Json out;
  out["name"] = fmt::format("{} on {}", summary.job.model, summary.cluster.name);
  out["iteration"] = Ns(summary.rates.iteration);
  out["parts"] = Json::array();
  for (int i = 0; i < kPartCount; ++i) out["parts"].push_back(PartName(i));
  out["classes"] = ClassesOf(summary);
  out["lanes"] = LanesOf(inputs, spans, &names);
  out["grain"] = Ns(spans.grain);
  out["messages"] = MessagesOf(inputs, shown);
  out["path"] = PathOf(inputs, summary, &names);
  out["names"] = names.Finish();
  out["load"] = LoadOf(inputs, shown);
  out["memory"] = MemoryOf(inputs, summary);
  out["kernels"] = KernelsOf(summary);
  out["roofs"] = RoofsOf(inputs, summary);
  return ForScript(out.dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace drydock
