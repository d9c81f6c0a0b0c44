#include "core/model/submodule.h"

#include <gtest/gtest.h>

#include <set>

namespace drydock {
namespace {

// Artefacts hold the index of a kind: the order is part of their format.
TEST(SubmoduleTest, TheOrderOfKindsIsFixed) {
  EXPECT_EQ(SubmoduleKindNames(), (std::vector<std::string>{"linear",
                                                            "attention",
                                                            "norm",
                                                            "bias-dropout-add",
                                                            "activation",
                                                            "rotary",
                                                            "embedding",
                                                            "cross-entropy",
                                                            "optimizer",
                                                            "gradient-scale",
                                                            "gradient-norm",
                                                            "cast",
                                                            "add",
                                                            "router",
                                                            "top-k",
                                                            "permute",
                                                            "unpermute",
                                                            "grouped-linear",
                                                            "quantise",
                                                            "given",
                                                            "counted",
                                                            "zero-count",
                                                            "state-space",
                                                            "delta-rule",
                                                            "sparse-index",
                                                            "sparse-target",
                                                            "sparse-attention"}));
  for (size_t kind = 0; kind < kSubmoduleKindCount; ++kind) {
    EXPECT_EQ(MakeSubmoduleWork(kind).index(), kind);
  }
}

TEST(SubmoduleTest, FactsDifferIfAnyFieldDiffers) {
  std::set<std::string> facts;
  const auto add = [&](const Submodule& s) { EXPECT_TRUE(facts.insert(FactsOf(s)).second); };
  for (size_t kind = 0; kind < kSubmoduleKindCount; ++kind) {
    const Submodule zero{.name = "a", .work = MakeSubmoduleWork(kind)};
    add(zero);
    size_t fields = 0;
    ForEachField(zero.work, [&](submodule::Field, std::string_view, const auto&) { ++fields; });
    for (size_t changed = 0; changed < fields; ++changed) {
      Submodule s = zero;
      size_t at = 0;
      ForEachField(s.work, [&](submodule::Field, std::string_view, auto& field) {
        if (at++ == changed) field = static_cast<std::decay_t<decltype(field)>>(1);
      });
      add(s);
    }
  }
  add({.name = "b"});
  add({.name = "a", .pass = Pass::kNone});
  add({.name = "a", .type = DataType::kFp16});
  add({.name = "a", .flops = 1});
  add({.name = "a", .bytes = Bytes(1)});
  add({.name = "a", .work = submodule::FixedDuration{Time::Ps(1)}});
}

TEST(SubmoduleTest, UnspecifiedExtentsOfKeysEqualThoseOfQueries) {
  submodule::Attention attention{.sequence = 8, .head_dim = 4};
  EXPECT_EQ(attention.keys(), 8);
  EXPECT_EQ(attention.value_width(), 4);
  attention.kv_sequence = 16;
  attention.value_dim = 2;
  EXPECT_EQ(attention.keys(), 16);
  EXPECT_EQ(attention.value_width(), 2);
}

// With 4 keys and the best 2 of them, the queries see 1, 2, 3 and 4 keys and pick 1, 2, 2 and 2.
TEST(SubmoduleTest, QueriesPickNoMoreThanTheySee) {
  submodule::SparseWork sparse{.rows = 4, .keys = 4, .top_k = 2};
  EXPECT_EQ(sparse.seen(), 2.5);
  EXPECT_EQ(sparse.picked(), 1.75);
  sparse.top_k = 8;
  EXPECT_EQ(sparse.most_picked(), 4);
  EXPECT_EQ(sparse.picked(), sparse.seen());
}

}  // namespace
}  // namespace drydock
