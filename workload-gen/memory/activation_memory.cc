#include "workload-gen/memory/activation_memory.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "workload-gen/memory/saved_tensors.h"

namespace drydock {
namespace {

// A part of the model in one micro-batch: micro-batch, chunk, and layer (or kEmbedding, kHead).
using Part = std::tuple<int, int, int>;
constexpr int kEmbedding = -1, kHead = -2, kNone = -3;
const Part kNowhere = {-1, -1, kNone};

// Rows and columns of the input of a GEMM.
using Extents = std::pair<int64_t, int64_t>;
// Returns nullopt if `s` is not a GEMM.
std::optional<Extents> GemmInput(const Submodule& s) {
  if (const auto* linear = s.As<submodule::Linear>()) return Extents(linear->rows, linear->k);
  if (const auto* router = s.As<submodule::Router>()) return Extents(router->rows, router->k);
  return std::nullopt;
}

// A submodule that ran in a forward pass.
struct Run {
  uint32_t submodule = 0;
  bool gathered = false;  // an all-gather collected its rows just before
};

class Walker {
 public:
  Walker(const Workload& workload, const Program& program, const ActivationRules& rules)
      : w_(workload), program_(program), rules_(rules) {}

  ActivationMemory Walk() {
    CollectRepeated();
    CollectEnds();
    for (at_ = 0; at_ < program_.ops.size(); ++at_) {
      const Op& op = program_.ops[at_];
      if (op.kind == OpKind::kCollective) NoteCollective(op);
      if (op.kind == OpKind::kCompute) Compute(op);
    }
    result_.peak = Bytes(peak_);
    return result_;
  }

 private:
  Part PartOf(const Op& op) const {
    int layer = op.layer;
    if (layer < 0) {
      const std::string& name = w_.submodules[w_.blocks[op.work].submodules[0]].name;
      layer = name.starts_with("head") ? kHead : kEmbedding;
    }
    return {op.microbatch, op.chunk, layer};
  }

  // Collects the submodules of each part that backward repeats. Layers that are repeated without a
  // backward in between share one saved input: that of the first layer.
  void CollectRepeated() {
    Part before = kNowhere;
    for (const Op& op : program_.ops) {
      if (op.kind != OpKind::kCompute || op.microbatch < 0) continue;
      if (op.phase == Phase::kBackward) before = kNowhere;
      if (op.phase != Phase::kRecompute) continue;
      const Part part = PartOf(op);
      if (before == kNowhere) saved_at_.insert(part);
      before = part;
      std::set<uint32_t>& repeated = repeated_[part];
      const std::vector<uint32_t>& block = w_.blocks[op.work].submodules;
      repeated.insert(block.begin(), block.end());
    }
  }

  // Finds the last backward op of each part, because a forward may run in between.
  void CollectEnds() {
    for (size_t i = 0; i < program_.ops.size(); ++i) {
      const Op& op = program_.ops[i];
      if (op.kind != OpKind::kCompute || op.microbatch < 0) continue;
      if (op.phase == Phase::kBackward) ends_[PartOf(op)] = i;
    }
  }

  // With sequence parallelism, an all-gather of rows precedes the GEMM that reads them.
  void NoteCollective(const Op& op) {
    const CommCall& call = w_.calls[op.work];
    const bool tensor = w_.roles[op.role].dimension == Dimension::kTensor;
    gathered_ = tensor && call.collective == CollectiveType::kAllGather;
    const bool scatters = tensor && call.collective == CollectiveType::kReduceScatter;
    if (!rules_.keeps_outputs || !scatters || op.phase != Phase::kForward || op.layer < 0) return;
    const Part part = {op.microbatch, op.chunk, op.layer};
    if (IsSelective(part)) Add(part, call.bytes().count() / call.group_size);
  }

  // Returns whether backward repeats only some of the part's submodules.
  bool IsSelective(const Part& part) const {
    return rules_.keeps_outputs && repeated_.count(part) > 0;
  }

  void Compute(const Op& op) {
    const std::vector<uint32_t>& block = w_.blocks[op.work].submodules;
    const bool gathered = std::exchange(gathered_, false);
    if (op.microbatch < 0) return;
    const Part part = PartOf(op);
    switch (op.phase) {
      case Phase::kForward:
        if (current_ == kNowhere || ends_[current_] < at_) Leave(kNowhere);
        for (size_t i = 0; i < block.size(); ++i) Forward(part, {block[i], gathered && i == 0});
        break;
      case Phase::kRecompute:
        if (part != current_) Leave(kNowhere);
        Repeat(part);
        break;
      case Phase::kBackward:
        Leave(part);
        break;
      default:
        break;
    }
  }

  // Frees the tensors of the previous part when the backward of another part begins.
  void Leave(const Part& part) {
    if (part == current_) return;
    live_ -= held_[current_];
    held_.erase(current_);
    full_.erase(current_);
    current_ = part;
  }

  void Add(const Part& part, int64_t bytes) {
    live_ += bytes;
    held_[part] += bytes;
    peak_ = std::max(peak_, live_);
  }

  // Returns whether the previous submodule already saved the input of `s`: query, key and value
  // read the same tensor.
  bool SharesInput(const Submodule& s, const Submodule* before) const {
    if (before == nullptr) return false;
    const std::optional<Extents> input = GemmInput(s);
    return input.has_value() && input == GemmInput(*before);
  }

  int64_t InputsOf(const Run& run, const Submodule* before) const {
    const Submodule& s = w_.submodules[run.submodule];
    if (SharesInput(s, before)) return 0;
    const int64_t inputs = SavedBy(s).inputs.count();
    return run.gathered && rules_.saves_split_rows ? inputs / rules_.tensor : inputs;
  }

  void Forward(const Part& part, const Run& run) {
    const Submodule& s = w_.submodules[run.submodule];
    if (s.pass != Pass::kForward) return;
    const SavedTensors saved = SavedBy(s);
    result_.working = std::max(result_.working, saved.total() + saved.outputs);
    const bool same = part == last_part_;
    const int64_t inputs = InputsOf(run, same ? last_ : nullptr);
    const int64_t internal = saved.internal.count();
    full_[part] += inputs + internal;
    const auto repeated = repeated_.find(part);
    const bool again = repeated != repeated_.end() && repeated->second.count(run.submodule) > 0;
    if (!again) {
      Add(part, (IsSelective(part) ? saved.outputs.count() : inputs) + internal);
    } else if (same ? !last_again_ && !rules_.keeps_outputs : saved_at_.count(part) > 0) {
      // A repeated sequence of submodules saves the input of its first submodule. Where outputs
      // are saved, the layer's input is saved instead.
      Add(part, inputs);
    }
    if (std::get<2>(part) >= 0) {
      result_.of_layer = std::max(result_.of_layer, Bytes(held_[part]));
    }
    last_again_ = again;
    last_part_ = part;
    last_ = &s;
  }

  // Restores the tensors that the forward did not save, before the backward of the part begins.
  void Repeat(const Part& part) {
    const auto full = full_.find(part);
    if (full == full_.end()) return;
    Add(part, std::max(int64_t{0}, full->second - held_[part]));
    full_.erase(full);
  }

  const Workload& w_;
  const Program& program_;
  const ActivationRules& rules_;
  ActivationMemory result_;
  std::map<Part, std::set<uint32_t>> repeated_;
  std::set<Part> saved_at_;
  std::map<Part, size_t> ends_;
  size_t at_ = 0;  // index of the current op
  std::map<Part, int64_t> held_;
  std::map<Part, int64_t> full_;  // saved bytes if nothing were repeated
  Part current_ = kNowhere;       // the part whose backward runs
  int64_t live_ = 0, peak_ = 0;
  bool gathered_ = false;
  // The previous forward.
  const Submodule* last_ = nullptr;
  Part last_part_ = kNowhere;
  bool last_again_ = false;
};

}  // namespace

ActivationMemory WalkActivations(const Workload& workload, const Program& program,
                                 const ActivationRules& rules) {
  return Walker(workload, program, rules).Walk();
}

}  // namespace drydock
