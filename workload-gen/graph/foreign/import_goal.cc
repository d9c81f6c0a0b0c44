// Imports GOAL schedules, the input of ATLAHS and LogGOPSim, in text or binary.
#include <fmt/format.h>

#include <charconv>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "core/base/files.h"
#include "workload-gen/graph/foreign/goal_binary.h"
#include "workload-gen/graph/foreign/import.h"
#include "workload-gen/graph/foreign/import_order.h"
#include "workload-gen/graph/foreign/text_lines.h"

namespace drydock {
namespace {

constexpr size_t kMaxProcessors = 200;  // of the streams that a workload may have
constexpr int64_t kFirstRenumberedTag = int64_t{1} << 30;

// `op` waits for the start of `before` if `at_start`, otherwise for its end.
struct Requirement {
  uint32_t op = 0, before = 0;
  bool at_start = false;
};

class GoalReader {
 public:
  GoalReader(const std::string& text, const std::string& path, int max_ranks)
      : lines_(text, path), max_ranks_(max_ranks) {}

  Result<ForeignJob> Read() {
    RETURN_IF_ERROR(ReadRankCount());
    while (lines_.Next()) {
      if (lines_.words().empty()) continue;
      RETURN_IF_ERROR(ReadRank());
    }
    if (read_ != job_.ranks.size()) {
      return lines_.ErrorAtEnd(
          fmt::format("{} ranks are described, but num_ranks is {}", read_, job_.ranks.size()));
    }
    return std::move(job_);
  }

  size_t starts() const { return starts_; }
  size_t renumbered_tags() const { return tag_of_.size(); }
  bool names_nics() const { return names_nics_; }

 private:
  Status ReadRankCount() {
    while (lines_.Next() && lines_.words().empty()) {
    }
    const auto& words = lines_.words();
    int64_t count = 0;
    if (words.size() != 2 || words[0].text != "num_ranks" || !Whole(words[1].text, &count) ||
        count < 1) {
      return lines_.ErrorHere("expected 'num_ranks N'", 0);
    }
    if (count > max_ranks_) {
      return lines_.ErrorHere(
          fmt::format("{} ranks, but the cluster has {} GPUs", count, max_ranks_), 1);
    }
    job_.ranks.resize(static_cast<size_t>(count));
    described_.resize(job_.ranks.size(), false);
    return OkStatus();
  }

  static bool Whole(std::string_view text, int64_t* value) {
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, *value);
    return error == std::errc() && stop == end;
  }

  Status ReadRank() {
    const auto& words = lines_.words();
    int64_t rank = 0;
    if (words.size() != 3 || words[0].text != "rank" || !Whole(words[1].text, &rank) ||
        words[2].text != "{") {
      return lines_.ErrorHere("expected 'rank N {'", 0);
    }
    if (rank < 0 || static_cast<size_t>(rank) >= job_.ranks.size()) {
      return lines_.ErrorHere(
          fmt::format("there is no rank {}; num_ranks is {}", rank, job_.ranks.size()), 1);
    }
    const auto at = static_cast<size_t>(rank);
    if (described_[at]) {
      return lines_.ErrorHere(fmt::format("rank {} is described twice", rank), 1);
    }
    described_[at] = true;
    ++read_;
    rank_ = static_cast<int>(rank);
    labels_.clear();
    requirements_.clear();
    while (lines_.Next()) {
      const auto& line = lines_.words();
      if (line.empty()) continue;
      if (line[0].text == "}") return FinishRank(&job_.ranks[at]);
      RETURN_IF_ERROR(line[0].text.ends_with(':') ? ReadOp(&job_.ranks[at]) : ReadRequirement());
    }
    return lines_.ErrorAtEnd(fmt::format("rank {} is not closed by '}}'", rank));
  }

  // "l1: calc 100 cpu 0", "l2: send 64b to 1 tag 7 cpu 0 nic 0".
  Status ReadOp(ForeignRank* rank) {
    const auto& words = lines_.words();
    const std::string_view label = words[0].text.substr(0, words[0].text.size() - 1);
    if (++ops_ > kMaxForeignOps) {
      return lines_.ErrorHere(fmt::format("there are more than {} ops", kMaxForeignOps), 0);
    }
    const auto index = static_cast<uint32_t>(rank->ops.size());
    if (!labels_.emplace(label, index).second) {
      return lines_.ErrorHere("this label is defined twice", 0);
    }
    ForeignOp op;
    op.id = index;
    if (words.size() < 3) return lines_.ErrorHere("expected 'calc', 'send' or 'recv'", 0);
    if (words[1].text == "calc") {
      RETURN_IF_ERROR(ReadCalc(&op));
    } else if (words[1].text == "send" || words[1].text == "recv") {
      op.kind = words[1].text == "send" ? OpKind::kSend : OpKind::kRecv;
      RETURN_IF_ERROR(ReadMessage(&op));
    } else {
      return lines_.ErrorHere("expected 'calc', 'send' or 'recv'", 1);
    }
    rank->ops.push_back(op);
    return OkStatus();
  }

  Status ReadCalc(ForeignOp* op) {
    int64_t ns = 0;
    if (!Whole(lines_.words()[2].text, &ns) || ns < 0 ||
        ns > submodule::kLongestFixedDuration.ps() / 1000) {
      return lines_.ErrorHere("expected nanoseconds, at most an hour", 2);
    }
    op->block = job_.tables.FixedDuration("calc", Time::Ns(ns));
    return ReadOptions(3, op);
  }

  Status ReadMessage(ForeignOp* op) {
    const auto& words = lines_.words();
    const bool sends = op->kind == OpKind::kSend;
    std::string_view size = words[2].text;
    if (!size.ends_with('b')) return lines_.ErrorHere("expected bytes, as in '64b'", 2);
    size.remove_suffix(1);
    if (!Whole(size, &op->bytes) || op->bytes < 0 || op->bytes > int64_t{1} << 50) {
      return lines_.ErrorHere("expected bytes from 0b to 2^50", 2);
    }
    int64_t peer = 0;
    if (words.size() < 5 || words[3].text != (sends ? "to" : "from") ||
        !Whole(words[4].text, &peer)) {
      return lines_.ErrorHere(sends ? "expected 'to RANK'" : "expected 'from RANK'",
                              std::min<size_t>(3, words.size() - 1));
    }
    if (peer < 0 || static_cast<size_t>(peer) >= job_.ranks.size()) {
      return lines_.ErrorHere(
          fmt::format("there is no rank {}; num_ranks is {}", peer, job_.ranks.size()), 4);
    }
    if (peer == rank_) return lines_.ErrorHere("this is the rank itself", 4);
    op->peer = static_cast<int32_t>(peer);
    RETURN_IF_ERROR(ReadOptions(5, op));
    if (op->bytes > 0) return OkStatus();
    ++empty_;
    op->kind = OpKind::kCompute;
    op->lane = 1;
    op->block = job_.tables.FixedDuration("empty message", Time());
    return OkStatus();
  }

  // tag, cpu, nic, each once at most.
  Status ReadOptions(size_t from, ForeignOp* op) {
    const auto& words = lines_.words();
    std::map<std::string_view, bool> seen;
    for (size_t i = from; i < words.size(); i += 2) {
      const std::string_view name = words[i].text;
      if (name != "tag" && name != "cpu" && name != "nic") {
        return lines_.ErrorHere("expected 'tag', 'cpu' or 'nic'", i);
      }
      int64_t value = 0;
      if (i + 1 == words.size() || !Whole(words[i + 1].text, &value) || value < 0) {
        return lines_.ErrorHere("expected a number after this word", i);
      }
      if (!seen.emplace(name, true).second) return lines_.ErrorHere("this word occurs twice", i);
      if (name == "tag") op->tag = TagOf(value);
      if (name == "nic" && value > 0) names_nics_ = true;
      if (name == "cpu" && op->kind == OpKind::kCompute) {
        RETURN_IF_ERROR(ReadProcessor(value, i + 1, &op->lane));
      }
    }
    return OkStatus();
  }

  // ATLAHS concatenates channel, sequence number, kind and communicator into a tag, which can
  // exceed 32 bits. Large tags are renumbered, with the same numbers on all ranks.
  int32_t TagOf(int64_t tag) {
    if (tag < kFirstRenumberedTag) return static_cast<int32_t>(tag);
    const auto next =
        static_cast<int32_t>(kFirstRenumberedTag + static_cast<int64_t>(tag_of_.size()));
    return tag_of_.emplace(tag, next).first->second;
  }

  // Processor 0 is the GPU. Others are numbered by first use, because ATLAHS counts one per channel
  // of each communicator.
  Status ReadProcessor(int64_t cpu, size_t word, int32_t* lane) {
    if (cpu == 0) return OkStatus();
    const auto next = static_cast<int32_t>(lane_of_.size()) + 2;
    const auto [entry, added] = lane_of_.emplace(cpu, next);
    if (added && lane_of_.size() > kMaxProcessors) {
      return lines_.ErrorHere(
          fmt::format("there are more than {} cpus that compute", kMaxProcessors), word);
    }
    *lane = entry->second;
    return OkStatus();
  }

  // "l2 requires l1", "l2 irequires l1".
  Status ReadRequirement() {
    const auto& words = lines_.words();
    if (words.size() != 3 || (words[1].text != "requires" && words[1].text != "irequires")) {
      return lines_.ErrorHere("expected 'LABEL: ...', 'LABEL requires LABEL' or '}'", 0);
    }
    Requirement requirement;
    requirement.at_start = words[1].text == "irequires";
    for (const auto& [word, op] :
         {std::pair(size_t{0}, &requirement.op), std::pair(size_t{2}, &requirement.before)}) {
      const auto found = labels_.find(std::string(words[word].text));
      if (found == labels_.end()) return lines_.ErrorHere("no op above has this label", word);
      *op = found->second;
    }
    if (++dependencies_ > 8 * kMaxForeignOps) {
      return lines_.ErrorHere("there are too many dependencies", 0);
    }
    requirements_.push_back(requirement);
    return OkStatus();
  }

  // Ops that start together wait for a preceding op of zero duration.
  Status FinishRank(ForeignRank* rank) {
    std::map<uint32_t, uint32_t> start_of;
    std::vector<std::vector<uint32_t>> before(rank->ops.size());
    for (const Requirement& requirement : requirements_) {
      if (!requirement.at_start) {
        before[requirement.op].push_back(requirement.before);
        continue;
      }
      const auto next = static_cast<uint32_t>(rank->ops.size());
      const auto [entry, added] = start_of.emplace(requirement.before, next);
      if (added) {
        ForeignOp start;
        start.id = rank->ops[requirement.before].id;
        start.lane = 1;
        start.block = job_.tables.FixedDuration("start", Time());
        rank->ops.push_back(start);
        before.emplace_back();
        ++starts_;
      }
      before[requirement.op].push_back(entry->second);
    }
    for (const auto& [op, start] : start_of) {
      before[start] = std::move(before[op]);
      before[op] = {start};
    }
    for (const std::vector<uint32_t>& of_op : before) {
      rank->dependency.insert(rank->dependency.end(), of_op.begin(), of_op.end());
      rank->dependency_begin.push_back(static_cast<uint32_t>(rank->dependency.size()));
    }
    if (FindCycle(*rank).empty()) return OkStatus();
    return lines_.ErrorHere(fmt::format("ops of rank {} wait for each other in a cycle", rank_), 0);
  }

  TextLines lines_;
  const int max_ranks_;
  ForeignJob job_;
  std::vector<bool> described_;
  size_t read_ = 0, ops_ = 0, dependencies_ = 0, starts_ = 0, empty_ = 0;
  int rank_ = 0;
  std::map<int64_t, int32_t> tag_of_, lane_of_;
  bool names_nics_ = false;
  std::unordered_map<std::string, uint32_t> labels_;
  std::vector<Requirement> requirements_;
};

}  // namespace

Result<Imported> ImportGoal(const ImportInput& input, const Topology& topology,
                            const ForeignOptions& options) {
  ASSIGN_OR_RETURN(std::string text, ReadFile(input.place));
  const bool is_binary = IsGoalBinary(text);
  if (is_binary) {
    ASSIGN_OR_RETURN(text, GoalText(text, input.place));
  }
  GoalReader reader(text, input.place, topology.gpu_count());
  Result<ForeignJob> read = reader.Read();
  // A binary schedule has no lines.
  if (!read.ok() && is_binary) return Error(read.error().message(), {input.place, 0, 0});
  RETURN_IF_ERROR(read);
  ForeignJob job = std::move(*read);
  job.name = BaseName(input.place);
  job.format = "GOAL";
  ASSIGN_OR_RETURN(Imported imported, AssembleWorkload(std::move(job), topology, options));
  if (reader.starts() > 0) {
    imported.warnings.push_back(
        fmt::format("{} ops have others that start with them (irequires): the others wait for "
                    "the same dependencies",
                    reader.starts()));
  }
  if (reader.renumbered_tags() > 0) {
    imported.warnings.push_back(
        fmt::format("{} tags are too large for a workload and are renumbered from {}",
                    reader.renumbered_tags(), kFirstRenumberedTag));
  }
  if (reader.names_nics()) {
    imported.warnings.push_back(
        "the NICs of messages are ignored: each message uses the NIC of its rank's GPU");
  }
  imported.warnings.push_back(
      "messages are NCCL sends and receives: a schedule that spells out collectives loses NCCL's "
      "channels and slices");
  return imported;
}

}  // namespace drydock
