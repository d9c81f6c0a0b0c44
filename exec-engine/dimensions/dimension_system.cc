#include "exec-engine/dimensions/dimension_system.h"

#include <algorithm>
#include <utility>

#include "core/base/check.h"
#include "core/containers/hash.h"

namespace drydock {
namespace {

constexpr int kChunkBits = 20;  // of a chunk's name, for its number in the call
// ASTRA-sim's own constant: it treats the ring of a group as one inside a package and ignores the
// delay of the system file.
constexpr Time kGroupEndpointDelay = Time::Ns(10);

// Returns the time of one write and two reads, each rounded down.
Time SumTime(const CollectiveSystem& system, int64_t bytes) {
  const auto bits = static_cast<__int128>(bytes) * 8 * 1'000'000'000;
  return Time::Ns(3 * static_cast<int64_t>(bits / system.memory.bits_per_second()));
}

}  // namespace

size_t DimensionSystem::MeetingHash::operator()(const Meeting& meeting) const {
  return HashOf(meeting.chunk, meeting.from, meeting.bytes);
}

// A chunk at one NPU.
class DimensionSystem::Chunk final : public ChunkPhase::Carrier {
 public:
  Chunk(DimensionSystem* system, int at, uint64_t id, int urgency, std::vector<PhasePlan> phases)
      : npu(at), name(id), priority(urgency), system_(*system), phases_(std::move(phases)) {}

  // Prepares the next phase. Returns false if there is none.
  bool Prepare() {
    phase = nullptr;
    if (next_ == phases_.size()) return false;
    plan_ = &phases_[next_++];
    return true;
  }
  void Begin() {
    phase = MakeChunkPhase(*plan_, this);
    phase->Begin();
  }
  size_t dimension() const { return static_cast<size_t>(plan_->dimension); }

  void Pass(int64_t bytes, bool sums) override {
    Time after = plan_->in_group ? kGroupEndpointDelay : system_.system_.endpoint_delay;
    if (sums) after += SumTime(system_.system_, bytes);
    system_.Schedule(after, Kind::kPassed, npu, {name, 0, 0});
  }
  void Send(int to, int64_t bytes) override {
    ++system_.messages_;
    const Time delay = system_.network_.Delay(npu, to, bytes);
    const bool folded = system_.folded_;
    system_.Schedule(delay, Kind::kArrived, folded ? npu : to, {name, npu, bytes});
  }
  void Expect(int from, int64_t bytes) override {
    const Meeting meeting = {name, system_.folded_ ? npu : from, bytes};
    auto& meetings = system_.npus_[static_cast<size_t>(npu)].meetings;
    int& balance = meetings[meeting];
    if (balance-- > 0) system_.Schedule(Time(), Kind::kReceived, npu, meeting);
    if (balance == 0) meetings.erase(meeting);
  }

  const int npu;
  const uint64_t name;
  const int priority;
  std::unique_ptr<ChunkPhase> phase;  // null while the chunk waits in a queue

 private:
  DimensionSystem& system_;
  std::vector<PhasePlan> phases_;
  size_t next_ = 0;
  const PhasePlan* plan_ = nullptr;
};

bool CanFold(const DimensionNetwork& network, const CollectiveSystem& system) {
  for (const auto* rules :
       {&system.all_reduce, &system.all_gather, &system.reduce_scatter, &system.all_to_all}) {
    for (const DimensionRule& rule : *rules) {
      if (rule.algorithm == DimensionAlgorithm::kDoubleBinaryTree) return false;
      if (rule.over_all && network.dimensions().size() > 1) return false;
    }
  }
  return true;
}

DimensionSystem::DimensionSystem(const DimensionNetwork& network, const CollectiveSystem& system,
                                 bool folded, OnEnd on_end)
    : network_(network),
      system_(system),
      folded_(folded),
      on_end_(std::move(on_end)),
      npus_(folded ? 1 : static_cast<size_t>(network.npus())) {
  CHECK(!folded || CanFold(network, system));
  const size_t dimensions = network.dimensions().size();
  for (Npu& npu : npus_) {
    npu.queues.resize(dimensions);
    npu.tree_phases.resize(dimensions);
  }
}

DimensionSystem::~DimensionSystem() = default;

int DimensionSystem::PriorityOf(const Npu& npu, const DimensionCall& call) const {
  if (system_.order == ChunkOrder::kExplicit) return call.priority;
  return system_.order == ChunkOrder::kLifo ? npu.calls : -npu.calls;
}

void DimensionSystem::Schedule(Time after, Kind kind, int npu, const Meeting& what) {
  events_.Push({now_ + after, next_number_++, kind, npu, what});
}

DimensionSystem::Chunk* DimensionSystem::FindChunk(int npu, uint64_t name) {
  const auto& chunks = npus_[static_cast<size_t>(npu)].chunks;
  const auto it = chunks.find(name);
  return it == chunks.end() ? nullptr : it->second.get();
}

void DimensionSystem::Start(int number, const DimensionCall& call) {
  Npu& npu = npus_[static_cast<size_t>(number)];
  const int priority = PriorityOf(npu, call);
  ++npu.calls;
  const std::vector<int64_t> sizes = ChunksOf(call.bytes, system_.splits);
  CHECK(!sizes.empty() && sizes.size() < size_t{1} << kChunkBits &&
        call.name < uint64_t{1} << (64 - kChunkBits));
  npu.chunks_left[call.name] = sizes.size();
  for (size_t i = 0; i < sizes.size(); ++i) {
    const uint64_t name = call.name << kChunkBits | i;
    auto chunk = std::make_unique<Chunk>(
        this, number, name, priority,
        PhasesOf(network_, system_, call, sizes[i], number, &npu.tree_phases));
    Chunk* made = chunk.get();
    npu.chunks[name] = std::move(chunk);
    if (made->Prepare()) {
      Enter(made);
    } else {
      EndChunk(made);
    }
  }
}

// Inserts the chunk behind active chunks and behind waiting chunks of the same or a higher
// priority.
void DimensionSystem::Enter(Chunk* chunk) {
  Queue& queue = npus_[static_cast<size_t>(chunk->npu)].queues[chunk->dimension()];
  const auto after = [chunk](const Chunk* other) {
    return other->phase == nullptr && other->priority < chunk->priority;
  };
  queue.chunks.insert(std::find_if(queue.chunks.begin(), queue.chunks.end(), after), chunk);
  Activate(&queue);
}

void DimensionSystem::Activate(Queue* queue) {
  const auto limit = static_cast<size_t>(system_.active_chunks);
  while (queue->active < queue->chunks.size() && queue->active < limit) {
    queue->chunks[queue->active++]->Begin();
  }
}

// The chunk's phase has ended: the chunk enters its next dimension, and another chunk may begin in
// this one.
void DimensionSystem::Advance(Chunk* chunk) {
  Queue& queue = npus_[static_cast<size_t>(chunk->npu)].queues[chunk->dimension()];
  std::erase(queue.chunks, chunk);
  --queue.active;
  const bool more = chunk->Prepare();
  Activate(&queue);
  return more ? Enter(chunk) : EndChunk(chunk);
}

void DimensionSystem::EndChunk(Chunk* chunk) {
  const int number = chunk->npu;
  const uint64_t call = chunk->name >> kChunkBits;
  Npu& npu = npus_[static_cast<size_t>(number)];
  npu.chunks.erase(chunk->name);
  if (--npu.chunks_left[call] > 0) return;
  npu.chunks_left.erase(call);
  on_end_(number, call);
}

void DimensionSystem::AdvanceTo(Time time) {
  CHECK(time >= now_ && (idle() || time <= next_time()));
  now_ = time;
}

void DimensionSystem::RunNext() {
  const Event event = events_.Pop();
  now_ = event.time;
  Npu& npu = npus_[static_cast<size_t>(event.npu)];
  if (event.kind == Kind::kArrived) {
    int& balance = npu.meetings[event.what];
    if (++balance > 0) return;  // not expected yet
    if (balance == 0) npu.meetings.erase(event.what);
  }
  Chunk* chunk = FindChunk(event.npu, event.what.chunk);
  CHECK(chunk != nullptr && chunk->phase != nullptr);
  if (event.kind == Kind::kPassed) {
    chunk->phase->OnPassed();
  } else {
    chunk->phase->OnReceived();
  }
  if (chunk->phase->done()) Advance(chunk);
}

Time TimeOfCollective(const DimensionNetwork& network, const CollectiveSystem& system,
                      CollectiveType type, int64_t bytes, bool fold) {
  const bool folded = fold && CanFold(network, system);
  const int callers = folded ? 1 : network.npus();
  int ended = 0;
  DimensionSystem run(network, system, folded, [&](int, uint64_t) { ++ended; });
  DimensionCall call;
  call.type = type;
  call.bytes = bytes;
  if (bytes == 0) return Time();
  for (int npu = 0; npu < callers; ++npu) run.Start(npu, call);
  while (!run.idle()) run.RunNext();
  CHECK_NOTE(ended == callers, "a collective does not end on all NPUs");
  return run.now();
}

}  // namespace drydock
