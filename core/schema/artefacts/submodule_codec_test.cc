// "Does every field of every kind of submodule come back from the manifest?"
#include "core/schema/artefacts/submodule_codec.h"

#include <gtest/gtest.h>

namespace drydock {
namespace {

// Returns a submodule of a kind, with a different nonzero value in each field.
Submodule FullOfKind(size_t kind) {
  Submodule s;
  s.name = SubmoduleKindNames()[kind];
  s.pass = Pass::kBackwardWeight;
  s.type = DataType::kFp16;
  s.flops = 0.5;
  s.bytes = Bytes(7);
  s.work = MakeSubmoduleWork(kind);
  int64_t next = 11;
  ForEachField(s.work, [&](submodule::Field, std::string_view, auto& field) {
    field = static_cast<std::decay_t<decltype(field)>>(next++);
  });
  if (auto* fixed = std::get_if<submodule::FixedDuration>(&s.work)) fixed->duration = Time::Ps(13);
  return s;
}

TEST(SubmoduleCodec, EveryFieldOfEveryKindIsReadBack) {
  for (size_t kind = 0; kind < kSubmoduleKindCount; ++kind) {
    proto::Manifest::Submodule message;
    protocol::Encode(FullOfKind(kind), &message);
    const std::optional<Submodule> read = protocol::Decode(message);
    ASSERT_TRUE(read.has_value()) << SubmoduleKindNames()[kind];
    EXPECT_EQ(FactsOf(*read), FactsOf(FullOfKind(kind)));
  }
}

TEST(SubmoduleCodec, AFieldIsStoredUnderItsNumber) {
  Submodule s;
  s.work = submodule::Linear{.rows = 1, .n = 2, .k = 3, .bias = true, .accumulate_half = true};
  proto::Manifest::Submodule expected, message;
  expected.set_type(static_cast<uint32_t>(DataType::kBf16));
  expected.set_rows(1);
  expected.set_n(2);
  expected.set_k(3);
  expected.set_bias(true);
  expected.set_accumulate_half(true);
  protocol::Encode(s, &message);
  EXPECT_EQ(message.SerializeAsString(), expected.SerializeAsString());
  s.work = submodule::Quantize{.rows = 1, .n = 2, .without_transpose = true};
  message.Clear();
  protocol::Encode(s, &message);
  EXPECT_EQ(message.kind(), 18u);
  EXPECT_TRUE(message.unturned());
}

TEST(SubmoduleCodec, RejectsNumbersOutOfRangeEvenInFieldsOfOtherKinds) {
  proto::Manifest::Submodule message;
  protocol::Encode(FullOfKind(0), &message);
  EXPECT_TRUE(protocol::Decode(message).has_value());
  message.set_experts(-1);
  EXPECT_FALSE(protocol::Decode(message).has_value());
  message.set_experts(0);
  message.set_kind(kSubmoduleKindCount);
  EXPECT_FALSE(protocol::Decode(message).has_value());
}

}  // namespace
}  // namespace drydock
