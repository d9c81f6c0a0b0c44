#include "report/output/trace.h"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <algorithm>

#include "core/model/calls/plan_works.h"
#include "core/schema/artefacts/trace_file.h"
#include "report/facts/link_load.h"
#include "report/facts/memory_over_time.h"
#include "report/facts/messages.h"
#include "report/output/escape.h"
#include "report/output/gzip.h"
#include "report/path/path_summary.h"

namespace drydock {
namespace {

constexpr size_t kFlushBytes = 1 << 18;
constexpr int64_t kPsPerUs = 1000000;
// Viewers count in nanoseconds. An arrow must end inside the receive, not at its edge.
constexpr Time kViewerTick = Time::Ns(1);

class TraceWriter {
 public:
  TraceWriter(const Inputs& inputs, const std::vector<int>& ranks)
      : inputs_(inputs),
        workload_(inputs.workload),
        ranks_(ranks),
        placement_(workload_.topology) {}

  std::string Write(const std::vector<PathStep>& path) {
    Add(R"({{"displayTimeUnit":"ns","otherData":{{"model":{},"layout":{},"cluster":{},)",
        JsonString(workload_.totals.model_name), JsonString(workload_.totals.layout),
        JsonString(workload_.topology.name));
    Add(R"("network":{}}},"traceEvents":[)", JsonString(inputs_.timeline.network));
    AddPath(path);
    for (const int rank : ranks_) AddNames(rank);
    for (const int rank : ranks_) AddOps(rank);
    AddArrows();
    AddLoads();
    AddMemory();
    Add("\n]}}\n");
    gzip_.Append({buffer_.data(), buffer_.size()});
    return gzip_.Finish();
  }

 private:
  template <typename... Args>
  void Add(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(buffer_), format, std::forward<Args>(args)...);
  }

  // Separates events; compresses a full buffer.
  void Separate() {
    if (buffer_.size() >= kFlushBytes) {
      gzip_.Append({buffer_.data(), buffer_.size()});
      buffer_.clear();
    }
    Add("{}", any_ ? ",\n" : "\n");
    any_ = true;
  }

  // Viewers treat process and thread 0 as the idle task, so both count from 1.
  static int ProcessOf(int rank) { return rank + 1; }
  static int ThreadOf(size_t stream) { return static_cast<int>(stream) + 1; }

  void AddName(const char* what, int process, int thread, const std::string& name) {
    Separate();
    Add(R"({{"ph":"M","pid":{},"tid":{},"name":"{}_name","args":{{"name":{}}}}})", process, thread,
        what, JsonString(name));
    Separate();
    Add(R"({{"ph":"M","pid":{},"tid":{},"name":"{}_sort_index","args":{{"sort_index":{}}}}})",
        process, thread, what, what[0] == 'p' ? process % PathProcess() : thread);
  }

  // Returns the process of the critical path. Its number is behind the ranks', but its sort index
  // is 0.
  int PathProcess() const { return workload_.rank_count() + 1; }

  void AddPath(const std::vector<PathStep>& path) {
    if (path.empty()) return;
    AddName("process", PathProcess(), 0, "critical path");
    AddName("thread", PathProcess(), 1, "ops");
    for (const PathStep& step : path) {
      const Op& op = inputs_.program_of(step.rank).ops[step.op];
      Separate();
      AddSpan(PathProcess(), 1, step.begin, step.end);
      Add(R"({},"cat":"critical path","args":{{"rank":{},"part":"{}")",
          JsonString((step.kind == PathKind::kHost ? "launch of " : "") + OpName(workload_, op)),
          step.rank, PathPartName(PathPartOf(inputs_, step)));
      if (step.held_by != step.rank) AddNumber("held_by_rank", step.held_by);
      Add("}}}}");
    }
  }

  void AddNames(int rank) {
    const Placement::Slot& slot = placement_.of(rank);
    AddName("process", ProcessOf(rank), 0,
            fmt::format("rank {} (host {}, GPU {}, class {})", rank, slot.host, slot.gpu,
                        workload_.class_of_rank[static_cast<size_t>(rank)]));
    std::vector<bool> used(workload_.streams.size(), false);
    for (const Op& op : inputs_.program_of(rank).ops) used[op.stream] = true;
    for (size_t stream = 0; stream < used.size(); ++stream) {
      if (used[stream]) {
        AddName("thread", ProcessOf(rank), ThreadOf(stream), workload_.streams[stream]);
      }
    }
  }

  void AddOps(int rank) {
    const Program& program = inputs_.program_of(rank);
    const RankTimeline& times = inputs_.timeline_of(rank);
    for (size_t i = 0; i < program.ops.size(); ++i) {
      const Op& op = program.ops[i];
      if (times.ready[i] > times.start[i]) {
        Begin(rank, op, "\"wait\"", times.start[i], times.ready[i]);
        Add("}}");
      }
      Begin(rank, op, JsonString(OpName(workload_, op)), times.ready[i], times.end[i]);
      AddArguments(rank, op);
    }
  }

  void Begin(int rank, const Op& op, const std::string& name, Time begin, Time end) {
    Separate();
    AddSpan(ProcessOf(rank), ThreadOf(op.stream), begin, end);
    fmt::format_to(std::back_inserter(buffer_), FMT_COMPILE("{}"), name);
  }

  // Begins a complete event, up to its name.
  void AddSpan(int process, int thread, Time begin, Time end) {
    fmt::format_to(
        std::back_inserter(buffer_),
        FMT_COMPILE(R"({{"ph":"X","pid":{},"tid":{},"ts":{}.{:06},"dur":{}.{:06},"name":)"),
        process, thread, begin.ps() / kPsPerUs, begin.ps() % kPsPerUs,
        (end - begin).ps() / kPsPerUs, (end - begin).ps() % kPsPerUs);
  }

  void AddArguments(int rank, const Op& op) {
    fmt::format_to(std::back_inserter(buffer_), FMT_COMPILE(R"(,"cat":"{}","args":{{"phase":"{}")"),
                   op.kind == OpKind::kCompute ? "compute"
                   : UsesMemory(op.kind)       ? "memory"
                                               : "communication",
                   PhaseNames()[static_cast<size_t>(op.phase)]);
    if (op.layer >= 0) AddNumber("layer", op.layer);
    if (op.microbatch >= 0) AddNumber("micro_batch", op.microbatch);
    if (op.chunk > 0) AddNumber("virtual_stage", op.chunk);
    if (UsesMemory(op.kind)) {
      AddNumber("bytes", workload_.transfers[op.work].bytes.count());
    }
    if (IsCommunication(op.kind)) {
      AddNumber("bytes", workload_.calls[op.work].bytes().count());
      const int group = inputs_.group_of(rank, op);
      const Plan& plan = *inputs_.plan_of(op.work, group);
      const Work& first = plan.works.front();
      fmt::format_to(std::back_inserter(buffer_),
                     FMT_COMPILE(R"(,"algorithm":"{}","protocol":"{}","channels":{},"group":{})"),
                     AlgorithmNames()[static_cast<size_t>(first.algorithm)],
                     ProtocolNames()[static_cast<size_t>(first.protocol)], first.channels, group);
      if (plan.works.size() > 1) {
        fmt::format_to(std::back_inserter(buffer_), FMT_COMPILE(R"(,"works":"{}")"),
                       ToString(WorkKindsOf(plan)));
      }
    }
    Add("}}}}");
  }

  void AddNumber(const char* name, int64_t value) {
    fmt::format_to(std::back_inserter(buffer_), FMT_COMPILE(R"(,"{}":{})"), name, value);
  }

  void AddArrows() {
    int64_t id = 0;
    for (const SentMessage& message : MessagesBetween(inputs_, ranks_)) {
      const MessageEnd& receive = message.receive;
      const Time arrival = std::max(receive.ready, receive.end - kViewerTick);
      if (arrival <= message.send.ready) continue;
      AddArrowEnd("s", id, message.send, message.send.ready);
      AddArrowEnd("f", id, receive, arrival);
      ++id;
    }
  }

  void AddArrowEnd(const char* phase, int64_t id, const MessageEnd& end, Time time) {
    Separate();
    Add(R"({{"ph":"{}","bp":"e","id":{},"pid":{},"tid":{},"ts":{}.{:06},"name":"message",)"
        R"("cat":"message"}})",
        phase, id, ProcessOf(end.rank), ThreadOf(end.stream), time.ps() / kPsPerUs,
        time.ps() % kPsPerUs);
  }

  // Begins a counter event, up to its first value.
  void AddCounter(int process, const std::string& name, Time time) {
    Separate();
    Add(R"({{"ph":"C","pid":{},"ts":{}.{:06},"name":{},"args":{{)", process, time.ps() / kPsPerUs,
        time.ps() % kPsPerUs, JsonString(name));
  }

  void AddLoads() {
    std::vector<int> ranks = ranks_;
    ranks.resize(std::min(ranks.size(), kCounterRanks));
    const LinkLoad load = MeasureLinkLoad(inputs_, ranks, kCounterColumns);
    for (const std::vector<LoadRow>* rows : {&load.scale_up, &load.nics}) {
      for (const LoadRow& row : *rows) {
        if (row.rank >= 0) AddLoad(row);
      }
    }
  }

  // An event where the load changes. GB/s with three decimals are MB/s.
  void AddLoad(const LoadRow& row) {
    const double rate = row.rate.bytes_per_second() * 1e-9;
    const auto value = [&](double share) { return fmt::format("{:.3f}", share * rate); };
    std::string before;
    for (size_t column = 0; column <= row.columns.size(); ++column) {
      const Load at = column < row.columns.size() ? row.columns[column] : Load();
      const std::string values = fmt::format(R"("mean":{},"p99":{},"peak":{})", value(at.mean),
                                             value(at.p99), value(at.peak));
      if (values == before) continue;
      before = values;
      AddCounter(ProcessOf(row.rank), row.name + ", GB/s", ColumnTime(column));
      Add("{}}}}}", values);
    }
  }

  Time ColumnTime(size_t column) const {
    return Time::Ps(static_cast<int64_t>(static_cast<__int128>(inputs_.timeline.iteration.ps()) *
                                         static_cast<int64_t>(column) / kCounterColumns));
  }

  // Of the first rank shown whose class is the fullest.
  void AddMemory() {
    for (const int rank : ranks_) {
      const std::vector<AllocatedAt> series = AllocatedOverTime(inputs_, rank);
      if (series.empty()) continue;
      for (const AllocatedAt& point : series) {
        AddCounter(ProcessOf(rank), "allocated memory, GB", point.time);
        Add(R"("GB":{}.{:03}}}}})", point.bytes.count() / 1'000'000'000,
            point.bytes.count() / 1'000'000 % 1000);
      }
      return;
    }
  }

  // Counters of more ranks would make up most of the trace.
  static constexpr size_t kCounterRanks = 16;
  static constexpr int kCounterColumns = 500;

  const Inputs& inputs_;
  const Workload& workload_;
  const std::vector<int>& ranks_;
  const Placement placement_;
  GzipWriter gzip_;
  fmt::memory_buffer buffer_;
  bool any_ = false;
};

}  // namespace

std::string TraceOf(const Inputs& inputs, const std::vector<int>& ranks,
                    const std::vector<PathStep>& path) {
  return TraceWriter(inputs, ranks).Write(path);
}

}  // namespace drydock
