#include "capture/classes/world_workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "capture/classes/role_names.h"
#include "capture/classes/world_calls.h"
#include "capture/tape/launch_costs.h"
#include "capture/tape/make_tape.h"
#include "core/base/files.h"
#include "core/base/installation.h"
#include "core/schema/host/host_memory_file.h"
#include "simccl/record/workload/program.h"

namespace drydock::capture {
namespace {

constexpr size_t kMostRoles = UINT8_MAX;
constexpr size_t kMostStreams = UINT8_MAX;

// Names that are given once; equal names get numbers.
class Names {
 public:
  std::string Take(const std::string& wanted) {
    const int before = used_[wanted]++;
    return before == 0 ? wanted : Take(fmt::format("{} {}", wanted, before + 1));
  }

 private:
  std::map<std::string, int> used_;
};

// The tables of a tape, as parts of those of the workload.
class Tables {
 public:
  explicit Tables(Workload* workload) : workload_(*workload) {}

  // Returns the block of the workload for each block of the tape. Equal work of another class has
  // the host's time that was measured first.
  std::vector<uint32_t> AddBlocks(const ClassTape& tape) {
    std::vector<uint32_t> blocks;
    for (ComputeBlock block : tape.blocks) {
      // The host's time is that of the first of a block.
      const char* place = " first";
      for (uint32_t& index : block.submodules) {
        const Submodule& submodule = tape.submodules[index];
        const auto next = static_cast<uint32_t>(workload_.submodules.size());
        const auto [known, added] =
            submodules_.emplace(FactsOfWork(submodule) + std::exchange(place, ""), next);
        if (added) workload_.submodules.push_back(submodule);
        index = known->second;
      }
      const auto next = static_cast<uint32_t>(workload_.blocks.size());
      const auto [known, added] = blocks_.emplace(std::pair(block.name, block.submodules), next);
      if (added) workload_.blocks.push_back(std::move(block));
      blocks.push_back(known->second);
    }
    return blocks;
  }

  std::vector<uint32_t> AddTransfers(const ClassTape& tape) {
    std::vector<uint32_t> transfers;
    std::vector<MemoryTransfer>& all = workload_.transfers;
    for (const MemoryTransfer& transfer : tape.transfers) {
      const auto known = std::find(all.begin(), all.end(), transfer);
      transfers.push_back(static_cast<uint32_t>(known - all.begin()));
      if (known == all.end()) all.push_back(transfer);
    }
    return transfers;
  }

 private:
  Workload& workload_;
  std::map<std::string, uint32_t> submodules_;
  std::map<std::pair<std::string, std::vector<uint32_t>>, uint32_t> blocks_;
};

// Arithmetic of products and attention: what model FLOPs count.
double ModelFlops(const Submodule& submodule) {
  const bool counts = submodule.Is<submodule::Linear>() || submodule.Is<submodule::Attention>() ||
                      submodule.Is<submodule::GroupedLinear>();
  return counts ? submodule.flops : 0;
}

class WorkloadMaker {
 public:
  WorkloadMaker(const Topology& topology, const std::vector<int>& gpu_of_rank,
                const std::vector<WorldClass>& classes, const WorldCalls& calls)
      : gpu_of_rank_(gpu_of_rank), classes_(classes), calls_(calls) {
    workload_.topology = topology;
  }

  Result<Workload> Make() {
    record_tables_.launches = RecordLaunches(calls_.recording());
    workload_.class_of_rank.assign(static_cast<size_t>(workload_.topology.gpu_count()), -1);
    workload_.streams = {"compute"};
    for (size_t p = 0; p < calls_.programs().size(); ++p) RETURN_IF_ERROR(AddProgram(p));
    workload_.calls = std::move(record_tables_.calls);
    AddUnusedGpus();
    workload_.class_count = static_cast<int>(workload_.programs.size());
    const bool has_peaks =
        std::any_of(workload_.pytorch.begin(), workload_.pytorch.end(),
                    [](const PyTorchPeaks& peaks) { return peaks.reserved > Bytes(); });
    if (!has_peaks) workload_.pytorch.clear();
    RETURN_IF_ERROR(SetGroups());
    SetUses();
    SetRates();
    SetTotals();
    RETURN_IF_ERROR(SetHostMemory());
    RETURN_IF_ERROR(SetLaunch());
    return std::move(workload_);
  }

 private:
  Status AddProgram(size_t p) {
    const WorldProgram& of_ranks = calls_.programs()[p];
    const ClassTape& tape = *classes_[of_ranks.of_class].tape;
    const RecordedRank entries = calls_.EntriesOf(p);
    Result<RecordProgram> made = MakeRecordProgram(calls_.recording(), entries, &record_tables_);
    if (!made.ok()) {
      return Error(fmt::format("rank {}: {}", of_ranks.ranks.front(), made.error().message()));
    }
    Program& program = made->program;
    SetPlaces(tape, made->entry_of_op, &program);
    std::vector<uint32_t>& blocks = blocks_[of_ranks.of_class];
    std::vector<uint32_t>& transfers = transfers_[of_ranks.of_class];
    if (blocks.empty()) blocks = tables_.AddBlocks(tape);
    if (transfers.empty()) transfers = tables_.AddTransfers(tape);
    std::vector<int> roles(tape.roles.size(), -1);  // of the workload
    for (size_t i = 0; i < program.ops.size(); ++i) {
      Op& op = program.ops[i];
      if (op.kind == OpKind::kCompute) op.work = blocks[op.work];
      if (UsesMemory(op.kind)) op.work = transfers[op.work];
      if (!IsCommunication(op.kind)) continue;
      const size_t own = tape.entries[made->entry_of_op[i]].communicator;
      if (roles[own] < 0) {
        ASSIGN_OR_RETURN(roles[own], RoleIndex(tape.roles[own]));
      }
      op.role = static_cast<uint8_t>(roles[own]);
    }
    for (size_t own = 0; own < roles.size(); ++own) {
      if (roles[own] >= 0) AssignGroups(of_ranks, own, static_cast<size_t>(roles[own]));
    }
    RETURN_IF_ERROR(NameStreams(&program));
    SetClass(of_ranks, tape.memory, std::move(program));
    return OkStatus();
  }

  Result<int> RoleIndex(const ClassRole& role) {
    const auto next = static_cast<int>(workload_.roles.size());
    const auto [known, added] = roles_.emplace(std::pair(role.kind, role.offsets), next);
    if (!added) return known->second;
    if (workload_.roles.size() >= kMostRoles) {
      return Error(fmt::format("the program has more than {} kinds of communicators", kMostRoles));
    }
    GroupRole made = RoleOf(role);
    made.name = role_names_.Take(made.name);
    workload_.roles.push_back(std::move(made));
    workload_.group_of_rank.emplace_back(workload_.class_of_rank.size(), -1);
    return next;
  }

  void AssignGroups(const WorldProgram& program, size_t own_role, size_t role) {
    for (size_t i = 0; i < program.ranks.size(); ++i) {
      const auto gpu = static_cast<size_t>(gpu_of_rank_[static_cast<size_t>(program.ranks[i])]);
      workload_.group_of_rank[role][gpu] = program.group_of_rank[own_role][i];
    }
  }

  // Streams are called after what runs on them.
  Status NameStreams(Program* program) {
    std::map<uint8_t, std::string> wanted;
    for (const Op& op : program->ops) {
      if (op.stream == 0) continue;
      std::string name = UsesMemory(op.kind) ? "copies" : "side";
      if (IsCommunication(op.kind)) name = workload_.roles[op.role].name;
      if (op.kind == OpKind::kSend) name += "-send";
      if (op.kind == OpKind::kRecv) name += "-recv";
      std::string& known = wanted[op.stream];
      const bool better = known == "copies" || (known == "side" && IsCommunication(op.kind));
      if (known.empty() || better) known = name;
    }
    Names names;
    std::map<uint8_t, uint8_t> numbers = {{0, 0}};
    for (const auto& [stream, name] : wanted) {
      const std::string own = names.Take(name);
      std::vector<std::string>& all = workload_.streams;
      auto known = std::find(all.begin(), all.end(), own);
      if (known == all.end()) {
        if (all.size() >= kMostStreams) {
          return Error(fmt::format("the program uses more than {} streams", kMostStreams));
        }
        known = all.insert(all.end(), own);
      }
      numbers[stream] = static_cast<uint8_t>(known - all.begin());
    }
    for (Op& op : program->ops) op.stream = numbers[op.stream];
    return OkStatus();
  }

  // Programs that came out equal are one class.
  void SetClass(const WorldProgram& of_ranks, const PyTorchPeaks& peaks, Program program) {
    const std::string key = KeyOf(program, peaks);
    const auto next = static_cast<int>(workload_.programs.size());
    const auto [known, added] = program_classes_.emplace(key, next);
    if (added) {
      workload_.programs.push_back(std::move(program));
      workload_.pytorch.push_back(peaks);
    }
    for (const int rank : of_ranks.ranks) {
      const auto gpu = static_cast<size_t>(gpu_of_rank_[static_cast<size_t>(rank)]);
      workload_.class_of_rank[gpu] = known->second;
    }
  }

  static std::string KeyOf(const Program& program, const PyTorchPeaks& peaks) {
    std::string text;
    const auto add = [&text](auto... values) {
      const int64_t words[] = {static_cast<int64_t>(values)...};
      text.append(reinterpret_cast<const char*>(words), sizeof words);
    };
    for (size_t i = 0; i < program.ops.size(); ++i) {
      const Op& op = program.ops[i];
      add(op.kind, op.phase, op.stream, op.role, op.work, op.tag, op.layer, op.microbatch, op.chunk,
          op.host_waits, op.graph, program.dependencies(i).size());
      for (const uint32_t dependency : program.dependencies(i)) add(dependency);
    }
    add(peaks.allocated.count(), peaks.reserved.count());
    return Sha256(text);
  }

  void AddUnusedGpus() {
    std::vector<int>& classes = workload_.class_of_rank;
    if (std::find(classes.begin(), classes.end(), -1) == classes.end()) return;
    std::replace(classes.begin(), classes.end(), -1, static_cast<int>(workload_.programs.size()));
    workload_.programs.emplace_back().dependency_begin.push_back(0);
    workload_.pytorch.emplace_back();
  }

  // Keeps the communicators that ops use.
  Status SetGroups() {
    const std::vector<std::vector<int>>& all = calls_.groups();
    std::vector<int> numbers(all.size(), -1);
    for (std::vector<int>& groups : workload_.group_of_rank) {
      for (int& group : groups) {
        if (group < 0) continue;
        int& number = numbers[static_cast<size_t>(group)];
        if (number < 0) {
          number = static_cast<int>(workload_.groups.size());
          Group& made = workload_.groups.emplace_back();
          for (const int rank : all[static_cast<size_t>(group)]) {
            made.ranks.push_back(gpu_of_rank_[static_cast<size_t>(rank)]);
          }
        }
        group = number;
      }
    }
    return OkStatus();
  }

  void SetUses() {
    std::vector<std::set<std::pair<uint32_t, uint8_t>>> of_class;  // calls and roles
    for (const Program& program : workload_.programs) {
      auto& uses = of_class.emplace_back();
      for (const Op& op : program.ops) {
        if (IsCommunication(op.kind)) uses.insert({op.work, op.role});
      }
    }
    std::set<Workload::Use> uses;
    for (size_t gpu = 0; gpu < workload_.class_of_rank.size(); ++gpu) {
      for (const auto& [call, role] : of_class[static_cast<size_t>(workload_.class_of_rank[gpu])]) {
        uses.insert({call, static_cast<uint32_t>(workload_.group_of_rank[role][gpu])});
      }
    }
    workload_.uses.assign(uses.begin(), uses.end());
  }

  void SetRates() {
    for (Submodule& submodule : workload_.submodules) {
      if (!submodule.Is<submodule::FlopsAndBytes>()) continue;
      submodule.type = TypeOfRate(submodule.type, workload_.topology);
    }
  }

  void SetTotals() {
    std::vector<double> block_flops;
    std::vector<DataType> block_types;
    for (const ComputeBlock& block : workload_.blocks) {
      double& flops = block_flops.emplace_back();
      DataType& type = block_types.emplace_back();
      for (const uint32_t s : block.submodules) {
        const Submodule& submodule = workload_.submodules[s];
        flops += ModelFlops(submodule);
        if (ModelFlops(submodule) > 0) type = submodule.type;
      }
    }
    std::map<DataType, double> by_type;
    std::vector<double> ranks(workload_.programs.size());
    for (const int of_class : workload_.class_of_rank) ranks[static_cast<size_t>(of_class)] += 1;
    for (size_t c = 0; c < workload_.programs.size(); ++c) {
      for (const Op& op : workload_.programs[c].ops) {
        if (op.kind != OpKind::kCompute) continue;
        const double flops = block_flops[op.work] * ranks[c];
        workload_.totals.hardware_flops += flops;
        by_type[block_types[op.work]] += flops;
        if (op.phase != Phase::kRecompute) workload_.totals.model_flops += flops;
      }
    }
    const auto most = std::max_element(by_type.begin(), by_type.end(),
                                       [](auto& a, auto& b) { return a.second < b.second; });
    if (most != by_type.end()) workload_.totals.precision = most->first;
  }

  // Ranks share one set of costs: that of the class whose program has the most ops.
  Status SetLaunch() {
    const auto longest = std::max_element(classes_.begin(), classes_.end(),
                                          [](const WorldClass& a, const WorldClass& b) {
                                            return a.tape->entries.size() < b.tape->entries.size();
                                          });
    ASSIGN_OR_RETURN(workload_.launch, LaunchCosts(longest->tape->host));
    return OkStatus();
  }

  Status SetHostMemory() {
    if (workload_.transfers.empty()) return OkStatus();
    const std::string path = ConfigDirectory() + "/host-memory.yaml";
    ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
    ASSIGN_OR_RETURN(const HostMemoryDefaults defaults, ParseHostMemoryFile(text, path));
    for (const HostKind& kind : workload_.topology.host_kinds) {
      const GpuSpec& gpu = workload_.topology.gpus[static_cast<size_t>(kind.gpu)];
      workload_.host_memory.push_back(WithDefaults(kind, gpu, defaults));
    }
    return OkStatus();
  }

  const std::vector<int>& gpu_of_rank_;
  const std::vector<WorldClass>& classes_;
  const WorldCalls& calls_;
  Workload workload_;
  Tables tables_{&workload_};
  RecordTables record_tables_;
  std::map<size_t, std::vector<uint32_t>> blocks_, transfers_;  // by class
  std::map<std::pair<GroupKind, std::vector<int>>, int> roles_;
  Names role_names_;
  std::map<std::string, int> program_classes_;
};

}  // namespace

DataType TypeOfRate(DataType type, const Topology& topology) {
  const bool is_stated =
      std::all_of(topology.gpus.begin(), topology.gpus.end(),
                  [type](const GpuSpec& gpu) { return gpu.RateOf(type).flops_per_second() > 0; });
  return is_stated ? type : DataType::kFp32;
}

Result<Workload> MakeWorldWorkload(const Topology& topology, const std::vector<int>& gpu_of_rank,
                                   const WorldGroups& groups,
                                   const std::vector<WorldClass>& classes, const LineOfCall& line) {
  ASSIGN_OR_RETURN(WorldCalls calls, WorldCalls::Make(groups, classes));
  RETURN_IF_ERROR(calls.Match(line));
  return WorkloadMaker(topology, gpu_of_rank, classes, calls).Make();
}

}  // namespace drydock::capture
