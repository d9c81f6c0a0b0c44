#include "core/schema/artefacts/pattern_codec.h"

#include <algorithm>

namespace drydock::protocol {
namespace {

constexpr uint32_t kReduceFlag = 1;
constexpr uint32_t kStoreFlag = 2;
constexpr uint32_t kJoinedFlag = 4;

// Sets *out = a * b + c. Returns false if the result exceeds 64 bits.
bool MultiplyAdd(int64_t a, int64_t b, int64_t c, int64_t* out) {
  return !__builtin_mul_overflow(a, b, out) && !__builtin_add_overflow(*out, c, out);
}

bool ColumnsFit(const proto::FlowPlan::Pattern& from) {
  const int loops = from.loop_repeat_size();
  for (const int size : {from.loop_stride_size(), from.loop_step_end_size()}) {
    if (size != loops) return false;
  }
  const int steps = from.bytes_size();
  for (const int size :
       {from.receive_begin_size(), from.receive_count_size(), from.send_begin_size(),
        from.send_count_size(), from.first_size(), from.count_size(), from.whole_chunks_size(),
        from.last_bytes_size(), from.offset_size(), from.pitch_size(), from.flags_size()}) {
    if (size != steps) return false;
  }
  return true;
}

bool DecodeLoops(const proto::FlowPlan::Pattern& from, Pattern* to) {
  uint32_t end = 0;
  for (int i = 0; i < from.loop_repeat_size(); ++i) {
    const Loop loop = {from.loop_repeat(i), from.loop_stride(i), from.loop_step_end(i)};
    if (loop.repeat < 1 || loop.repeat > kMaxPrimitives || loop.stride < 0) return false;
    if (loop.step_end <= end) return false;
    end = loop.step_end;
    to->loops.push_back(loop);
  }
  return end == static_cast<uint32_t>(from.bytes_size());
}

Step StepAt(const proto::FlowPlan::Pattern& from, int i) {
  return {.receive = {from.receive_begin(i), from.receive_count(i)},
          .send = {from.send_begin(i), from.send_count(i)},
          .first = from.first(i),
          .count = from.count(i),
          .whole_chunks = from.whole_chunks(i),
          .bytes = from.bytes(i),
          .last_bytes = from.last_bytes(i),
          .offset = from.offset(i),
          .pitch = from.pitch(i),
          .reduce = (from.flags(i) & kReduceFlag) != 0,
          .store = (from.flags(i) & kStoreFlag) != 0,
          .joined = (from.flags(i) & kJoinedFlag) != 0};
}

bool IsSound(const Step& step, const Pattern& pattern) {
  const auto fits = [&pattern](const Slots& slots) {
    return uint64_t{slots.begin} + slots.count <= pattern.operands;
  };
  return fits(step.receive) && fits(step.send) && step.first < pattern.ring && step.count >= 1 &&
         step.count <= pattern.ring && step.bytes >= 1 && step.last_bytes >= 0 &&
         step.last_bytes < step.bytes && step.offset >= 0 && step.pitch >= 0;
}

// Adds a step of a loop. Returns false if the counts overflow.
bool Count(const Loop& loop, const Step& step, uint32_t ring, PatternFacts* facts) {
  const int64_t runs = loop.repeat * step.count;  // 31 and 15 bits
  int64_t end = 0;
  if (!MultiplyAdd(step.bytes, runs, facts->bytes, &facts->bytes) ||
      !MultiplyAdd(loop.stride, loop.repeat, step.offset, &end) ||
      !MultiplyAdd(step.pitch, ring, end, &end) || !MultiplyAdd(step.bytes, 1, end, &end)) {
    return false;
  }
  facts->extent = std::max(facts->extent, end);
  facts->primitives += runs;
  return facts->primitives <= kMaxPrimitives;
}

// Returns, by operand, whether the `slots` of any step contain it.
std::vector<bool> Covered(const Pattern& pattern, Slots Step::*slots) {
  std::vector<int64_t> change(size_t{pattern.operands} + 1);
  for (const Step& step : pattern.steps) {
    ++change[(step.*slots).begin];
    --change[(step.*slots).begin + (step.*slots).count];
  }
  std::vector<bool> covered(pattern.operands);
  int64_t depth = 0;
  for (size_t i = 0; i < covered.size(); ++i) covered[i] = (depth += change[i]) > 0;
  return covered;
}

}  // namespace

void Encode(const Pattern& from, proto::FlowPlan::Pattern* to) {
  to->set_ring(from.ring);
  to->set_operands(from.operands);
  for (const Loop& loop : from.loops) {
    to->add_loop_repeat(loop.repeat);
    to->add_loop_stride(loop.stride);
    to->add_loop_step_end(loop.step_end);
  }
  for (const Step& step : from.steps) {
    to->add_receive_begin(step.receive.begin);
    to->add_receive_count(step.receive.count);
    to->add_send_begin(step.send.begin);
    to->add_send_count(step.send.count);
    to->add_first(step.first);
    to->add_count(step.count);
    to->add_whole_chunks(step.whole_chunks);
    to->add_bytes(step.bytes);
    to->add_last_bytes(step.last_bytes);
    to->add_offset(step.offset);
    to->add_pitch(step.pitch);
    to->add_flags((step.reduce ? kReduceFlag : 0) | (step.store ? kStoreFlag : 0) |
                  (step.joined ? kJoinedFlag : 0));
  }
}

bool Decode(const proto::FlowPlan::Pattern& from, Pattern* to) {
  to->ring = from.ring();
  to->operands = from.operands();
  if (to->ring < 1 || to->ring > kMaxMembers || !ColumnsFit(from) || !DecodeLoops(from, to)) {
    return false;
  }
  to->steps.reserve(static_cast<size_t>(from.bytes_size()));
  for (int i = 0; i < from.bytes_size(); ++i) {
    to->steps.push_back(StepAt(from, i));
    if (!IsSound(to->steps.back(), *to)) return false;
  }
  return true;
}

std::optional<PatternFacts> FactsOf(const Pattern& pattern) {
  PatternFacts facts;
  uint32_t s = 0;
  for (const Loop& loop : pattern.loops) {
    for (; s < loop.step_end; ++s) {
      const Step& step = pattern.steps[s];
      if (!Count(loop, step, pattern.ring, &facts)) return std::nullopt;
    }
  }
  facts.receives = Covered(pattern, &Step::receive);
  facts.sends = Covered(pattern, &Step::send);
  return facts;
}

}  // namespace drydock::protocol
