#include "core/schema/artefacts/submodule_codec.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "core/schema/artefacts/call_codec.h"
#include "core/schema/artefacts/protocol.h"

namespace drydock::protocol {
namespace {

bool Counts(std::initializer_list<int64_t> values) {
  return std::all_of(values.begin(), values.end(),
                     [](int64_t value) { return value >= 0 && value <= kMaxElements; });
}

}  // namespace

void Encode(const Submodule& from, proto::Manifest::Submodule* to) {
  to->set_name(from.name);
  to->set_kind(static_cast<uint32_t>(from.kind));
  to->set_pass(static_cast<uint32_t>(from.pass));
  to->set_type(static_cast<uint32_t>(from.type));
  to->set_rows(from.rows);
  to->set_n(from.n);
  to->set_k(from.k);
  to->set_batch(from.batch);
  to->set_sequence(from.sequence);
  to->set_heads(from.heads);
  to->set_kv_heads(from.kv_heads);
  to->set_head_dim(from.head_dim);
  to->set_elements(from.elements);
  to->set_kv_sequence(from.kv_sequence);
  to->set_value_dim(from.value_dim);
  to->set_experts(from.experts);
  to->set_top_k(from.top_k);
  to->set_causal(from.causal);
  to->set_fused(from.fused);
  to->set_gated(from.gated);
  to->set_rms(from.rms);
  to->set_bias(from.bias);
  to->set_dropout(from.dropout);
  to->set_accumulate_fp32(from.accumulate_fp32);
  to->set_accumulate_half(from.accumulate_half);
  to->set_fp8_input(from.fp8_input);
  to->set_fp8_gradient(from.fp8_gradient);
  to->set_unturned(from.unturned);
  to->set_flops(from.flops);
  to->set_bytes(from.bytes.count());
  to->set_duration_ps(from.duration.ps());
}

Submodule Decode(const proto::Manifest::Submodule& from) {
  Submodule to;
  to.name = from.name();
  to.kind = ToEnum<SubmoduleKind>(from.kind());
  to.pass = ToEnum<Pass>(from.pass());
  to.type = ToEnum<DataType>(from.type());
  to.rows = from.rows();
  to.n = from.n();
  to.k = from.k();
  to.batch = from.batch();
  to.sequence = from.sequence();
  to.heads = from.heads();
  to.kv_heads = from.kv_heads();
  to.head_dim = from.head_dim();
  to.elements = from.elements();
  to.kv_sequence = from.kv_sequence();
  to.value_dim = from.value_dim();
  to.experts = from.experts();
  to.top_k = from.top_k();
  to.causal = from.causal();
  to.fused = from.fused();
  to.gated = from.gated();
  to.rms = from.rms();
  to.bias = from.bias();
  to.dropout = from.dropout();
  to.accumulate_fp32 = from.accumulate_fp32();
  to.accumulate_half = from.accumulate_half();
  to.fp8_input = from.fp8_input();
  to.fp8_gradient = from.fp8_gradient();
  to.unturned = from.unturned();
  to.flops = from.flops();
  to.bytes = Bytes(from.bytes());
  to.duration = Time::Ps(from.duration_ps());
  return to;
}

bool Consistent(const Submodule& s) {
  return Within(s.kind, kSubmoduleKindCount) && Within(s.pass, PassNames().size()) &&
         Within(s.type, kDataTypeCount) &&
         Counts({s.rows, s.n, s.k, s.batch, s.sequence, s.heads, s.kv_heads, s.head_dim, s.elements,
                 s.kv_sequence, s.value_dim, s.experts, s.top_k, s.bytes.count()}) &&
         std::isfinite(s.flops) && s.flops >= 0 && s.duration >= Time() &&
         s.duration <= kLongestGiven;
}

}  // namespace drydock::protocol
