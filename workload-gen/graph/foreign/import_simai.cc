// Imports workload files of SimAI and ASTRA-sim 1. The loops of these simulators over the rows
// become one program for all ranks.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/base/files.h"
#include "core/base/spelling.h"
#include "workload-gen/graph/foreign/import.h"
#include "workload-gen/graph/foreign/simai_file.h"
#include "workload-gen/graph/foreign/simai_groups.h"

namespace drydock {
namespace {

// Returns, for each row, the nearest earlier checkpoint if recomputation begins there, else the
// row.
std::vector<size_t> RecomputedFrom(const SimaiFile& file) {
  std::vector<bool> checkpoint(file.rows.size(), false), initiates(file.rows.size(), false);
  for (const int row : file.checkpoints) checkpoint[static_cast<size_t>(row)] = true;
  for (const int row : file.checkpoint_initiates) initiates[static_cast<size_t>(row)] = true;
  std::vector<size_t> from;
  size_t nearest = SIZE_MAX;
  for (size_t row = 0; row < file.rows.size(); ++row) {
    if (checkpoint[row]) nearest = row;
    from.push_back(initiates[row] && nearest != SIZE_MAX ? nearest : row);
  }
  return from;
}

// Rows that are recomputed several times can exceed the memory.
Status CheckSize(const SimaiFile& file, const std::string& path) {
  size_t ops = 7 * file.rows.size(), row = 0;
  for (const size_t from : RecomputedFrom(file)) ops += 2 * (row++ - from);
  if (ops <= kMaxForeignOps) return OkStatus();
  return Error(fmt::format("with recomputation the rows have more than {} ops", kMaxForeignOps),
               {path, 1, 0});
}

// Writes the ops of the rows: the time of each row on the GPU and its calls.
class Loop {
 public:
  Loop(const SimaiFile& file, const SimaiGroups& groups, const ForeignOptions& options,
       Workload* workload)
      : file_(file),
        groups_(groups),
        options_(options),
        recomputed_from_(RecomputedFrom(file)),
        w_(*workload) {
    w_.streams = {"compute"};
    for (const GroupRole& role : w_.roles) w_.streams.push_back(role.name);
    w_.streams.push_back("update");
    program_.dependency_begin = {0};
  }

  void Run() {
    switch (file_.policy) {
      case SimaiPolicy::kMicro:
        for (size_t row = 0; row < file_.rows.size(); ++row) WeightGradientCall(row);
        break;
      case SimaiPolicy::kData:
        for (size_t row = 0; row < file_.rows.size(); ++row) {
          Compute(row, kSimaiForward, Phase::kForward);
        }
        for (size_t row = file_.rows.size(); row-- > 0;) {
          Compute(row, kSimaiWeightGradient, Phase::kBackward);
          WeightGradientCall(row);
          if (row > 0) Compute(row, kSimaiInputGradient, Phase::kBackward);
        }
        break;
      case SimaiPolicy::kHybridDlrm:
      case SimaiPolicy::kHybridDlrmEnhanced:
        Dlrm();
        break;
      default:
        for (size_t row = 0; row < file_.rows.size(); ++row) Forward(row, Phase::kForward);
        if (file_.policy != SimaiPolicy::kDistributedInference) Backward();
        break;
    }
  }

  Program TakeProgram() {
    tables_.MoveTo(&w_);
    return std::move(program_);
  }

  // The numbers of omitted or enlarged collectives.
  size_t zero_bytes() const { return zero_bytes_; }
  size_t alone() const { return alone_; }
  size_t rounded() const { return rounded_; }
  const std::string& first_zero() const { return first_zero_; }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;

  void Forward(size_t row, Phase phase) {
    Compute(row, kSimaiForward, phase);
    Blocking(Call(row, kSimaiForward, phase));
  }

  // Runs the rows from the last to the first: recomputation if it begins there, input gradient,
  // weight gradient. With recomputation, compute waits for the input gradient's call at once,
  // otherwise before the next row.
  void Backward() {
    const bool recomputes = file_.policy == SimaiPolicy::kHybridTransformerRecompute;
    for (size_t row = file_.rows.size(); row-- > 0;) {
      if (recomputes) Recompute(row);
      Compute(row, kSimaiInputGradient, Phase::kBackward);
      const uint32_t call = Call(row, kSimaiInputGradient, Phase::kBackward);
      if (recomputes) Blocking(call);
      Compute(row, kSimaiWeightGradient, Phase::kBackward);
      WeightGradientCall(row);
      if (!recomputes) Join(call);
    }
  }

  // Recomputes the rows from the nearest checkpoint to the previous row.
  void Recompute(size_t row) {
    for (size_t again = recomputed_from_[row]; again < row; ++again) {
      Forward(again, Phase::kRecompute);
    }
  }

  // All-to-alls of embeddings overlap with the rows up to the last bottom layer, those of their
  // gradients with the rows after it. Only the enhanced policy waits for the latter.
  void Dlrm() {
    const auto bottom = static_cast<size_t>(file_.last_bottom_layer);
    uint32_t embedding = kNone;
    for (size_t row = 0; row < file_.rows.size(); ++row) {
      Compute(row, kSimaiForward, Phase::kForward);
      const SimaiComm& comm = file_.rows[row].comm[kSimaiForward];
      const uint32_t call = Call(row, kSimaiForward, Phase::kForward);
      if (!comm.none && comm.collective == CollectiveType::kAllToAll) {
        if (row == 0) embedding = call;
      } else {
        Blocking(call);
      }
      if (row == bottom) Join(embedding);
    }
    uint32_t gradient = kNone;
    for (size_t row = file_.rows.size(); row-- > 0;) {
      Compute(row, kSimaiWeightGradient, Phase::kBackward);
      WeightGradientCall(row);
      if (row > 0) Compute(row, kSimaiInputGradient, Phase::kBackward);
      if (row == bottom + 1) gradient = Call(0, kSimaiInputGradient, Phase::kBackward);
    }
    if (file_.policy == SimaiPolicy::kHybridDlrmEnhanced) Join(gradient);
  }

  void Compute(size_t row, SimaiPass pass, Phase phase) {
    const Time time = file_.rows[row].compute[pass];
    if (time == Time()) return;
    static const char* const kNames[] = {"fwd", "dgrad", "wgrad"};
    Op op;
    op.phase = phase;
    op.layer = static_cast<int32_t>(row);
    op.work = tables_.FixedDuration(fmt::format("{}.{}", file_.rows[row].name, kNames[pass]), time);
    const uint32_t index = Add(op, front_);
    front_ = {index};
  }

  // Returns the op, or kNone if the row communicates nothing.
  uint32_t Call(size_t row, SimaiPass pass, Phase phase) {
    const SimaiComm& comm = file_.rows[row].comm[pass];
    if (comm.none) return kNone;
    const SimaiRole role = groups_.RoleOf(file_.rows[row].policy, comm.span, pass);
    if (role == SimaiRole::kNone) {
      ++alone_;
      return kNone;
    }
    if (comm.bytes == 0) {
      if (++zero_bytes_ == 1) {
        first_zero_ = fmt::format("'{}' in line {}", file_.rows[row].name, file_.rows[row].line);
      }
      return kNone;
    }
    Op op;
    op.kind = OpKind::kCollective;
    op.phase = phase;
    op.layer = static_cast<int32_t>(row);
    op.role = static_cast<uint8_t>(groups_.index[static_cast<size_t>(role)]);
    op.stream = static_cast<uint8_t>(op.role + 1);
    op.work =
        tables_.Call(CallOfBytes(comm.collective, comm.bytes, 0,
                                 groups_.size[static_cast<size_t>(role)], options_, &rounded_));
    return Add(op, front_);
  }

  void Blocking(uint32_t call) {
    if (call != kNone) front_ = {call};
  }
  void Join(uint32_t call) {
    if (call != kNone) front_.push_back(call);
  }

  // Only the update of these weights waits for this call.
  void WeightGradientCall(size_t row) {
    const uint32_t call = Call(row, kSimaiWeightGradient, Phase::kGradientSync);
    if (call == kNone || file_.rows[row].update == Time()) return;
    Op op;
    op.phase = Phase::kOptimizer;
    op.layer = static_cast<int32_t>(row);
    op.stream = static_cast<uint8_t>(w_.streams.size() - 1);
    op.work = tables_.FixedDuration(file_.rows[row].name + ".update", file_.rows[row].update);
    Add(op, {call});
  }

  uint32_t Add(const Op& op, const std::vector<uint32_t>& dependencies) {
    program_.ops.push_back(op);
    std::vector<uint32_t> sorted = dependencies;
    std::sort(sorted.begin(), sorted.end());
    program_.dependency.insert(program_.dependency.end(), sorted.begin(), sorted.end());
    program_.dependency_begin.push_back(static_cast<uint32_t>(program_.dependency.size()));
    return static_cast<uint32_t>(program_.ops.size() - 1);
  }

  const SimaiFile& file_;
  const SimaiGroups& groups_;
  const ForeignOptions& options_;
  const std::vector<size_t> recomputed_from_;  // by row; the row itself: no recomputation
  Workload& w_;
  ImportTables tables_;
  Program program_;
  std::vector<uint32_t> front_;  // dependencies of the next op of the iteration
  size_t zero_bytes_ = 0, alone_ = 0, rounded_ = 0;
  std::string first_zero_;
};

// Warns of known problems of such files that this file has.
std::vector<std::string> Oddities(const SimaiFile& file) {
  std::vector<std::string> out;
  if (file.pipeline > 1) {
    out.push_back(fmt::format(
        "pp: {}: the file states no schedule and no messages between stages{}; every rank runs all "
        "rows, as in SimAI",
        file.pipeline,
        file.pipeline_bytes > 0 ? fmt::format(" (pp_comm: {})", file.pipeline_bytes) : ""));
  }
  for (const SimaiRow& row : file.rows) {
    const SimaiComm& comm = row.comm[kSimaiForward];
    if (row.name.starts_with("grad_") && !comm.none && comm.span == SimaiSpan::kColumn) {
      out.push_back(
          fmt::format("line {}: the collective of '{}' is in the forward columns and so runs "
                      "over tensor-parallel ranks, as in SimAI; data-parallel ranks are meant",
                      row.line, row.name));
      break;
    }
  }
  Time longest;
  for (const SimaiRow& row : file.rows) {
    for (const Time time : row.compute) longest = std::max(longest, time);
  }
  if (longest > Time() && longest <= Time::Ns(1)) {
    out.push_back(
        "no row computes for more than 1 ns: AICB writes such times if it had no GPU to measure "
        "on");
  }
  return out;
}

void AddCounts(const Loop& loop, std::vector<std::string>* warnings) {
  if (loop.zero_bytes() > 0) {
    warnings->push_back(fmt::format("{} collectives of 0 bytes are left out; the first is {}",
                                    loop.zero_bytes(), loop.first_zero()));
  }
  if (loop.alone() > 0) {
    warnings->push_back(
        fmt::format("{} collectives are over groups of one rank and are left out", loop.alone()));
  }
  if (loop.rounded() > 0) {
    warnings->push_back(fmt::format(
        "{} collectives have buffers that their members cannot share evenly; they were made larger "
        "by less than a byte a member",
        loop.rounded()));
  }
}

}  // namespace

Result<Imported> ImportSimai(const ImportInput& input, const Topology& topology,
                             const ForeignOptions& options) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(input.place));
  ASSIGN_OR_RETURN(SimaiFile file, ParseSimaiFile(text, input.place));
  RETURN_IF_ERROR(CheckSize(file, input.place));
  if (file.gpus == 0) file.gpus = topology.gpu_count();
  if (file.gpus > topology.gpu_count()) {
    return Error(
        fmt::format("all_gpus: {}, but the cluster has {} GPUs", file.gpus, topology.gpu_count()),
        {input.place, 1, 0});
  }
  Imported imported;
  ASSIGN_OR_RETURN(const SimaiGroups groups,
                   MakeSimaiGroups(file, input.place, &imported.workload));
  Loop loop(file, groups, options, &imported.workload);
  loop.Run();
  imported.workload.programs.push_back(loop.TakeProgram());
  imported.workload.class_of_rank.assign(static_cast<size_t>(file.gpus), 0);
  imported.workload.class_count = 1;
  imported.warnings = Oddities(file);
  AddCounts(loop, &imported.warnings);
  RETURN_IF_ERROR(
      FinishImport(BaseName(input.place), "a SimAI workload", topology, options, &imported));
  return imported;
}

}  // namespace drydock
