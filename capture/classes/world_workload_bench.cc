// The workload of 16,384 ranks from 16 tapes of some 10,000 entries: TP8 PP16 DP128.
#include <fmt/format.h>
#include <sys/resource.h>

#include <chrono>
#include <set>

#include "capture/classes/partition.h"
#include "capture/classes/testing/tape_builder.h"
#include "capture/classes/world_workload.h"
#include "core/schema/cluster/cluster_file.h"

namespace drydock::capture {
namespace {

using F = RecordFunction;
using testing::TapeBuilder;

constexpr int kTensor = 8, kData = 128, kStages = 16, kWorld = kTensor * kData * kStages;
constexpr int kMicrobatches = 64, kLayers = 6;

RankTape TapeOf(int rank) {
  TapeBuilder b(rank, kWorld);
  b.Grid("default_pg", kWorld, 1);
  const int tp = b.Grid("TENSOR_MODEL_PARALLEL_GROUP", kTensor, 1);
  const int dp = b.Grid("DATA_PARALLEL_GROUP", kData, kTensor);
  const int pp = b.Grid("PIPELINE_MODEL_PARALLEL_GROUP", kStages, kTensor * kData);
  b.Grid("MODEL_PARALLEL_GROUP", kTensor, 1);
  b.Grid("CONTEXT_PARALLEL_GROUP", 1, 1);
  const uint64_t on_tp = b.Communicator(tp), on_dp = b.Communicator(dp), on_pp = b.Communicator(pp);
  const int stage = rank / (kTensor * kData);
  for (int pass = 0; pass < 2; ++pass) {
    for (int microbatch = 0; microbatch < kMicrobatches; ++microbatch) {
      const int from = pass == 0 ? stage - 1 : stage + 1, to = pass == 0 ? stage + 1 : stage - 1;
      const auto exists = [](int other) { return other >= 0 && other < kStages; };
      if (exists(from)) b.Call(F::kRecv, on_pp, 1000, from, 2);
      for (int layer = 0; layer < kLayers; ++layer) {
        b.place = {pass == 0 ? Phase::kForward : Phase::kBackward, layer, microbatch};
        RecordEntry work;
        work.kind = RecordKind::kWork;
        if (microbatch == 0 && layer == 0) {
          for (int i = 0; i < 12; ++i) b.Work("product" + std::to_string(pass * 12 + i), i);
        }
        for (uint64_t i = 0; i < 10; ++i) {
          work.count = static_cast<uint64_t>(pass) * 12 + i;
          b.Add(work);
          if (i % 4 == 3) b.Call(F::kAllReduce, on_tp, 4000, 0, 0);
        }
      }
      if (exists(to)) b.Call(F::kSend, on_pp, 1000, to, 3);
    }
  }
  for (int bucket = 0; bucket < 20; ++bucket) b.Call(F::kReduceScatter, on_dp, 50, 0, 4);
  return b.tape;
}

double Seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void Say(const char* what, double* since) {
  rusage used = {};
  ::getrusage(RUSAGE_SELF, &used);
  const double now = Seconds();
  fmt::print("{}: {:.2f} s, {} MB at most\n", what, now - *since, used.ru_maxrss / 1024);
  *since = now;
}

void Run() {
  double at = Seconds();
  const ClusterInput cluster =
      *LoadCluster("configs/clusters/eos.topo", {"cluster.hosts=" + std::to_string(kWorld / 8)});
  Say("the cluster", &at);
  WorldGroups groups(kWorld);
  Partition partition(&groups, std::vector<HostFacts>(kWorld));
  std::map<int, std::shared_ptr<const ClassTape>> tapes;
  std::vector<std::vector<int>> found;
  size_t before = 0;
  do {
    before = tapes.size();
    if (tapes.empty()) groups.Add(TapeOf(0).groups);
    found = partition.Classes();
    for (const auto& ranks : found) {
      if (tapes.count(ranks.front()) > 0) continue;
      auto made = std::make_shared<const ClassTape>(*MakeClassTape(TapeOf(ranks.front()), groups));
      partition.Note(FindPlaces(*made));
      tapes[ranks.front()] = std::move(made);
    }
  } while (tapes.size() > before);
  fmt::print("{} classes, {} entries\n", found.size(), tapes.at(0)->entries.size());
  Say("tapes and classes", &at);
  std::vector<WorldClass> classes;
  for (const auto& ranks : found) classes.push_back({ranks, tapes.at(ranks.front())});
  std::vector<int> gpus;
  for (int rank = 0; rank < kWorld; ++rank) gpus.push_back(rank);
  const Result<Workload> made = MakeWorldWorkload(cluster.topology, gpus, groups, classes);
  if (!made.ok()) fmt::print("{}\n", made.error().ToString());
  Say("the workload", &at);
  if (made.ok()) {
    fmt::print("{} classes, {} groups, {} uses, {} ops in class 0\n", made->class_count,
               made->groups.size(), made->uses.size(), made->programs[0].ops.size());
  }
  std::map<int, std::string> keys;
  for (const auto& ranks : found) {
    for (const int rank : {ranks.front(), ranks[1], ranks.back()})
      keys[rank] = tapes.at(ranks.front())->key;
  }
  keys[1] += "differs";
  (void)partition.Explain(keys);
  Say("a difference", &at);
}

}  // namespace
}  // namespace drydock::capture

int main() { drydock::capture::Run(); }
