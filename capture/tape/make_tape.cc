#include "capture/tape/make_tape.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "capture/tape/gpu_work.h"
#include "capture/tape/groups.h"
#include "capture/tape/host_time.h"
#include "capture/tape/iteration.h"
#include "capture/tape/place.h"
#include "capture/tape/reads.h"

namespace drydock::capture {
namespace {

// Reductions of fewer elements carry statistics, not gradients.
constexpr int64_t kFewElements = 64;

// What a stream gets: entries of the tape with their places. `count` of a kWork entry is a number
// of the GpuWorkReader's.
struct Sink {
  std::vector<RecordEntry> entries;
  std::vector<TapePlace> places;
  std::vector<int64_t> host_ns;  // of the thread, since its last entry

  void Add(const RecordEntry& entry, const TapePlace& place, int64_t ns) {
    entries.push_back(entry);
    places.push_back(place);
    host_ns.push_back(ns);
  }
};

// What a graph does each time it is launched.
struct Graph {
  int64_t stream = 0;  // that began the capture
  Sink nodes;
};

bool IsOp(const RecordEntry& entry) {
  return entry.kind == RecordKind::kWork || entry.kind == RecordKind::kCall;
}

class TapeMaker {
 public:
  TapeMaker(const ProcessLog& log, LogRanges* ranges, const LogIteration& iteration)
      : log_(log), ranges_(*ranges), iteration_(iteration), work_(log, ranges) {}

  Result<RankTape> Make(const TapeOptions& options) {
    tape_.rank = log_.rank();
    tape_.world = options.world;
    ASSIGN_OR_RETURN(groups_, ReadGroups(log_));
    RETURN_IF_ERROR(CheckRanks(options.world));
    tape_.groups = groups_.groups;
    tape_.communicators = groups_.communicators;
    host_ns_ = HostTimes(log_, iteration_.begin, iteration_.end);
    if (options.timed != nullptr) {
      auto alone = HostTimesIn(*options.timed, log_, iteration_.begin, iteration_.end);
      tape_.host.is_alone = alone.has_value();
      if (alone) host_ns_ = std::move(*alone);
    }
    const std::vector<LogEntry>& entries = log_.entries();
    for (size_t i = 0; i < entries.size(); ++i) {
      at_ = i;
      if (i == iteration_.begin) BeginIteration(entries[i]);
      if (i == iteration_.end) EndIteration();
      if (is_in_ && IsAsked(entries[i].kind)) own_ns_ += host_ns_[asked_++];
      RETURN_IF_ERROR(Take(entries[i]));
    }
    if (is_in_) EndIteration();
    work_.Finish();
    Assemble();
    return std::move(tape_);
  }

 private:
  Status CheckRanks(int world) const {
    for (const TapeGroup& group : groups_.groups) {
      const auto most = std::max_element(group.ranks.begin(), group.ranks.end());
      if (most == group.ranks.end() || *most < world) continue;
      return Error(fmt::format(
          "rank {} makes a process group '{}' with rank {}, but the launcher starts {} ranks; give "
          "init_process_group the world_size of the launcher, or start as many ranks",
          log_.rank(), group.name, *most, world));
    }
    return OkStatus();
  }

  void BeginIteration(const LogEntry& entry) {
    is_in_ = true;
    places_.Restart();
    tape_.start.wall = Time::Ns(entry.wall_ns - log_.entries().front().wall_ns);
  }

  void EndIteration() {
    is_in_ = false;
    left_ns_ = std::exchange(own_ns_, 0);
  }

  bool IsIn() const { return is_in_ || capturing_ != nullptr; }

  Status Take(const LogEntry& entry) {
    const auto& words = entry.words;
    switch (entry.kind) {
      case EntryKind::kBeginOp: {
        const OperatorRange& range = ranges_.RangeOf(entry);
        places_.Begin(entry.thread, range);
        work_.Begin(entry.thread, range);
        break;
      }
      case EntryKind::kEndOp:
        places_.End(entry.thread);
        work_.End(entry.thread, words[0]);
        break;
      case EntryKind::kMark:
        ReadMark(log_.name(words[0]));
        break;
      case EntryKind::kLaunch:
        AddWork(entry, words[11]);
        if (BeforeIteration()) ++tape_.start.launches;
        break;
      case EntryKind::kProduct:
        AddWork(entry, words[14]);
        if (BeforeIteration()) ++tape_.start.products;
        break;
      case EntryKind::kFill:
        AddWork(entry, words[1]);
        break;
      case EntryKind::kAttention:
      case EntryKind::kConvolution:
      case EntryKind::kTraffic:
        AddWork(entry, words.back());
        break;
      case EntryKind::kCopy:
        AddCopy(entry);
        break;
      case EntryKind::kCall:
        RETURN_IF_ERROR(AddCall(entry));
        break;
      case EntryKind::kStream:
        blocks_[words[0]] = words[3] != 0;
        break;
      case EntryKind::kRecordEvent:
        AddOrder(entry, RecordKind::kEventRecord, words[1], words[0]);
        break;
      case EntryKind::kWaitEvent:
        AddOrder(entry, RecordKind::kStreamWait, words[0], words[1]);
        break;
      case EntryKind::kSyncEvent:
        AddOrder(entry, RecordKind::kEventSync, 0, words[0]);
        break;
      case EntryKind::kSyncStream:
        AddOrder(entry, RecordKind::kStreamSync, words[0], 0);
        break;
      case EntryKind::kSyncDevice:
        AddOrder(entry, RecordKind::kDeviceSync, 0, 0);
        break;
      case EntryKind::kBeginCapture:
        captures_[words[0]].stream = words[0];
        capturing_ = &captures_[words[0]];
        break;
      case EntryKind::kEndCapture:
        graphs_[words[1]] = std::move(captures_[words[0]]);
        captures_.erase(words[0]);
        capturing_ = captures_.empty() ? nullptr : &captures_.begin()->second;
        break;
      case EntryKind::kInstantiate:
        executables_[words[1]] = words[0];
        break;
      case EntryKind::kLaunchGraph:
        return LaunchGraph(entry);
      default:
        break;
    }
    return OkStatus();
  }

  bool BeforeIteration() const { return at_ < iteration_.begin; }

  void ReadMark(std::string_view text) {
    constexpr std::string_view kProcessor = "processor ";
    if (text.starts_with(kProcessor)) tape_.host.processor = text.substr(kProcessor.size());
    long long allocated = 0, reserved = 0;
    if (sscanf(std::string(text).c_str(), "memory %lld %lld", &allocated, &reserved) == 2) {
      tape_.memory = {Bytes(allocated), Bytes(reserved)};
    }
  }

  RecordEntry EntryOn(RecordKind kind, int64_t stream) const {
    RecordEntry entry;
    entry.kind = kind;
    entry.stream = static_cast<uint64_t>(stream);
    const auto it = blocks_.find(stream);
    entry.stream_blocks = it == blocks_.end() || it->second ? 1 : 0;  // default streams do
    return entry;
  }

  Phase PhaseOf(const PlaceTracker::Here& here) const {
    if (here.in_recompute) return Phase::kRecompute;
    if (here.in_step) return Phase::kOptimizer;
    if (here.in_backward) return Phase::kBackward;
    if (capturing_ == nullptr && at_ < iteration_.forward) return Phase::kOther;
    if (at_ >= iteration_.backward_end && iteration_.backward_end < iteration_.end) {
      return Phase::kOptimizer;
    }
    return Phase::kForward;
  }

  TapePlace PlaceOf(const LogEntry& entry) {
    const PlaceTracker::Here here = places_.HereOf(entry.thread);
    TapePlace place;
    place.phase = PhaseOf(here);
    if (place.phase == Phase::kForward || place.phase == Phase::kBackward ||
        place.phase == Phase::kRecompute) {
      if (here.module != nullptr) place.layer = here.module->layer;
      place.microbatch = here.microbatch;
    }
    return place;
  }

  // Adds an op: it bears the waits of the host before it.
  void AddOp(const LogEntry& log, const RecordEntry& entry, TapePlace place) {
    Sink& sink = capturing_ != nullptr ? capturing_->nodes : sink_;
    issuers_.insert(log.thread);
    if (capturing_ == nullptr) place.host_waits = std::exchange(host_waits_, HostWait::kNothing);
    // Transfers have no time of the host: what precedes them belongs to the next op.
    sink.Add(entry, place, place.transfer < 0 ? std::exchange(own_ns_, 0) : 0);
  }

  void AddWork(const LogEntry& log, int64_t stream) {
    if (!IsIn()) return;
    RecordEntry entry = EntryOn(RecordKind::kWork, stream);
    entry.count = work_.Add(log, places_.HereOf(log.thread));
    AddOp(log, entry, PlaceOf(log));
  }

  void AddCopy(const LogEntry& log) {
    if (!IsIn()) return;
    const auto from = static_cast<Side>(log.words[0]), to = static_cast<Side>(log.words[1]);
    const int64_t stream = log.words[3];
    if (from == Side::kDevice && to == Side::kDevice) {
      AddWork(log, stream);
    } else if (from == Side::kDevice || to == Side::kDevice) {
      const bool stores = from == Side::kDevice;
      TapePlace place = PlaceOf(log);
      place.stores = stores;
      place.transfer = Transfer(stores ? "copy to host" : "copy from host", Bytes(log.words[2]));
      AddOp(log, EntryOn(RecordKind::kWork, stream), place);
    }
    if (log.words[4] != 0) AddOrder(log, RecordKind::kStreamSync, stream, 0);
  }

  int32_t Transfer(const char* name, Bytes bytes) {
    MemoryTransfer transfer;
    transfer.name = name;
    transfer.bytes = bytes;
    auto& known = tape_.transfers;
    auto it = std::find(known.begin(), known.end(), transfer);
    if (it == known.end()) it = known.insert(known.end(), transfer);
    return static_cast<int32_t>(it - known.begin());
  }

  Status AddCall(const LogEntry& log) {
    const auto& words = log.words;
    if (BeforeIteration()) ++tape_.start.calls;
    if (!IsIn()) return OkStatus();
    RecordEntry entry = EntryOn(RecordKind::kCall, words[9]);
    entry.function = static_cast<RecordFunction>(words[0]);
    entry.type = static_cast<uint8_t>(words[1]);
    entry.op = static_cast<uint8_t>(words[2]);
    entry.buffers = static_cast<RecordBuffers>(words[3]);
    entry.rank = static_cast<int32_t>(words[4]);
    entry.peer = static_cast<int32_t>(words[5]);
    const auto joined = groups_.by_number.find(words[6]);
    if (joined == groups_.by_number.end()) {
      return Error(
          fmt::format("the log of rank {} is damaged: it has a call on a communicator "
                      "that the rank never joined",
                      log_.rank()));
    }
    entry.communicator = static_cast<uint64_t>(joined->second);
    entry.count = static_cast<uint64_t>(words[7]);
    entry.group = static_cast<uint64_t>(words[8]);
    TapePlace place = PlaceOf(log);
    if (SyncsGradients(entry, log.thread)) {
      place = {};
      place.phase = Phase::kGradientSync;
    }
    AddOp(log, entry, place);
    return OkStatus();
  }

  // Gradients are reduced by the node of autograd that hands them to their parameters, or outside
  // the nodes and modules once the backward pass has begun.
  bool SyncsGradients(const RecordEntry& call, uint32_t thread) const {
    if (call.function != RecordFunction::kAllReduce &&
        call.function != RecordFunction::kReduceScatter &&
        call.function != RecordFunction::kReduce) {
      return false;
    }
    const PlaceTracker::Here here = places_.HereOf(thread);
    if (here.syncs) return true;
    const bool is_small = call.count <= static_cast<uint64_t>(kFewElements);
    return !here.in_backward && !here.in_recompute && !here.in_step && here.module == nullptr &&
           places_.has_seen_backward() && !is_small;
  }

  void AddOrder(const LogEntry& log, RecordKind kind, int64_t stream, int64_t event) {
    if (!IsIn()) return;
    RecordEntry entry = EntryOn(kind, stream);
    entry.event = static_cast<uint64_t>(event);
    const bool is_wait = kind == RecordKind::kEventSync || kind == RecordKind::kStreamSync ||
                         kind == RecordKind::kDeviceSync;
    if (is_wait) {
      if (capturing_ != nullptr) return;
      // The watchdog of a framework waits, too, but nothing is issued behind its waits.
      if (issuers_.count(log.thread) == 0) return;
      const HostWait own =
          kind == RecordKind::kDeviceSync ? HostWait::kDeviceSync : HostWait::kOpReady;
      host_waits_ = std::max(host_waits_, own);
    }
    (capturing_ != nullptr ? capturing_->nodes : sink_).Add(entry, {}, 0);
  }

  Status LaunchGraph(const LogEntry& log) {
    if (!is_in_) return OkStatus();
    const auto executable = executables_.find(log.words[0]);
    const auto graph =
        executable == executables_.end() ? graphs_.end() : graphs_.find(executable->second);
    if (graph == graphs_.end()) {
      return Error(fmt::format(
          "rank {} launches a CUDA graph that it did not capture from a stream", log_.rank()));
    }
    ++launches_;
    const TapePlace here = PlaceOf(log);
    GraphPart part = GraphPart::kFirst;
    const Sink& nodes = graph->second.nodes;
    for (size_t i = 0; i < nodes.entries.size(); ++i) {
      RecordEntry entry = nodes.entries[i];
      if (entry.stream == static_cast<uint64_t>(graph->second.stream)) {
        const RecordEntry own = EntryOn(entry.kind, log.words[1]);
        entry.stream = own.stream;
        entry.stream_blocks = own.stream_blocks;
      }
      // Calls of different launches are different launches of NCCL.
      if (entry.kind == RecordKind::kCall) entry.group += launches_ << 40;
      TapePlace place = nodes.places[i];
      place.microbatch = here.microbatch;
      if (!IsOp(entry)) {
        sink_.Add(entry, place, 0);
        continue;
      }
      place.graph = std::exchange(part, GraphPart::kRest);
      if (place.graph == GraphPart::kFirst) {
        AddOp(log, entry, place);
      } else {
        sink_.Add(entry, place, 0);
      }
    }
    return OkStatus();
  }

  // Makes blocks of the work, once all operators are known.
  void Assemble() {
    struct Known {
      uint32_t block = 0;
      int64_t host_ns = 0, uses = 0;
    };
    std::unordered_map<std::string, Known> known;
    std::vector<Known*> of_block;
    Known* last = nullptr;
    for (size_t i = 0; i < sink_.entries.size(); ++i) {
      RecordEntry entry = sink_.entries[i];
      const TapePlace& place = sink_.places[i];
      if (entry.kind == RecordKind::kWork && place.transfer < 0) {
        const GpuWork& work = work_.work(entry.count);
        if (work.is_dropped) {
          // The work that stands for this one.
          if (last != nullptr) last->host_ns += sink_.host_ns[i];
          tape_.host.blocks += Time::Ns(sink_.host_ns[i]);
          continue;
        }
        AddEstimate(work);
        std::string key = work.name;
        for (const Submodule& submodule : work.submodules) key += '\n' + FactsOf(submodule);
        const auto [it, is_new] = known.try_emplace(std::move(key));
        if (is_new) {
          it->second.block = static_cast<uint32_t>(tape_.blocks.size());
          AddBlock(work);
          of_block.push_back(&it->second);
        }
        entry.count = it->second.block;
        last = &it->second;
        if (place.graph != GraphPart::kRest) {
          it->second.host_ns += sink_.host_ns[i];
          ++it->second.uses;
        }
        tape_.host.blocks += Time::Ns(sink_.host_ns[i]);
      } else if (entry.kind == RecordKind::kCall && sink_.host_ns[i] > 0) {
        tape_.host.calls += Time::Ns(sink_.host_ns[i]);
        if (last_group_ != entry.group) ++tape_.host.groups;
        last_group_ = entry.group;
      }
      tape_.entries.push_back(entry);
      tape_.places.push_back(place);
    }
    if (last != nullptr) {
      last->host_ns += left_ns_;
      tape_.host.blocks += Time::Ns(left_ns_);
    }
    // Equal work takes the host the same time: the mean of its uses.
    for (size_t block = 0; block < of_block.size(); ++block) {
      const Known& uses = *of_block[block];
      if (uses.uses == 0) continue;
      tape_.submodules[tape_.blocks[block].submodules.front()].host =
          Time::Ns(uses.host_ns / uses.uses);
    }
    tape_.attention_backend = work_.AttentionBackend();
  }

  void AddEstimate(const GpuWork& work) {
    if (work.estimated_as.empty()) return;
    TapeEstimate& estimate = tape_.estimates[work.estimated_as];
    ++estimate.launches;
    estimate.bytes += work.estimated_bytes;
    estimate.unknown += work.is_unknown ? 1 : 0;
  }

  void AddBlock(const GpuWork& work) {
    ComputeBlock block;
    block.name = work.name;
    for (Submodule submodule : work.submodules) {
      submodule.name = work.name;
      block.submodules.push_back(static_cast<uint32_t>(tape_.submodules.size()));
      tape_.submodules.push_back(std::move(submodule));
    }
    tape_.blocks.push_back(std::move(block));
  }

  const ProcessLog& log_;
  LogRanges& ranges_;
  const LogIteration iteration_;
  GpuWorkReader work_;
  PlaceTracker places_;
  LogGroups groups_;
  RankTape tape_;
  Sink sink_;
  size_t at_ = 0;
  bool is_in_ = false;
  std::unordered_map<int64_t, bool> blocks_;  // by stream: it waits for the default stream
  std::set<uint32_t> issuers_;                // threads that have issued ops
  std::vector<int64_t> host_ns_;              // of what the iteration asks
  size_t asked_ = 0;
  int64_t own_ns_ = 0;   // of the entry at hand, and of those before it that are no ops
  int64_t left_ns_ = 0;  // of such entries behind the last op
  HostWait host_waits_ = HostWait::kNothing;
  std::map<int64_t, Graph> captures_;  // by the stream that began
  Graph* capturing_ = nullptr;
  std::unordered_map<int64_t, Graph> graphs_;
  std::unordered_map<int64_t, int64_t> executables_;
  uint64_t launches_ = 0;  // of graphs
  uint64_t last_group_ = ~uint64_t{0};
};

}  // namespace

Result<RankTape> MakeTape(const ProcessLog& log, const TapeOptions& options) {
  LogRanges ranges(log);
  const std::vector<LogIteration> iterations = FindIterations(log, &ranges);
  const auto made = static_cast<int>(iterations.size());
  if (made == 0) {
    return Error(
        fmt::format("rank {} never reaches a step: its program ends without a step of an "
                    "optimizer, and nothing that it does is repeated",
                    log.rank()));
  }
  if (made < options.iteration) {
    return Error(fmt::format(
        "rank {} makes {} iteration{}, and the tape is of iteration {}; run the program for more "
        "steps, or choose an earlier iteration",
        log.rank(), made, made == 1 ? "" : "s", options.iteration));
  }
  TapeMaker maker(log, &ranges, iterations[static_cast<size_t>(options.iteration) - 1]);
  ASSIGN_OR_RETURN(RankTape tape, maker.Make(options));
  if (tape.entries.empty()) {
    return Error(
        fmt::format("rank {} asks nothing of a GPU in iteration {}: the program trains on the CPU",
                    log.rank(), options.iteration));
  }
  tape.reads = FindReads(log, &ranges);
  tape.start.iterations = made;
  tape.start.iteration = options.iteration;
  return tape;
}

void SetPlaces(const RankTape& tape, std::span<const size_t> entry_of_op, Program* program) {
  for (size_t i = 0; i < program->ops.size(); ++i) {
    Op& op = program->ops[i];
    const TapePlace& place = tape.places[entry_of_op[i]];
    op.phase = place.phase;
    op.layer = place.layer;
    op.microbatch = place.microbatch;
    op.host_waits = place.host_waits;
    op.graph = place.graph;
    if (place.transfer < 0 || op.kind != OpKind::kCompute) continue;
    op.kind = place.stores ? OpKind::kStore : OpKind::kLoad;
    op.work = static_cast<uint32_t>(place.transfer);
  }
}

}  // namespace drydock::capture
