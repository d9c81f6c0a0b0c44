// The speed of the replay: slices a second in the transfer engine, and ops a second when calls are
// looked up.
#include <benchmark/benchmark.h>

#include "exec-engine/testing/replay_testing.h"

namespace drydock {
namespace {

// `layers` of compute and an all-reduce of 16 MiB over the eight GPUs of a host.
testing::WorkloadBuilder Layers(int layers) {
  testing::WorkloadBuilder b(testing::SmallCluster(1, 8));
  const int stream = b.Stream("compute");
  const int role = b.Role("tp", Dimension::kTensor, {{0, 1, 2, 3, 4, 5, 6, 7}});
  for (int layer = 0; layer < layers; ++layer) {
    for (int rank = 0; rank < 8; ++rank) {
      b.Compute(rank, stream, Time::Us(100));
      b.Collective(rank, stream, role, CollectiveType::kAllReduce, 16 << 20);
    }
  }
  b.PlanAll(/*channels=*/16);
  return b;
}

int64_t Counter(const Timeline& timeline, const std::string& name) {
  for (const auto& [key, value] : timeline.counters) {
    if (key == name) return value;
  }
  return 0;
}

void BM_Replay(benchmark::State& state, const char* counter, bool shortcut) {
  const testing::WorkloadBuilder b = Layers(static_cast<int>(state.range(0)));
  int64_t items = 0;
  for (auto _ : state) items += Counter(*testing::ReplayAll(b, shortcut), counter);
  state.SetItemsProcessed(items);
}
BENCHMARK_CAPTURE(BM_Replay, slices, "slices", false)->Arg(100)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_Replay, ops, "ops", true)->Arg(2000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace drydock

BENCHMARK_MAIN();
