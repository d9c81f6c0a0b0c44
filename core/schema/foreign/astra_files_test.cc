#include "core/schema/foreign/astra_files.h"

#include <gtest/gtest.h>

namespace drydock {
namespace {

constexpr char kNetwork[] =
    "topology: [ Ring, Switch ]\n"
    "npus_count: [ 4, 8 ]\n"
    "bandwidth: [ 50.0, 12.5 ]  # GB/s\n"
    "latency: [ 500.0, 0.5 ]  # ns\n";

constexpr char kSystem[] = R"({
  "scheduling-policy": "LIFO",
  "endpoint-delay": 12,
  "active-chunks-per-dimension": 2,
  "preferred-dataset-splits": 4,
  "all-reduce-implementation": ["ring", "halvingDoubling"],
  "all-gather-implementation": ["direct", "direct3"],
  "reduce-scatter-implementation": ["ring", "ring"],
  "all-to-all-implementation": ["oneDirect"],
  "collective-optimization": "baseline",
  "local-mem-bw": 1600,
  "boost-mode": 0,
  "roofline-enabled": 0,
  "peak-perf": 900
})";

DimensionNetwork Network() { return *ParseAstraNetwork(kNetwork, "network.yml"); }

std::string NetworkError(const std::string& from, const std::string& to) {
  std::string text = kNetwork;
  text.replace(text.find(from), from.size(), to);
  const auto network = ParseAstraNetwork(text, "network.yml");
  return network.ok() ? "" : network.error().ToString();
}

std::string SystemError(const std::string& from, const std::string& to) {
  std::string text = kSystem;
  text.replace(text.find(from), from.size(), to);
  const auto system = ParseAstraSystem(text, "system.json", Network());
  return system.ok() ? "" : system.error().ToString();
}

TEST(AstraFilesTest, ReadsANetwork) {
  const DimensionNetwork network = Network();
  EXPECT_EQ(network.npus(), 32);
  ASSERT_EQ(network.dimensions().size(), 2u);
  EXPECT_EQ(network.dimensions()[0].shape, DimensionShape::kRing);
  EXPECT_EQ(network.dimensions()[1].shape, DimensionShape::kSwitch);
  EXPECT_EQ(network.dimensions()[0].bandwidth.bits_per_second(), 50LL * 8 << 30)
      << "ASTRA-sim reads the GB/s of the file as GiB/s";
  EXPECT_EQ(network.dimensions()[1].latency, Time::Ps(500));
  EXPECT_EQ(network.stride(1), 4);
  EXPECT_EQ(network.CoordinateOf(30, 0), 2);
  EXPECT_EQ(network.CoordinateOf(30, 1), 7);
}

TEST(AstraFilesTest, ReadsASystem) {
  const auto system = ParseAstraSystem(kSystem, "system.json", Network());
  ASSERT_TRUE(system.ok()) << system.error().ToString();
  EXPECT_EQ(system->order, ChunkOrder::kLifo);
  EXPECT_EQ(system->splits, 4);
  EXPECT_EQ(system->active_chunks, 2);
  EXPECT_EQ(system->endpoint_delay, Time::Ns(12));
  EXPECT_EQ(system->memory, Bandwidth::FromBytesPerSecond(1600e9));
  EXPECT_FALSE(system->hierarchical);
  EXPECT_EQ(system->all_reduce[1].algorithm, DimensionAlgorithm::kHalvingDoubling);
  EXPECT_EQ(system->all_gather[0].window, 0);
  EXPECT_EQ(system->all_gather[1].window, 3);
  ASSERT_EQ(system->all_to_all.size(), 1u);
  EXPECT_TRUE(system->all_to_all[0].over_all);
}

TEST(AstraFilesTest, ReportsMistakesInANetwork) {
  EXPECT_EQ(NetworkError("Switch", "Swich"),
            "network.yml:1:19: error: there is no topology 'Swich'; did you mean 'Switch'?; valid "
            "values are Ring, FullyConnected, Switch\n"
            "  topology: [ Ring, Swich ]\n"
            "                    ^");
  EXPECT_NE(NetworkError("4, 8", "4")
                .find("2:13: error: 'npus_count' has 1 values, but 'topology' "
                      "has 2"),
            std::string::npos);
  EXPECT_NE(NetworkError("4, 8", "1, 8").find("1 is not from 2 to"), std::string::npos);
  EXPECT_NE(NetworkError("4, 8", "1000000, 1000000").find("more than 1048576 NPUs"),
            std::string::npos);
  EXPECT_NE(NetworkError("50.0", "0").find("0 is not from"), std::string::npos);
  EXPECT_NE(NetworkError("latency", "latencies").find("did you mean"), std::string::npos);
  EXPECT_NE(NetworkError("[ Ring, Switch ]", "Ring").find("must be a list"), std::string::npos);
}

TEST(AstraFilesTest, ReportsMistakesInASystem) {
  EXPECT_NE(SystemError("\"direct3\"", "\"direkt\"").find("did you mean 'direct'?"),
            std::string::npos);
  EXPECT_NE(SystemError("\"direct3\"", "\"direct0\"").find("no implementation 'direct0'"),
            std::string::npos);
  EXPECT_NE(SystemError("[\"direct\", \"direct3\"]", "[\"direct\"]")
                .find("has 1 values, but the network has 2 dimensions"),
            std::string::npos);
  EXPECT_NE(SystemError("[\"direct\", \"direct3\"]", "[\"ring\", \"oneRing\"]")
                .find("an implementation over all NPUs must be the only value"),
            std::string::npos);
  EXPECT_NE(SystemError("[\"direct\", \"direct3\"]", "[\"ring\", \"doubleBinaryTree\"]")
                .find("a doubleBinaryTree only implements all-reduce"),
            std::string::npos);
  EXPECT_NE(SystemError("\"LIFO\"", "\"LILO\"").find("LIFO, FIFO, EXPLICIT"), std::string::npos);
  EXPECT_NE(SystemError("\"local-mem-bw\": 1600", "\"local-mem\": 1600").find("local-mem-bw"),
            std::string::npos);
  EXPECT_NE(SystemError("\"peak-perf\": 900", "\"model-shared-bus\": 1").find("not modeled"),
            std::string::npos);
  EXPECT_NE(SystemError("\"preferred-dataset-splits\": 4", "\"preferred-dataset-splits\": 0")
                .find("preferred-dataset-splits"),
            std::string::npos);
}

TEST(AstraFilesTest, TreesAndHalvingNeedAPowerOfTwo) {
  const DimensionNetwork six = *ParseAstraNetwork(
      "topology: [Ring]\nnpus_count: [6]\nbandwidth: [50]\nlatency: [500]\n", "network.yml");
  const auto system = [&](const std::string& all_reduce, const std::string& all_to_all) {
    return ParseAstraSystem(
        "{scheduling-policy: FIFO, preferred-dataset-splits: 1, local-mem-bw: "
        "1600, all-reduce-implementation: [" +
            all_reduce +
            "], all-gather-implementation: [ring], "
            "reduce-scatter-implementation: [ring], "
            "all-to-all-implementation: [" +
            all_to_all + "]}",
        "system.json", six);
  };
  EXPECT_TRUE(system("ring", "direct").ok());
  EXPECT_NE(
      system("halvingDoubling", "ring").error().ToString().find("6 NPUs are not a power of two"),
      std::string::npos);
  EXPECT_NE(system("ring", "halvingDoubling").error().ToString().find("has no all-to-all"),
            std::string::npos);
}

}  // namespace
}  // namespace drydock
