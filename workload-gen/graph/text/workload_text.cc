#include "workload-gen/graph/text/workload_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <type_traits>

namespace drydock {
namespace {

using Out = std::back_insert_iterator<std::string>;

constexpr int kMembersShown = 16;

void AppendLaunch(const HostLaunch& launch, std::string* text) {
  if (!launch.modeled()) return;
  const std::string expert =
      launch.expert > Time() ? fmt::format(", expert {}", ToString(launch.expert)) : "";
  fmt::format_to(Out(*text),
                 "launches '{}': kernel {}, backward {}, collective {}, message {}, graph {}, loop "
                 "{}{}, wait {}, "
                 "latency {}, queue {}\n",
                 launch.name, ToString(launch.kernel), ToString(launch.backward_kernel),
                 ToString(launch.collective), ToString(launch.message), ToString(launch.graph),
                 ToString(launch.loop), expert, ToString(launch.wait), ToString(launch.latency),
                 launch.queue);
}

void AppendGroups(const Workload& w, std::string* text) {
  for (size_t g = 0; g < w.groups.size(); ++g) {
    fmt::format_to(Out(*text), "group {}:", g);
    int shown = 0;
    for (const int rank : w.groups[g].ranks) {
      if (shown++ == kMembersShown) {
        fmt::format_to(Out(*text), " ... ({} ranks)", w.groups[g].ranks.size());
        break;
      }
      fmt::format_to(Out(*text), " {}", rank);
    }
    *text += '\n';
  }
}

// " causal accumulate-fp32": the flags that are set.
std::string Flags(const Submodule& s) {
  std::string text;
  ForEachField(s.work, [&](submodule::Field, std::string_view name, const auto& value) {
    if constexpr (std::is_same_v<decltype(value), const bool&>) {
      if (!value) return;
      text += fmt::format(" {}", name);
      std::replace(text.begin(), text.end(), '_', '-');
    }
  });
  return text;
}

// "8192 x 2304 x 6144 experts 8": rows, n and k, then the other extents that are above 0.
struct Dimensions {
  std::string operator()(const submodule::Attention& s) const {
    std::string text = fmt::format("batch {} sequence {} heads {}/{} head_dim {}", s.batch,
                                   s.sequence, s.heads, s.kv_heads, s.head_dim);
    if (s.kv_sequence > 0) text += fmt::format(" kv_sequence {}", s.kv_sequence);
    if (s.value_dim > 0) text += fmt::format(" value_dim {}", s.value_dim);
    return text;
  }
  std::string operator()(const submodule::FixedDuration& s) const { return ToString(s.duration); }
  std::string operator()(const submodule::FlopsAndBytes&) const { return "as counted"; }
  template <typename Kind>
  std::string operator()(const Kind& s) const {
    if constexpr (std::is_base_of_v<submodule::FlatBuffer, Kind>) {
      const std::string tensors = s.tensors > 0 ? fmt::format(" in {} tensors", s.tensors) : "";
      return fmt::format("{} elements{}", s.elements, tensors);
    } else {
      std::string grid, others;
      Kind::Fields(s, [&](submodule::Field, std::string_view name, const auto& value) {
        if constexpr (std::is_same_v<decltype(value), const int64_t&>) {
          if (name == "rows" || name == "n" || name == "k")
            grid += fmt::format("{}{}", grid.empty() ? "" : " x ", value);
          else if (value > 0)
            others += fmt::format(" {} {}", name, value);
        }
      });
      return grid + others;
    }
  }
};

void AppendSubmodules(const Workload& w, std::string* text) {
  for (size_t i = 0; i < w.submodules.size(); ++i) {
    const Submodule& s = w.submodules[i];
    fmt::format_to(Out(*text), "submodule {}: {} {} {} {} {}{}, {:.4g} FLOP, {}", i, s.name,
                   s.kind_name(), PassNames()[static_cast<size_t>(s.pass)], ToString(s.type),
                   std::visit(Dimensions(), s.work), Flags(s), s.flops, ToString(s.bytes));
    if (s.host > Time()) fmt::format_to(Out(*text), ", host {}", ToString(s.host));
    *text += '\n';
  }
}

void AppendBlocks(const Workload& w, std::string* text) {
  for (size_t i = 0; i < w.blocks.size(); ++i) {
    fmt::format_to(Out(*text), "block {}: {} =", i, w.blocks[i].name);
    for (const uint32_t s : w.blocks[i].submodules) fmt::format_to(Out(*text), " {}", s);
    *text += '\n';
  }
}

// Prints the memory that loads and stores use, if there are any.
void AppendMemory(const Workload& w, std::string* text) {
  for (size_t i = 0; i < w.transfers.size(); ++i) {
    fmt::format_to(Out(*text), "transfer {}: {} {} in {}\n", i, w.transfers[i].name,
                   ToString(w.transfers[i].bytes),
                   MemoryTierNames()[static_cast<size_t>(w.transfers[i].tier)]);
  }
  for (size_t i = 0; i < w.host_memory.size(); ++i) {
    const HostMemory& m = w.host_memory[i];
    fmt::format_to(
        Out(*text),
        "memory of {}: {} a socket, of which work reaches {:.3g}; copies reach {:.3g} of "
        "their link, after {}",
        w.topology.host_kinds[i].name, ToString(m.bandwidth), m.optimizer_efficiency,
        m.copy_efficiency, ToString(m.latency));
    if (m.remote.sharing != RemoteSharing::kNone) {
      fmt::format_to(Out(*text), "; remote {} {}, {}", ToString(m.remote.bandwidth),
                     RemoteSharingNames()[static_cast<size_t>(m.remote.sharing)],
                     ToString(m.remote.latency));
    }
    *text += '\n';
  }
}

std::string What(const Workload& w, const Op& op) {
  if (op.kind == OpKind::kCompute) return w.blocks[op.work].name;
  if (UsesMemory(op.kind)) return TransferText(w.transfers[op.work], op.kind);
  const char* kind = op.kind == OpKind::kSend ? "send " : op.kind == OpKind::kRecv ? "recv " : "";
  std::string text =
      fmt::format("{}{} {}", kind, CallText(w.calls[op.work]), w.roles[op.role].name);
  if (op.kind != OpKind::kCollective) text += fmt::format(" tag {}", op.tag);
  return text;
}

}  // namespace

std::string TransferText(const MemoryTransfer& transfer, OpKind kind) {
  if (transfer.time > Time()) {
    return fmt::format("{} {} for {}", OpKindName(kind), transfer.name, ToString(transfer.time));
  }
  const char* preposition = kind == OpKind::kLoad    ? " from "
                            : kind == OpKind::kStore ? " to "
                                                     : " in ";
  return fmt::format("{} {} {}{}{}", OpKindName(kind), transfer.name, ToString(transfer.bytes),
                     preposition, MemoryTierNames()[static_cast<size_t>(transfer.tier)]);
}

std::string CallText(const CommCall& call) {
  if (call.collective == CollectiveType::kGrouped) {
    std::string text = fmt::format("grouped, {}", ToString(call.bytes()));
    for (const CommCall& part : call.parts) text += "; " + CallText(part);
    return text;
  }
  constexpr std::string_view kOps[] = {"sum", "max", "average", "min", "product", "scaled sum"};
  std::string text =
      fmt::format("{} {} x {} = {}", CollectiveTypeNames()[static_cast<size_t>(call.collective)],
                  call.count, ToString(call.type), ToString(call.bytes()));
  if (call.collective == CollectiveType::kSendRecv) {
    return text + fmt::format(" from {} to {}", call.root, call.peer);
  }
  if (call.op != ReduceOp::kSum) text += fmt::format(" {}", kOps[static_cast<size_t>(call.op)]);
  return text + fmt::format(" over {}", call.group_size);
}

std::string TablesText(const Workload& w) {
  std::string text;
  fmt::format_to(Out(text),
                 "model {}: {} parameters, {} ranks in {} classes: {}\n"
                 "iteration: {} tokens, {:.6g} model FLOP, {:.6g} hardware FLOP\n",
                 w.totals.model_name, w.totals.parameters, w.rank_count(), w.class_count,
                 w.totals.layout, w.totals.tokens, w.totals.model_flops, w.totals.hardware_flops);
  for (size_t r = 0; r < w.roles.size(); ++r) {
    int ranks = 0;
    for (const int group : w.group_of_rank[r]) ranks += group >= 0 ? 1 : 0;
    fmt::format_to(Out(text), "role {}: {} ({}), {} ranks\n", r, w.roles[r].name,
                   DimensionNames()[static_cast<size_t>(w.roles[r].dimension)], ranks);
  }
  AppendLaunch(w.launch, &text);
  AppendGroups(w, &text);
  AppendSubmodules(w, &text);
  AppendBlocks(w, &text);
  for (size_t i = 0; i < w.calls.size(); ++i) {
    fmt::format_to(Out(text), "call {}: {}\n", i, CallText(w.calls[i]));
  }
  AppendMemory(w, &text);
  return text;
}

std::string ProgramText(const Workload& w, int class_index) {
  const Program& program = w.programs[static_cast<size_t>(class_index)];
  std::string text = fmt::format("class {}: {} ops\n", class_index, program.ops.size());
  for (size_t i = 0; i < program.ops.size(); ++i) {
    const Op& op = program.ops[i];
    fmt::format_to(Out(text), "{} {} {}", i, w.streams[op.stream],
                   PhaseNames()[static_cast<size_t>(op.phase)]);
    if (op.microbatch >= 0) fmt::format_to(Out(text), " mb{}.{}", op.microbatch, op.chunk);
    if (op.layer >= 0) fmt::format_to(Out(text), " layer{}", op.layer);
    fmt::format_to(Out(text), ": {}", What(w, op));
    for (const char* lead = " after "; const uint32_t d : program.dependencies(i)) {
      fmt::format_to(Out(text), "{}{}", lead, d);
      lead = ", ";
    }
    if (op.host_waits == HostWait::kOpReady) text += ", host reads";
    if (op.host_waits == HostWait::kDeviceSync) text += ", host synchronizes";
    if (op.graph != GraphPart::kNone) {
      text += op.graph == GraphPart::kFirst  ? ", launches a graph"
              : op.graph == GraphPart::kRest ? ", in the graph"
                                             : ", launched by a loop";
    }
    text += '\n';
  }
  return text;
}

}  // namespace drydock
