#include "workload-gen/memory/activation_memory.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "workload-gen/memory/saved_tensors.h"
#include "workload-gen/work/offloaded_tensors.h"

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
  Walker(const Workload& workload, const Program& program, const ActivationRules& rules,
         const std::vector<HeldChange>& held, CachingAllocator* allocator)
      : w_(workload), program_(program), rules_(rules), held_(held), allocator_(allocator) {
    for (const Submodule& s : w_.submodules) {
      names_.push_back(numbers_.emplace(s.name, static_cast<int>(numbers_.size())).first->second);
      const bool index = s.Is<submodule::SparseIndex>() && s.pass == Pass::kBackward;
      if (s.pass == Pass::kBackwardWeight || index) {
        trained_.insert(names_.back());
      }
    }
  }

  ActivationMemory Walk() {
    CollectRepeated();
    CollectEnds();
    result_.by_op.assign(program_.ops.size(), 0);
    for (at_ = 0; at_ < program_.ops.size(); ++at_) {
      const Op& op = program_.ops[at_];
      NoteOp(live_);
      ChangeHeld(0);
      if (op.kind == OpKind::kCollective) NoteCollective(op);
      if (op.kind == OpKind::kCompute) Compute(op);
      if (op.kind == OpKind::kStore || op.kind == OpKind::kLoad) Move(op);
    }
    ChangeHeld(0);
    for (auto& [part, kept] : kept_) GiveBack(&kept, kEveryName);
    for (const auto& [tensor, block] : held_blocks_) allocator_->Free(block);
    result_.peak = Bytes(std::min(peak_, fullest_used_));
    result_.working = Bytes(fullest_used_) - result_.peak;
    return result_;
  }

 private:
  // Saved bytes of a part by the name of the submodule, and of the part.
  struct Kept {
    std::vector<std::pair<int, int64_t>> by_name;
    // What backward needs of the submodules that it has repeated so far.
    std::vector<std::pair<int, int64_t>> needed;
    int64_t total = 0;
    // The allocator's blocks, by name.
    std::vector<std::pair<int, CachingAllocator::Address>> blocks;
  };

  struct Moving {
    Part part;
    OffloadModule module;
    int64_t bytes = 0;
  };

  // Tensors that the forward drops behind the submodule that reads them.
  struct Dropped {
    int reader = 0;  // the name of that submodule
    int64_t bytes = 0;
  };

  static int64_t& Of(std::vector<std::pair<int, int64_t>>* list, int name) {
    for (auto& [key, bytes] : *list) {
      if (key == name) return bytes;
    }
    return list->emplace_back(name, 0).second;
  }

  int NameOf(uint32_t submodule) const { return names_[submodule]; }

  // Outside layers, sharding's own kernels may stand in front of those of the head.
  Part PartOf(const Op& op) const {
    if (op.layer >= 0) return {op.microbatch, op.chunk, op.layer};
    const std::vector<uint32_t>& block = w_.blocks[op.work].submodules;
    const bool head = std::any_of(block.begin(), block.end(), [this](uint32_t s) {
      return w_.submodules[s].name.starts_with("head");
    });
    return {op.microbatch, op.chunk, head ? kHead : kEmbedding};
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
      std::set<int>& repeated = repeated_[part];
      for (const uint32_t s : w_.blocks[op.work].submodules) repeated.insert(NameOf(s));
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
    if (IsSelective(part)) Add(part, kCommunication, call.bytes().count() / call.group_size);
  }

  // Returns whether backward repeats only some of the part's submodules.
  bool IsSelective(const Part& part) const {
    return rules_.keeps_outputs && repeated_.count(part) > 0;
  }

  // Makes the changes up to a submodule of the current op.
  void ChangeHeld(size_t submodule) {
    for (; next_held_ < held_.size(); ++next_held_) {
      const HeldChange& change = held_[next_held_];
      if (std::pair(change.op, change.submodule) > std::pair(at_, submodule)) return;
      held_now_[static_cast<size_t>(change.kind)] += change.bytes;
      held_total_ += change.bytes;
      if (allocator_ != nullptr && change.bytes > 0) {
        held_blocks_[change.tensor] = allocator_->Allocate(change.bytes);
      } else if (allocator_ != nullptr) {
        allocator_->Free(held_blocks_.extract(change.tensor).mapped());
      }
      Reach({});
    }
  }

  void Compute(const Op& op) {
    const std::vector<uint32_t>& block = w_.blocks[op.work].submodules;
    const bool gathered = std::exchange(gathered_, false);
    if (op.microbatch < 0) return;
    const Part part = PartOf(op);
    for (size_t i = 0; i < block.size(); ++i) {
      ChangeHeld(i);
      const Run run = {block[i], gathered && i == 0 && GathersInput(w_.submodules[block[i]])};
      if (op.phase == Phase::kForward) Forward(part, run);
      if (op.phase == Phase::kRecompute) Repeat(part, run);
      if (op.phase == Phase::kBackward) Backward(part, run.submodule, op.layer >= 0);
    }
    const auto end = ends_.find(part);
    if (end != ends_.end() && end->second == at_) Free(part);
  }

  // Tensors of a module that leave for the host, or come back.
  void Move(const Op& op) {
    const MemoryTransfer& transfer = w_.transfers[op.work];
    const Part part = {op.microbatch, op.chunk, op.layer};
    for (const OffloadModuleName& name : kOffloadModuleNames) {
      const Moving moving = {part, name.module, transfer.bytes.count()};
      const bool again = transfer.name == TransferName(name.module, /*again=*/true);
      if (!again && transfer.name != TransferName(name.module, /*again=*/false)) continue;
      if (op.kind == OpKind::kLoad) ComeBack(moving, again);
      if (op.kind == OpKind::kStore && !again) Leave(moving);
    }
  }

  // PyTorch counts a tensor until it is released, behind its module. Until the copy has ended, the
  // memory serves no other tensor; an allocation that needs it waits.
  void Leave(const Moving& moving) {
    const auto kept = kept_.find(moving.part);
    if (kept == kept_.end()) return;
    std::vector<std::pair<int, int64_t>>& away = away_[{moving.part, moving.module}];
    int64_t left = moving.bytes;
    for (const std::string& submodule : SubmodulesOf(moving.module)) {
      const auto number = numbers_.find(submodule);
      if (number == numbers_.end()) continue;
      int64_t& bytes = Of(&kept->second.by_name, number->second);
      const int64_t taken = std::min(left, bytes);
      bytes -= taken;
      left -= taken;
      live_ -= taken;
      kept->second.total -= taken;
      if (taken > 0) {
        GiveBack(&kept->second, number->second);
        Take(&kept->second, number->second, bytes);
      }
      away.emplace_back(number->second, taken);
    }
  }

  // `again`: a copy of tensors of which the GPU has, or gets, another copy.
  void ComeBack(const Moving& moving, bool again) {
    if (again) {
      for (const std::string& submodule : SubmodulesOf(moving.module)) {
        const auto number = numbers_.find(submodule);
        if (number != numbers_.end()) return Add(moving.part, number->second, moving.bytes);
      }
      return;
    }
    for (const auto& [name, bytes] : away_[{moving.part, moving.module}]) {
      Add(moving.part, name, bytes);
    }
    away_.erase({moving.part, moving.module});
  }

  void Add(const Part& part, int name, int64_t bytes) {
    live_ += bytes;
    Kept& kept = kept_[part];
    Of(&kept.by_name, name) += bytes;
    kept.total += bytes;
    Take(&kept, name, bytes);
    Reach({});
    peak_ = std::max(peak_, live_);
  }

  // Notes what the current op holds beside the held tensors.
  void NoteOp(int64_t used) {
    if (at_ >= result_.by_op.size()) return;
    int64_t& most = result_.by_op[at_];
    most = std::max(most, std::max(int64_t{0}, used - rules_.offloaded) + held_total_);
  }

  // Notes the working tensors of a submodule beside the saved and the held ones.
  void Reach(const TensorSizes& working) {
    const int64_t used = live_ + TotalOf(working);
    NoteOp(used);
    if (used + held_total_ > fullest_) {
      fullest_ = used + held_total_;
      fullest_used_ = used;
      result_.held = held_now_;
    }
    if (allocator_ == nullptr) return;
    std::vector<CachingAllocator::Address> blocks;
    for (const int64_t bytes : working) {
      if (bytes > 0) blocks.push_back(allocator_->Allocate(bytes));
    }
    for (const CachingAllocator::Address block : blocks) allocator_->Free(block);
  }

  void Take(Kept* kept, int name, int64_t bytes) {
    if (allocator_ == nullptr || bytes <= 0) return;
    kept->blocks.emplace_back(name, allocator_->Allocate(bytes));
  }

  void GiveBack(Kept* kept, int name) {
    std::erase_if(kept->blocks, [&](const auto& block) {
      if (name != kEveryName && block.first != name) return false;
      allocator_->Free(block.second);
      return true;
    });
  }

  void Release(const Part& part, int name) {
    const auto kept = kept_.find(part);
    if (kept == kept_.end()) return;
    int64_t& bytes = Of(&kept->second.by_name, name);
    live_ -= bytes;
    kept->second.total -= bytes;
    bytes = 0;
    GiveBack(&kept->second, name);
  }

  void Free(const Part& part) {
    const auto kept = kept_.find(part);
    if (kept == kept_.end()) return;
    live_ -= kept->second.total;
    GiveBack(&kept->second, kEveryName);
    kept_.erase(kept);
    dropped_.erase(part);
  }

  // Returns whether the previous submodule already saved the input of `s`: query, key and value
  // read the same tensor, as do the router and shared experts, and the parts of one GEMM.
  bool SharesInput(const Submodule& s, const Submodule* before) const {
    if (s.name == "shared.fc1") return true;
    // Reads what the router read; in fp8, it saves a copy of its own.
    if (s.name == "moe.latent-down") return OperandBytes(s.type) == 2;
    // The indexer reads what q-up and q-down read; where ranks split the rows, it gathers them.
    if (s.name == "attention.index-q" || s.name == "attention.index-k") return rules_.tensor == 1;
    if (before == nullptr) return false;
    if (before == &s && s.Is<submodule::Linear>()) return true;
    const std::optional<Extents> input = GemmInput(s);
    return input.has_value() && input == GemmInput(*before);
  }

  // A product whose weight has no gradient saves no input, nor does an indexer that learns nothing.
  bool IsFrozen(const Submodule& s, int name) const {
    const bool learns = s.Is<submodule::Linear>() || s.Is<submodule::SparseIndex>();
    return learns && trained_.count(name) == 0;
  }

  // Of the steps of attention, the first saves what all of them read. Where keys are gathered, each
  // of two steps saves its queries, and the first the rank's keys.
  void ShareAttention(const submodule::Attention& s, const Submodule* before,
                      SavedTensors* saved) const {
    const bool first = before == nullptr || !before->Is<submodule::Attention>();
    if (rules_.gathers_keys) {
      const int64_t element = 2, rows = s.batch * s.sequence;
      const int64_t keys = 2 * rows * s.kv_heads * (s.head_dim + s.value_width());
      saved->inputs = Bytes(element * (rows * s.heads * s.head_dim + (first ? keys : 0)));
    } else if (!first) {
      saved->inputs = Bytes();
      if (s.fused) saved->internal = Bytes();
    }
    if (rules_.keeps_attention && first) saved->internal += saved->outputs;
  }

  static void RepeatKeys(const submodule::Attention& s, double element, SavedTensors* saved) {
    const int64_t more = s.batch * std::max(s.keys(), s.sequence) * (s.heads - s.kv_heads) *
                         (s.head_dim + s.value_width());
    saved->inputs += Bytes(std::llround(static_cast<double>(more) * element));
  }

  SavedTensors SavedIn(const Run& run, const Submodule* before) const {
    const Submodule& s = w_.submodules[run.submodule];
    SavedTensors saved = SavedBy(s, rules_.working.loss);
    if (const auto* attention = s.As<submodule::Attention>()) {
      if (rules_.repeats_keys || !attention->fused) {
        RepeatKeys(*attention, OperandBytes(s.type), &saved);
      }
      ShareAttention(*attention, before, &saved);
    } else if (s.Is<submodule::Activation>() && rules_.keeps_gates &&
               s.As<submodule::Activation>()->gated) {
      saved.internal += saved.outputs;
    } else if (s.name == "moe.activation" && !s.As<submodule::Activation>()->gated) {
      // The results are weighted by the experts' probabilities, outside of a fused kernel.
      saved.internal += saved.outputs;
    } else if (IsFrozen(s, NameOf(run.submodule)) || SharesInput(s, before)) {
      saved.inputs = Bytes();
    } else if (run.gathered && rules_.saves_split_rows) {
      saved.inputs = Bytes(saved.inputs.count() / rules_.tensor);
    }
    return saved;
  }

  // The working tensors of a forward: its own, and inputs that it does not save.
  TensorSizes WorkingIn(const Run& run, const SavedTensors& saved, bool kept) const {
    const Submodule& s = w_.submodules[run.submodule];
    TensorSizes working = WorkingForward(s, rules_.working);
    if (run.gathered) working.push_back(SavedBy(s, rules_.working.loss).inputs.count());
    if (!kept) {
      working.push_back(saved.inputs.count());
      working.push_back(saved.internal.count());
    }
    return working;
  }

  // Megatron drops what a repeated norm, activation or up-projection wrote once its reader has run
  // (CheckpointWithoutOutput), and writes it again in backward. The results of other repeated
  // modules stay, as the inputs of their readers.
  bool IsDropped(const Submodule& reader, const Submodule& writer) const {
    if (rules_.keeps_outputs) return false;
    if (reader.Is<submodule::Attention>() && writer.Is<submodule::Attention>())
      return last_dropped_;
    return last_again_ && (writer.Is<submodule::Norm>() || writer.Is<submodule::Activation>() ||
                           reader.Is<submodule::Attention>());
  }

  void Drop(const Part& part, const Submodule& reader, const Run& run, int64_t bytes) {
    // What is written again has 16 bits, also where the reader makes fp8 of it.
    const auto again =
        static_cast<int64_t>(static_cast<double>(2 * bytes) / OperandBytes(reader.type));
    if (last_dropped_ && last_->Is<submodule::Attention>()) {
      dropped_[part][last_writer_].back().bytes += again;
      return;
    }
    last_writer_ = last_name_;
    dropped_[part][last_writer_].push_back({NameOf(run.submodule), again});
  }

  void Restore(const Part& part, int writer) {
    const auto of_part = dropped_.find(part);
    if (of_part == dropped_.end()) return;
    std::deque<Dropped>& dropped = of_part->second[writer];
    if (dropped.empty()) return;
    Add(part, dropped.front().reader, dropped.front().bytes);
    dropped.pop_front();
  }

  bool Repeats(const Part& part, const std::string& name) const {
    const auto number = numbers_.find(name);
    const auto repeated = repeated_.find(part);
    return number != numbers_.end() && repeated != repeated_.end() &&
           repeated->second.count(number->second) > 0;
  }

  // Returns whether a repeated sequence has to keep the input of `s`, because no other submodule of
  // the sequence writes it: its first one, and the norm of keys and values where only the
  // projections behind it are repeated.
  bool KeepsInput(const Part& part, const Submodule& s) const {
    if (rules_.keeps_outputs) return saved_at_.count(part) > 0 && part != last_part_;
    if (part != last_part_) return saved_at_.count(part) > 0;
    return !last_again_ || (s.name == "attention.kv-norm" && !Repeats(part, "attention.kv-down"));
  }

  // A gather of rows before other submodules, such as a norm, is of something else: rotated keys.
  static bool GathersInput(const Submodule& s) {
    return s.Is<submodule::Linear>() && !ReadsEarlierRows(s);
  }

  // Queries pass the norm of the latent keys before sparse attention absorbs them, and the indexer
  // reads rows that the down-projections and q-up save. So these submodules read neither what the
  // submodule before them wrote, nor what was gathered last.
  static bool ReadsEarlierRows(const Submodule& s) {
    return s.name == "attention.absorb" || s.name == "attention.index-q";
  }

  // Queries and this rank's keys of sparse attention pass the indexer on their way, and their
  // writer is not the submodule before the core. A repeated core (core_attn) starts from both. A
  // repeated up-projection (mla_up_proj) drops both behind the core, and keeps the latent keys that
  // it reads. Returns the bytes to keep of `inputs`, which the core saves if it is not repeated.
  int64_t KeptOfSparse(const Part& part, const Run& run, bool again, int64_t inputs) {
    const auto& core = *w_.submodules[run.submodule].As<submodule::SparseAttention>();
    const int64_t queries = 2 * core.rows * core.heads * core.head_dim;
    const int64_t keys = 2 * core.rows * core.head_dim;
    if (latents_again_) return again ? 0 : inputs;  // the whole layer
    if (!up_again_) return again ? queries + keys : inputs;
    if (again) return keys;
    dropped_[part][up_writer_].push_back({NameOf(run.submodule), queries + keys});
    const bool gathered = core.rows < core.all_keys();
    return inputs - queries + (gathered ? keys : 0);
  }

  void NoteSparse(const Submodule& s, const Run& run, bool again) {
    if (s.name == "attention.kv-norm") latents_again_ = again;
    if (s.name != "attention.join") return;
    up_again_ = again;
    up_writer_ = NameOf(run.submodule);
  }

  void Forward(const Part& part, const Run& run) {
    const Submodule& s = w_.submodules[run.submodule];
    if (s.pass != Pass::kForward) return;
    const bool same = part == last_part_;
    const SavedTensors saved = SavedIn(run, same ? last_ : nullptr);
    int64_t inputs = saved.inputs.count();
    const int64_t internal = saved.internal.count();
    if (run.gathered) gathered_names_.insert(NameOf(run.submodule));
    if (rules_.keeps_outputs) full_[part] += inputs + internal;
    const auto repeated = repeated_.find(part);
    const bool again =
        repeated != repeated_.end() && repeated->second.count(NameOf(run.submodule)) > 0;
    NoteSparse(s, run, again);
    const bool sparse = s.Is<submodule::SparseAttention>();
    if (sparse) inputs = KeptOfSparse(part, run, again, inputs);
    const bool dropped = !again && same && !sparse && IsDropped(s, *last_);
    if (dropped) Drop(part, s, run, std::exchange(inputs, 0));
    if (!again) {
      Add(part, NameOf(run.submodule), IsSelective(part) ? saved.outputs.count() : inputs);
      Add(part, NameOf(run.submodule), internal);
    } else if (sparse || (!ReadsEarlierRows(s) && KeepsInput(part, s))) {
      Add(part, NameOf(run.submodule), inputs);
    }
    Reach(WorkingIn(run, saved, !again));
    if (std::get<2>(part) >= 0) {
      const Bytes saved(kept_[part].total);
      const auto layer = static_cast<size_t>(std::get<2>(part));
      if (layer >= result_.by_layer.size()) result_.by_layer.resize(layer + 1);
      result_.of_layer = std::max(result_.of_layer, saved);
      result_.by_layer[layer] = std::max(result_.by_layer[layer], saved);
    }
    last_again_ = again;
    last_dropped_ = dropped;
    last_name_ = NameOf(run.submodule);
    last_part_ = part;
    last_ = &s;
  }

  // Restores the tensors that the forward did not save: submodule by submodule, or, where outputs
  // are saved, all before the backward of the part begins.
  void Repeat(const Part& part, const Run& run) {
    const Submodule& s = w_.submodules[run.submodule];
    if (rules_.keeps_outputs) {
      const auto full = full_.find(part);
      if (full == full_.end()) return;
      Add(part, kCommunication, std::max(int64_t{0}, full->second - kept_[part].total));
      full_.erase(full);
      return;
    }
    if (s.pass != Pass::kForward) return;
    const bool same = part == last_part_;
    const SavedTensors saved = SavedIn(run, same ? last_ : nullptr);
    if (run.gathered) gathered_names_.insert(NameOf(run.submodule));
    Kept& kept = kept_[part];
    const int name = NameOf(run.submodule);
    int64_t& needed = Of(&kept.needed, name);
    needed += saved.total().count();
    const int64_t lacks = needed - Of(&kept.by_name, name);
    if (lacks > 0) Add(part, name, lacks);
    Restore(part, name);
    Reach(WorkingIn(run, saved, /*kept=*/true));
    last_part_ = part;
    last_ = &s;
  }

  void Backward(const Part& part, uint32_t submodule, bool in_layer) {
    const Submodule& s = w_.submodules[submodule];
    const int name = NameOf(submodule);
    TensorSizes working = WorkingBackward(s, rules_.working);
    if (in_layer) working.push_back(rules_.residual);
    const bool weight = s.pass == Pass::kBackwardWeight;
    if (weight && gathered_names_.count(name) > 0) {
      working.push_back(SavedBy(s, rules_.working.loss).inputs.count());
    }
    Reach(working);
    last_part_ = kNowhere;
    if (weight && rules_.head_gradient_waits && std::get<2>(part) == kHead) {
      const Part embedding = {std::get<0>(part), 0, kEmbedding};
      Add(embedding, kCommunication, WeightGradientOf(s, rules_.working).count());
    }
    if (weight || s.pass == Pass::kBackward) Release(part, name);
  }

  static constexpr int kCommunication = -1;  // the name of tensors of no submodule
  static constexpr int kEveryName = -2;

  const Workload& w_;
  const Program& program_;
  const ActivationRules& rules_;
  const std::vector<HeldChange>& held_;
  CachingAllocator* const allocator_;
  ActivationMemory result_;
  std::unordered_map<std::string, int> numbers_;
  std::vector<int> names_;  // by submodule
  std::set<int> trained_;   // names of products whose weights have gradients
  std::map<Part, std::set<int>> repeated_;  // names
  std::set<Part> saved_at_;
  std::map<Part, size_t> ends_;
  size_t at_ = 0;  // index of the current op
  std::map<Part, Kept> kept_;
  std::map<Part, int64_t> full_;  // saved bytes if nothing were repeated
  std::set<int> gathered_names_;  // submodules whose input is gathered
  // By submodule, what is on the host.
  std::map<std::pair<Part, OffloadModule>, std::vector<std::pair<int, int64_t>>> away_;
  // By the name of the submodule that wrote them.
  std::map<Part, std::unordered_map<int, std::deque<Dropped>>> dropped_;
  int64_t live_ = 0, peak_ = 0;
  int64_t fullest_ = 0, fullest_used_ = 0;  // all tensors at the fullest moment; without held ones
  size_t next_held_ = 0;                    // index into held_
  HeldBytes held_now_{};
  int64_t held_total_ = 0;
  std::map<size_t, CachingAllocator::Address> held_blocks_;  // by tensor
  bool gathered_ = false;
  // The previous forward.
  const Submodule* last_ = nullptr;
  Part last_part_ = kNowhere;
  int last_name_ = 0;
  bool last_again_ = false;
  bool last_dropped_ = false;
  int last_writer_ = 0;  // the name of the submodule that wrote what was dropped
  // Of the layer's sparse attention: whether its latents, and what it makes of them, are repeated.
  bool latents_again_ = false, up_again_ = false;
  int up_writer_ = 0;  // the name of the last submodule of the up-projection
};

}  // namespace

ActivationMemory WalkActivations(const Workload& workload, const Program& program,
                                 const ActivationRules& rules, const std::vector<HeldChange>& held,
                                 CachingAllocator* allocator) {
  return Walker(workload, program, rules, held, allocator).Walk();
}

}  // namespace drydock
