#include "core/schema/artefacts/submodule_codec.h"

#include <cmath>
#include <type_traits>

#include "core/base/check.h"
#include "core/schema/artefacts/call_codec.h"
#include "core/schema/artefacts/protocol.h"

namespace drydock::protocol {
namespace {

using Message = proto::Manifest::Submodule;
using google::protobuf::FieldDescriptor;

const FieldDescriptor* FieldNamed(std::string_view name) {
  const FieldDescriptor* field = Message::descriptor()->FindFieldByName(std::string(name));
  CHECK_NOTE(field != nullptr, "a field of a submodule that the manifest does not have");
  return field;
}

bool CountsInRange(const Message& message) {
  const google::protobuf::Reflection& reflection = *message.GetReflection();
  for (int i = 0; i < Message::descriptor()->field_count(); ++i) {
    const FieldDescriptor* field = Message::descriptor()->field(i);
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_INT64) continue;
    if (field->number() == Message::kDurationPsFieldNumber) continue;
    if (field->number() == Message::kHostPsFieldNumber) continue;
    const int64_t value = reflection.GetInt64(message, field);
    if (value < 0 || value > kMaxElements) return false;
  }
  return true;
}

bool InRange(const Message& message) {
  return message.kind() < kSubmoduleKindCount && message.pass() < PassNames().size() &&
         message.type() < kDataTypeCount && CountsInRange(message) &&
         std::isfinite(message.flops()) && message.flops() >= 0 && message.duration_ps() >= 0 &&
         message.duration_ps() <= submodule::kLongestFixedDuration.ps() && message.host_ps() >= 0 &&
         message.host_ps() <= submodule::kLongestFixedDuration.ps();
}

}  // namespace

void Encode(const Submodule& from, Message* to) {
  to->set_name(from.name);
  to->set_kind(static_cast<uint32_t>(from.work.index()));
  to->set_pass(static_cast<uint32_t>(from.pass));
  to->set_type(static_cast<uint32_t>(from.type));
  to->set_flops(from.flops);
  to->set_bytes(from.bytes.count());
  to->set_host_ps(from.host.ps());
  ForEachField(from.work, [&](submodule::Field, std::string_view name, const auto& value) {
    if constexpr (std::is_same_v<decltype(value), const bool&>)
      to->GetReflection()->SetBool(to, FieldNamed(name), value);
    else
      to->GetReflection()->SetInt64(to, FieldNamed(name), value);
  });
  if (const auto* fixed = from.As<submodule::FixedDuration>()) {
    to->set_duration_ps(fixed->duration.ps());
  }
}

std::optional<Submodule> Decode(const Message& from) {
  if (!InRange(from)) return std::nullopt;
  Submodule to;
  to.name = from.name();
  to.pass = static_cast<Pass>(from.pass());
  to.type = static_cast<DataType>(from.type());
  to.flops = from.flops();
  to.bytes = Bytes(from.bytes());
  to.host = Time::Ps(from.host_ps());
  to.work = MakeSubmoduleWork(from.kind());
  ForEachField(to.work, [&](submodule::Field, std::string_view name, auto& value) {
    if constexpr (std::is_same_v<decltype(value), bool&>)
      value = from.GetReflection()->GetBool(from, FieldNamed(name));
    else
      value = from.GetReflection()->GetInt64(from, FieldNamed(name));
  });
  if (auto* fixed = std::get_if<submodule::FixedDuration>(&to.work)) {
    fixed->duration = Time::Ps(from.duration_ps());
  }
  return to;
}

}  // namespace drydock::protocol
