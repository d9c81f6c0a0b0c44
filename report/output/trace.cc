#include "report/output/trace.h"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "core/model/calls/plan_works.h"
#include "core/schema/artefacts/trace_file.h"
#include "report/path/path_summary.h"
#include "report/output/escape.h"
#include "report/output/gzip.h"

namespace drydock {
namespace {

constexpr size_t kFlushBytes = 1 << 18;
constexpr int64_t kPsPerUs = 1000000;
// Viewers count in nanoseconds. An arrow must end inside the receive, not at its edge.
constexpr Time kViewerTick = Time::Ns(1);

// One end of a message. Messages of one tag between two ranks match in order.
struct MessageEnd {
  int sender = 0;
  int receiver = 0;
  int32_t tag = 0;
  int64_t sequence = 0;
  int rank = 0;
  uint8_t stream = 0;
  Time time;
  auto key() const { return std::tie(sender, receiver, tag, sequence); }
};

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
      if (op.kind == OpKind::kSend) AddEnd(rank, op, times.ready[i], &sends_);
      if (op.kind == OpKind::kRecv) {
        AddEnd(rank, op, std::max(times.ready[i], times.end[i] - kViewerTick), &receives_);
      }
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

  void AddEnd(int rank, const Op& op, Time time, std::vector<MessageEnd>* ends) {
    const CommCall& call = workload_.calls[op.work];
    const Group& group = workload_.groups[static_cast<size_t>(inputs_.group_of(rank, op))];
    ends->push_back({group.ranks[static_cast<size_t>(call.root)],
                     group.ranks[static_cast<size_t>(call.peer)], op.tag, 0, rank, op.stream,
                     time});
  }

  // Numbers the messages of each sender, receiver and tag in program order, and sorts.
  static void Number(std::vector<MessageEnd>* ends) {
    std::stable_sort(ends->begin(), ends->end(),
                     [](const MessageEnd& a, const MessageEnd& b) { return a.key() < b.key(); });
    for (size_t i = 1; i < ends->size(); ++i) {
      const MessageEnd& before = (*ends)[i - 1];
      MessageEnd& end = (*ends)[i];
      const bool same = std::tie(before.sender, before.receiver, before.tag) ==
                        std::tie(end.sender, end.receiver, end.tag);
      end.sequence = same ? before.sequence + 1 : 0;
    }
  }

  void AddArrows() {
    Number(&sends_);
    Number(&receives_);
    int64_t id = 0;
    auto receive = receives_.begin();
    for (const MessageEnd& send : sends_) {
      while (receive != receives_.end() && receive->key() < send.key()) ++receive;
      if (receive == receives_.end()) break;
      if (receive->key() != send.key() || receive->time <= send.time) continue;
      AddArrowEnd("s", id, send);
      AddArrowEnd("f", id, *receive);
      ++id;
    }
  }

  void AddArrowEnd(const char* phase, int64_t id, const MessageEnd& end) {
    Separate();
    Add(R"({{"ph":"{}","bp":"e","id":{},"pid":{},"tid":{},"ts":{}.{:06},"name":"message",)"
        R"("cat":"message"}})",
        phase, id, ProcessOf(end.rank), ThreadOf(end.stream), end.time.ps() / kPsPerUs,
        end.time.ps() % kPsPerUs);
  }

  const Inputs& inputs_;
  const Workload& workload_;
  const std::vector<int>& ranks_;
  const Placement placement_;
  GzipWriter gzip_;
  fmt::memory_buffer buffer_;
  bool any_ = false;
  std::vector<MessageEnd> sends_;
  std::vector<MessageEnd> receives_;
};

}  // namespace

std::string TraceOf(const Inputs& inputs, const std::vector<int>& ranks,
                    const std::vector<PathStep>& path) {
  return TraceWriter(inputs, ranks).Write(path);
}

}  // namespace drydock
