#include "exec-engine/networks/fluid/fluid_pairs.h"

namespace drydock {

void FluidPairs::Add(const FluidQueuePair& pair, const FluidPaths::Uses& data,
                     const FluidPaths::Uses& acknowledgements) {
  fabric_.Add(data, acknowledgements, paths_.WindowRate(pair.route));
  pairs_.push_back(pair);
}

void FluidPairs::Send(uint32_t number, const QueuedPart& part, Time now) {
  FluidQueuePair& pair = pairs_[number];
  const bool idle = pair.parts.empty();
  parts_.Append(&pair.parts, part);
  if (!idle) return;
  if (part.ready == now) {
    Begin(number);
  } else {
    Wake(number, part.ready);
  }
}

void FluidPairs::Wake(uint32_t number, Time when) {
  pairs_[number].wake = when;
  if (when != Time::Max()) clock_->WakeAt(number, when);
}

void FluidPairs::OnWake(uint32_t number, Time now) {
  FluidQueuePair& pair = pairs_[number];
  if (pair.wake != now) return;  // the event is void
  pair.wake = Time::Max();
  if (!pair.sending) return Begin(number);
  if (pair.finish > now) return Wake(number, pair.finish);
  FinishPart(number, now);
}

// The first part of an idle queue pair begins at the end of the present time, when all parts that
// begin with it are known.
void FluidPairs::Begin(uint32_t number) {
  pairs_[number].sending = true;
  pairs_[number].finish = Time::Max();
  beginning_.push_back(number);
}

// Admits the parts that share links, then the parts that these force to share. All other parts
// bypass fair sharing.
void FluidPairs::BeginAll(Time now) {
  for (bool more = true; more;) {
    const size_t before = beginning_.size();
    std::erase_if(beginning_, [&](uint32_t number) {
      const FluidQueuePair& pair = pairs_[number];
      if (WireBytesOfFirst(pair) <= pair.window && fabric_.MayBypass(number)) return false;
      BeginPart(number, false, now);
      return true;
    });
    more = beginning_.size() < before;
  }
  for (const uint32_t number : beginning_) BeginPart(number, true, now);
  beginning_.clear();
}

void FluidPairs::BeginPart(uint32_t number, bool bypasses, Time now) {
  FluidQueuePair& pair = pairs_[number];
  pair.StartPart(WireBytesOfFirst(pair), now);
  if (bypasses) {
    fabric_.BeginBypassing(number, pair.Pace(&sent_, now, FluidSharing::kNoLimit));
  } else {
    fabric_.Begin(number, now);
  }
  pair.first_known = ArrivalOf(number, parts_.Front(pair.parts).bytes, now) + pair.ack_time;
}

// Returns when a byte arrives that leaves the NIC now, at the end of a part of this size.
Time FluidPairs::ArrivalOf(uint32_t number, int64_t bytes, Time now) {
  return now + fabric_.Wait(number, now) + pairs_[number].Tail(paths_, bytes);
}

// The last byte of the first part has left the NIC.
void FluidPairs::FinishPart(uint32_t number, Time now) {
  FluidQueuePair& pair = pairs_[number];
  const QueuedPart part = parts_.Front(pair.parts);
  parts_.Pop(&pair.parts);
  const int64_t wire = set_.WireBytes(part.bytes);
  pair.sent_bits += wire * 8;
  const Time arrival = ArrivalOf(number, part.bytes, now);
  const Time acknowledged = arrival + pair.ack_time;
  pair.Forget(&sent_, now);
  sent_.Append(&pair.unacknowledged, {wire, pair.first_known, acknowledged});
  Continue(number, now);
  clock_->OnPart(part.slot, arrival, acknowledged);
}

// Begins the next part if it is ready.
void FluidPairs::Continue(uint32_t number, Time now) {
  FluidQueuePair& pair = pairs_[number];
  if (pair.parts.empty() || parts_.Front(pair.parts).ready > now) {
    Stop(number, now);
    if (!pair.parts.empty()) Wake(number, parts_.Front(pair.parts).ready);
    return;
  }
  const int64_t bytes = WireBytesOfFirst(pair);
  if (fabric_.bypasses(number) || bytes <= pair.window) {
    Stop(number, now);
    return Begin(number);
  }
  pair.StartPart(bytes, now);
  pair.first_known = ArrivalOf(number, parts_.Front(pair.parts).bytes, now) + pair.ack_time;
  pair.FindFinish(now);
  Wake(number, pair.finish);
}

void FluidPairs::Stop(uint32_t number, Time now) {
  fabric_.End(number, now);
  pairs_[number].SetRate(0, now);
  pairs_[number].sending = false;
}

void FluidPairs::Settle(Time now) {
  BeginAll(now);
  fabric_.Solve(now, [&](uint32_t number, int64_t rate) {
    FluidQueuePair& pair = pairs_[number];
    pair.SetRate(rate, now);
    if (pair.finish < pair.wake) Wake(number, pair.finish);
  });
  for (const auto& [link, when] : fabric_.TakeDrains()) clock_->DrainAt(link, when);
}

void FluidPairs::StopBypassing(Time now) {
  for (const uint32_t number : fabric_.StopBypassing(now)) {
    FluidQueuePair& pair = pairs_[number];
    const bool over = pair.finish <= now;
    pair.SetRate(0, now);
    if (over) pair.finish = now;
  }
}

void FluidPairs::Move(uint32_t number, Time now) {
  const FluidRoute& route = pairs_[number].route;
  fabric_.Move(number, paths_.DataUses(route), paths_.AckUses(route), now);
}

}  // namespace drydock
