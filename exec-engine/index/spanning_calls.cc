#include "exec-engine/index/spanning_calls.h"

#include <algorithm>
#include <utility>

#include "core/base/check.h"

namespace drydock {
namespace {

// Bounds the memory for calls whose offsets never come again. Changes no result.
constexpr size_t kMostMembers = 1 << 18;

}  // namespace

void SpanningCalls::Begin(Host* host, const Workload::Use& use, CallKey key, size_t members,
                          Time now, Time first_use) {
  ++running_;
  if (arriving_ && arriving_->key == key) {
    arriving_->hosts.push_back(host);
    arriving_->first_use = std::min(arriving_->first_use, first_use);
    return;
  }
  // Another host's first member of a call that is no longer examined may come late, but not before
  // the first member of all.
  Meet(first_use);
  arriving_.reset();
  if (members == 0 || FindRecording(key) != nullptr) return;
  arriving_.emplace();
  arriving_->key = key;
  arriving_->use = use;
  arriving_->first = now;
  arriving_->first_use = first_use;
  arriving_->hosts.push_back(host);
  arriving_->arrivals.assign(members, Time::Max());
}

void SpanningCalls::TakePorts(Time now) {
  ++running_;
  Meet(now);
  arriving_.reset();
}

// Something else takes ports from `first_use` on.
void SpanningCalls::Meet(Time first_use) {
  if (left_out_ && first_use <= left_out_->first + left_out_known_->last_end) PlayAfterAll();
  for (Call& call : recordings_) call.met = std::min(call.met, first_use);
}

void SpanningCalls::Arrive(CallKey key, int member, Time now) {
  if (!arriving_ || arriving_->key != key) return;
  arriving_->arrivals[static_cast<size_t>(member)] = now;
  if (++arriving_->arrived == arriving_->arrivals.size()) Examine();
}

// All members have arrived.
void SpanningCalls::Examine() {
  Call call = std::move(*arriving_);
  arriving_.reset();
  const Time last = *std::max_element(call.arrivals.begin(), call.arrivals.end());
  const bool alone = running_ == static_cast<int64_t>(call.hosts.size());
  if (!alone || last >= call.first_use) return;
  std::sort(call.hosts.begin(), call.hosts.end(),
            [](const Host* a, const Host* b) { return a->number() < b->number(); });
  const auto found = known_.find(OffsetsOf(call));
  if (found != known_.end()) {
    left_out_ = std::move(call);
    left_out_known_ = &found->second;
    return LeaveOut(found->second);
  }
  if (known_members_ >= kMostMembers) return;
  for (const Host* host : call.hosts) call.before.push_back(host->Moved());
  call.traffic = network_.traffic();
  call.known.end.resize(call.arrivals.size());
  call.known.ready.resize(call.arrivals.size());
  call.known.parts.resize(call.hosts.size());
  recordings_.push_back(std::move(call));
}

void SpanningCalls::LeaveOut(const Known& known) {
  for (size_t i = 0; i < left_out_->hosts.size(); ++i) {
    left_out_->hosts[i]->LeaveOut(left_out_->key, left_out_->first, known, known.parts[i]);
  }
  network_.Count(known.traffic);
}

void SpanningCalls::PlayAfterAll() {
  const Call call = std::move(*left_out_);
  left_out_.reset();
  network_.Count(ForgetfulNetwork::Traffic() - left_out_known_->traffic);
  network_.CatchUp(call.first, [&] {
    for (size_t i = 0; i < call.hosts.size(); ++i) {
      call.hosts[i]->PlayAfterAll(call.key, left_out_known_->parts[i]);
    }
  });
}

// A member without anything to do ends, and a host of such members is drained, before all members
// have arrived. Such a call is not examined: its recording would lack that.
void SpanningCalls::WillEnd(CallKey key, int member, Time end, Time ready) {
  StopExamining(key);
  Call* call = FindRecording(key);
  if (call == nullptr) return;
  call->known.end[static_cast<size_t>(member)] = end - call->first;
  call->known.ready[static_cast<size_t>(member)] = ready - call->first;
}

void SpanningCalls::Ended(CallKey key) {
  --running_;
  Call* call = FindRecording(key);
  if (call == nullptr || ++call->hosts_ended < call->hosts.size()) return;
  Known& known = call->known;
  known.last_end = *std::max_element(known.end.begin(), known.end.end());
  // What a call that met this one has moved counts too, so such a recording is not kept.
  known.traffic = network_.traffic() - call->traffic;
  for (size_t i = 0; i < call->hosts.size(); ++i) {
    const Part moved = call->hosts[i]->Moved();
    known.parts[i].slices = moved.slices - call->before[i].slices;
    known.parts[i].merged = moved.merged - call->before[i].merged;
  }
  Keep(*call);
}

void SpanningCalls::Drained(const Host* host, CallKey key, Time now) {
  StopExamining(key);
  Call* call = FindRecording(key);
  if (call == nullptr) return;
  const auto part = std::find(call->hosts.begin(), call->hosts.end(), host) - call->hosts.begin();
  call->known.parts[static_cast<size_t>(part)].drained = now - call->first;
  ++call->hosts_drained;
  Keep(*call);
}

void SpanningCalls::StopExamining(CallKey key) {
  if (arriving_ && arriving_->key == key) arriving_.reset();
}

// Ends the recording if nothing of the call is left.
void SpanningCalls::Keep(const Call& call) {
  if (call.hosts_ended < call.hosts.size() || call.hosts_drained < call.hosts.size()) return;
  if (call.met > call.first + call.known.last_end) {
    known_.emplace(OffsetsOf(call), call.known);
    known_members_ += call.arrivals.size();
  }
  std::erase_if(recordings_, [&call](const Call& each) { return &each == &call; });
}

SpanningCalls::Call* SpanningCalls::FindRecording(CallKey key) {
  for (Call& call : recordings_) {
    if (call.key == key) return &call;
  }
  return nullptr;
}

SpanningCalls::Offsets SpanningCalls::OffsetsOf(const Call& call) {
  Offsets out;
  for (const Time arrival : call.arrivals) out.push_back((arrival - call.first).ps());
  out.push_back(call.use.call);
  out.push_back(call.use.group);
  return out;
}

}  // namespace drydock
