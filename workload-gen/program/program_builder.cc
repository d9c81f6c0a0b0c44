#include "workload-gen/program/program_builder.h"

#include <algorithm>
#include <utility>

#include "core/base/check.h"

namespace drydock {

const std::vector<std::string>& StreamNames() {
  static const std::vector<std::string> names = {
      "compute",      "tp",           "dp",           "tp-pp",        "world",    "embd",
      "pp-send-next", "pp-recv-prev", "pp-send-prev", "pp-recv-next", "tp-dp-cp", "cp",
      "tp-cp",        "ep",           "etp",          "tp-ep",        "edp",      "dp-replicate",
      "load",         "store",        "host",         "data-loader"};
  return names;
}

ProgramBuilder::ProgramBuilder(WorkTables* tables) : tables_(tables) {
  std::fill(std::begin(last_), std::end(last_), kNothing);
  std::fill(std::begin(waited_), std::end(waited_), kNothing);
  std::fill(std::begin(followed_), std::end(followed_), kNothing);
  program_.dependency_begin.push_back(0);
}

void ProgramBuilder::SetPhase(Phase phase) {
  if (phase != place_.phase) Flush();
  place_.phase = phase;
}

void ProgramBuilder::SetPlace(int layer, int microbatch, int chunk) {
  if (layer != place_.layer || microbatch != place_.microbatch || chunk != place_.chunk) Flush();
  place_.layer = layer;
  place_.microbatch = microbatch;
  place_.chunk = chunk;
}

void ProgramBuilder::Flush() {
  if (pending_.empty()) return;
  Op op = place_;
  op.kind = OpKind::kCompute;
  op.stream = beside_ ? beside_->stream : kComputeStream;
  const uint32_t work = tables_->InternBlock(pending_);
  pending_.clear();
  Append(op, work);
  if (!beside_) waits_.clear();
}

ProgramBuilder::Point ProgramBuilder::Here() {
  Flush();
  return {last_[kComputeStream], waits_};
}

void ProgramBuilder::BeginBeside(Stream stream, const Point& point) {
  CHECK_NOTE(!beside_, "work beside work beside the compute stream");
  Flush();
  beside_ = Beside{stream, point.compute, point.waits, kNothing};
}

void ProgramBuilder::EndBeside(Point* point) {
  Flush();
  const Beside done = *std::exchange(beside_, std::nullopt);
  if (done.last == kNothing) return;
  point->waits = done.waits;
  point->waits.push_back(done.last);
}

ProgramBuilder::OpId ProgramBuilder::StartCollective(Role role, Stream stream, const CommCall& call,
                                                     OpId after) {
  if (call.group_size < 2) return kNothing;
  CHECK_NOTE(call.count > 0, "a collective without data");
  return StartCollective(role, stream, tables_->Intern(call), after);
}

ProgramBuilder::OpId ProgramBuilder::StartCollective(Role role, Stream stream,
                                                     std::optional<uint32_t> call, OpId after) {
  if (!call) return kNothing;
  Flush();
  Op op = place_;
  op.kind = OpKind::kCollective;
  op.stream = stream;
  op.role = role;
  return Append(op, *call, after);
}

ProgramBuilder::OpId ProgramBuilder::StartBehind(const Point& point, Role role, Stream stream,
                                                 const CommCall& call) {
  CHECK_NOTE(!beside_, "work beside work beside the compute stream");
  Flush();
  // Like work beside the compute stream, on its own stream only.
  beside_ = Beside{stream, point.compute, point.waits, kNothing};
  const OpId id = StartCollective(role, stream, call);
  beside_.reset();
  return id;
}

void ProgramBuilder::SetLoop(bool loop) {
  if (loop != loop_) Flush();
  loop_ = loop;
}

void ProgramBuilder::Collective(Role role, Stream stream, const CommCall& call) {
  Wait(StartCollective(role, stream, call));
}

void ProgramBuilder::Collective(Role role, Stream stream, std::optional<uint32_t> call) {
  Wait(StartCollective(role, stream, call));
}

ProgramBuilder::OpId ProgramBuilder::Transfer(OpKind kind, Role role, Stream stream,
                                              const CommCall& call, int tag) {
  CHECK_NOTE(call.count > 0, "a message without data");
  Flush();
  Op op = place_;
  op.kind = kind;
  op.stream = stream;
  op.role = role;
  op.tag = tag;
  return Append(op, tables_->Intern(call));
}

ProgramBuilder::OpId ProgramBuilder::Move(OpKind kind, const MemoryTransfer& transfer, OpId after) {
  Flush();
  Op op = place_;
  op.kind = kind;
  op.stream = kind == OpKind::kLoad ? kLoadStream : kStoreStream;
  if (beside_ && after == kNothing) after = beside_->last;
  return Append(op, tables_->Intern(transfer), after);
}

ProgramBuilder::OpId ProgramBuilder::HostWork(const MemoryTransfer& work, OpId after) {
  HostReads();
  Op op = place_;
  op.kind = OpKind::kHostWork;
  op.stream = kHostStream;
  const OpId id = Append(op, tables_->Intern(work), after);
  Wait(id);
  HostReads();
  return id;
}

ProgramBuilder::OpId ProgramBuilder::LoadData(const MemoryTransfer& work) {
  Flush();
  Op op = place_;
  op.kind = OpKind::kHostWork;
  op.stream = kDataLoaderStream;
  return Append(op, tables_->Intern(work));
}

void ProgramBuilder::Wait(OpId op) {
  if (op == kNothing) return;
  const uint8_t stream = program_.ops[op].stream;
  if (beside_) {
    Flush();
    if (stream != beside_->stream) beside_->waits.push_back(op);
    return;
  }
  if (waited_[stream] != kNothing && waited_[stream] >= op) return;
  Flush();
  waited_[stream] = op;
  // A later op of a stream covers an earlier one.
  std::erase_if(waits_, [&](OpId other) { return program_.ops[other].stream == stream; });
  waits_.push_back(op);
}

void ProgramBuilder::WaitForAll() {
  for (int stream = 1; stream < kDataLoaderStream; ++stream) Wait(last_[stream]);
  HostSynchronizes();
}

void ProgramBuilder::HostWaits(HostWait wait) {
  Flush();
  host_waits_ = std::max(host_waits_, wait);
}

void ProgramBuilder::SetRegion(LayerRegion region) {
  const bool held = graphs_.Holds(region_), holds = graphs_.Holds(region);
  if (held != holds) Flush();
  region_ = region;
  if (held || !holds) return;
  const bool router = region == LayerRegion::kRouter || region == LayerRegion::kPreprocess;
  const bool ends_inside = router && !graphs_.Holds(LayerRegion::kExperts);
  Compute(place_.phase != Phase::kBackward ? copies_.forward
          : ends_inside                    ? copies_.router_backward
                                           : copies_.backward);
}

// Graphs of layers and micro-batches do not hold messages between stages and the ops after the last
// backward.
bool ProgramBuilder::InGraph(const Op& op) const {
  if (graphs_.scope == GraphScope::kIteration) return in_iteration_;
  const bool pass = op.phase <= Phase::kBackward && op.microbatch >= 0;
  const bool message = op.kind == OpKind::kSend || op.kind == OpKind::kRecv;
  if (!pass || message) return false;
  switch (graphs_.scope) {
    case GraphScope::kFull:
      return true;
    case GraphScope::kLayers:
      return op.layer >= 0;
    case GraphScope::kParts:
      return op.layer >= 0 && graphs_.Holds(region_);
    default:
      return false;
  }
}

GraphPart ProgramBuilder::PartInGraph(const Op& op) {
  if (!InGraph(op)) {
    in_graph_.reset();
    return GraphPart::kNone;
  }
  const auto same = [&](const Op& a) {
    if (graphs_.scope == GraphScope::kIteration) return true;
    const bool layer = graphs_.scope == GraphScope::kFull || a.layer == op.layer;
    return layer && a.microbatch == op.microbatch && a.chunk == op.chunk &&
           (a.phase == Phase::kForward) == (op.phase == Phase::kForward);
  };
  const bool rest =
      in_graph_.has_value() && op.host_waits == HostWait::kNothing && same(*in_graph_);
  in_graph_ = op;
  return rest ? GraphPart::kRest : GraphPart::kFirst;
}

ProgramBuilder::OpId ProgramBuilder::Append(Op op, uint32_t work, OpId after) {
  CHECK(program_.ops.size() < UINT32_MAX - 1);
  const auto id = static_cast<OpId>(program_.ops.size());
  op.work = work;
  op.host_waits = std::exchange(host_waits_, HostWait::kNothing);
  op.graph = PartInGraph(op);
  if (loop_ && op.graph == GraphPart::kNone) op.graph = GraphPart::kLoop;
  AddDependencies(static_cast<Stream>(op.stream), after);
  program_.ops.push_back(op);
  program_.dependency_begin.push_back(static_cast<uint32_t>(program_.dependency.size()));
  last_[op.stream] = id;
  if (beside_ && op.kind != OpKind::kLoad && op.kind != OpKind::kStore) {
    beside_->last = id;
    if (op.stream == beside_->stream) beside_->waits.clear();
  }
  return id;
}

void ProgramBuilder::AddDependencies(Stream stream, OpId after) {
  std::vector<OpId> dependencies;
  if (after != kNothing && program_.ops[after].stream != stream) dependencies.push_back(after);
  const OpId compute = beside_ ? beside_->compute : last_[kComputeStream];
  const bool follows = followed_[stream] != kNothing && followed_[stream] >= compute;
  if (stream != kComputeStream && compute != kNothing && !follows) {
    dependencies.push_back(compute);
    followed_[stream] = compute;
  }
  for (const OpId wait : beside_ ? beside_->waits : waits_) {
    if (program_.ops[wait].stream != stream) dependencies.push_back(wait);
  }
  std::sort(dependencies.begin(), dependencies.end());
  dependencies.erase(std::unique(dependencies.begin(), dependencies.end()), dependencies.end());
  program_.dependency.insert(program_.dependency.end(), dependencies.begin(), dependencies.end());
}

Program ProgramBuilder::Finish() {
  Flush();
  return std::move(program_);
}

}  // namespace drydock
