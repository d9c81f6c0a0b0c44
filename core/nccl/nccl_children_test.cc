// Communicators made of other communicators, and communicators with a configuration.
#include <gtest/gtest.h>

#include <cstring>
#include <memory>

#include "core/nccl/nccl_library.h"
#include "core/nccl/testing/hosts_testing.h"

namespace drydock {
namespace {

template <typename T>
bool SameBytes(const T& a, const T& b) {
  return memcmp(&a, &b, sizeof(T)) == 0;
}

template <typename T>
void ExpectSame(const std::vector<T>& a, const std::vector<T>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) EXPECT_TRUE(SameBytes(a[i], b[i])) << i;
}

// Checks that NCCL builds and decides the same for both.
void ExpectEqual(const NcclCommunicator& a, const NcclCommunicator& b) {
  ASSERT_TRUE(SameBytes(a.shape(), b.shape()));
  EXPECT_EQ(a.hosts(), b.hosts());
  for (int c = 0; c < a.shape().ring_channels; ++c) {
    EXPECT_EQ(a.Ring(c), b.Ring(c));
    ExpectSame(a.Tree(c), b.Tree(c));
  }
  for (int c = 0; c < a.shape().nvls_channels; ++c) ExpectSame(a.Nvls(c), b.Nvls(c));
  const int last = a.shape().ranks - 1;
  for (const int graph : {HACKNCCL_GRAPH_RING, HACKNCCL_GRAPH_P2P}) {
    EXPECT_TRUE(SameBytes(a.Link(graph, 0, 0, last).value(), b.Link(graph, 0, 0, last).value()));
  }
  for (const uint64_t count : {512, 1 << 16, 1 << 24}) {
    const hacknccl_call call = {HACKNCCL_ALL_REDUCE, HACKNCCL_FLOAT16, HACKNCCL_SUM, 0, count, 0};
    ExpectSame(a.Collective(call).value().collectives, b.Collective(call).value().collectives);
    const std::vector<hacknccl_call> message = {SendTo(0, static_cast<int64_t>(count))};
    ExpectSame(a.Launch(last, message).value().exchanges,
               b.Launch(last, message).value().exchanges);
  }
}

// Every other rank, in reverse order.
TEST(NcclChildrenTest, ASplitEqualsACommunicatorOfItsPlaces) {
  const NcclWorld world = TestWorld({DgxH100()}, 90);
  const auto parent = world.CreateCommunicator(Places(2, kAllEight)).value();
  std::vector<int32_t> colors, keys;
  std::vector<hacknccl_place> places;
  for (int r = 0; r < 16; ++r) {
    colors.push_back(r % 2);
    keys.push_back(-r);
    if (r % 2 == 0) places.push_back({(15 - r) / 8, 0, (14 - r) % 8});
  }
  for (int r = 0; r < 8; ++r) places[static_cast<size_t>(r)] = {1 - r / 4, 0, 6 - 2 * (r % 4)};
  const auto even = parent.Split(colors, keys, 0);
  ASSERT_TRUE(even.ok()) << even.error().ToString();
  ExpectEqual(*even, world.CreateCommunicator(places).value());
  const auto odd = parent.Split(colors, keys, 1);
  ASSERT_TRUE(odd.ok());
  EXPECT_EQ(odd->shape().ranks, 8);
  const auto none = parent.Split(colors, keys, 2);
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().message(), "no rank has the color 2");
}

TEST(NcclChildrenTest, AShrinkEqualsACommunicatorOfTheRemainingPlaces) {
  const NcclWorld world = TestWorld({DgxH100()}, 90);
  const auto parent = world.CreateCommunicator(Places(3, {0, 1, 2, 3})).value();
  const auto child = parent.Shrink({11, 0, 8, 9, 10, 2});
  ASSERT_TRUE(child.ok()) << child.error().ToString();
  ExpectEqual(
      *child,
      world.CreateCommunicator({{0, 0, 1}, {0, 0, 3}, {1, 0, 0}, {1, 0, 1}, {1, 0, 2}, {1, 0, 3}})
          .value());
  const auto error = [&parent](const std::vector<int32_t>& excluded) {
    const auto shrunk = parent.Shrink(excluded);
    return shrunk.ok() ? "no error" : shrunk.error().message();
  };
  EXPECT_EQ(error({12}), "rank 12 is not in the communicator");
  EXPECT_EQ(error({3, 3}), "rank 3 is excluded twice");
  EXPECT_EQ(error({}), "a shrink leaves out at least one rank and keeps at least one");
}

TEST(NcclChildrenTest, ConfigurationsAreAppliedAndInherited) {
  const NcclWorld world = TestWorld({DgxH100()}, 90);
  hacknccl_config config = UnsetConfig();
  config.max_ctas = 4;
  config.split_share = 1;
  const auto parent = world.CreateCommunicator(Places(1, kAllEight), &config).value();
  EXPECT_EQ(parent.shape().max_ctas, 4);
  EXPECT_EQ(parent.shape().ring_channels, 4);
  const std::vector<int32_t> colors = {0, 0, 0, 0, 1, 1, 1, 1}, keys(8, 0);
  const auto child = parent.Split(colors, keys, 1);
  ASSERT_TRUE(child.ok()) << child.error().ToString();
  EXPECT_EQ(child->shape().max_ctas, 4);
  const hacknccl_config other = UnsetConfig();
  const auto free_child = parent.Split(colors, keys, 0, &other);
  ASSERT_TRUE(free_child.ok()) << free_child.error().ToString();
  EXPECT_EQ(free_child->shape().max_ctas, 64);
  EXPECT_EQ(free_child->shape().ring_channels, 4);  // it shares its parent's channels

  config.max_ctas = 0;
  const auto wrong = world.CreateCommunicator(Places(1, kAllEight), &config);
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().message(),
            "NCCL could not create the communicator: Invalid config min/max channels attribute "
            "value -2147483648/0");
}

TEST(NcclChildrenTest, AChildOutlivesItsParent) {
  const auto library = NcclLibrary::Load().value();
  {
    const NcclWorld world =
        NcclWorld::Create(library, {DescribeHost(DgxH100(), TestGpu(90)).value()}, {}).value();
    std::vector<int32_t> colors(8, 3), keys(8, 0);
    auto parent =
        std::make_unique<NcclCommunicator>(world.CreateCommunicator(Places(1, kAllEight)).value());
    const auto child = parent->Split(colors, keys, 3).value();
    parent.reset();
    EXPECT_TRUE(child.Launch(5, {SendTo(2, 1 << 20)}).ok());  // rank 5 is made only now
  }
  EXPECT_EQ(library->api().memory_in_use(), 0);
}

}  // namespace
}  // namespace drydock
