#include "report/facts/notes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/testing/run_testing.h"

namespace drydock {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Notes, AnOrdinaryRunHasNone) { EXPECT_THAT(NotesOf(FakeRun()), IsEmpty()); }

// A captured program may take fewer GPUs than the cluster has.
TEST(Notes, GpusThatDoNothing) {
  Inputs inputs = FakeRun();
  Workload& workload = inputs.workload;
  const int idle = static_cast<int>(workload.programs.size());
  workload.programs.emplace_back().dependency_begin.push_back(0);
  workload.class_of_rank.back() = idle;
  EXPECT_THAT(NotesOf(inputs),
              ElementsAre("3 of 4 GPUs run the program; rates per GPU and shares of the time leave "
                          "out the others"));
}

TEST(Notes, ValuesThatChangeNothing) {
  Inputs inputs = FakeRun();
  inputs.workload.replaced = {{"model.layers=2", true}, {"parallel.expert=1", false}};
  EXPECT_THAT(
      NotesOf(inputs),
      ElementsAre("--set parallel.expert=1 changes nothing: the run is the same without it"));
}

// The GPUs of FakeRun in four hosts: two on each of two leaves, which a spine joins.
Inputs RunOverTwoLeaves(int64_t port_gbps) {
  Inputs inputs = FakeRun();
  Topology& topology = inputs.workload.topology;
  topology.host_kinds[0].gpus = 1;
  topology.host_kinds[0].nics.count = 1;
  topology.hosts = {0, 0, 0, 0};
  topology.fabric.kind = "leaf-spine";
  topology.fabric.switches = {{"leaf0", 0, {}, {}}, {"leaf1", 0, {}, {}}, {"spine0", 1, {}, {}}};
  const Bandwidth rate = Bandwidth::BitsPerSecond(port_gbps * 1'000'000'000);
  for (int host = 0; host < 4; ++host) {
    topology.fabric.links.push_back({{false, host, 0}, {true, host / 2, 0}, rate, {}});
  }
  for (int leaf = 0; leaf < 2; ++leaf) {
    topology.fabric.links.push_back({{true, leaf, 0}, {true, 2, 0}, rate, {}});
  }
  inputs.workload.replaced = {{"fabric.spine.oversubscription=4", true}};
  return inputs;
}

Connection OverNics(uint16_t from, uint16_t to) {
  Connection connection;
  connection.from = from;
  connection.to = to;
  connection.link = LinkKind::kNet;
  connection.send_nic = connection.recv_nic = 0;
  return connection;
}

TEST(Notes, LayersThatNoMessageCrosses) {
  Inputs inputs = RunOverTwoLeaves(200);
  // Plan 0 is of ranks 0 and 1, which share a leaf, plan 1 of ranks 0 and 2, which do not.
  inputs.flows.plans[0].connections = {OverNics(0, 1)};
  EXPECT_THAT(NotesOf(inputs), ElementsAre("--set fabric.spine.oversubscription=4 changes nothing: "
                                           "no message of this run crosses a spine"));
  inputs.flows.plans[1].connections = {OverNics(0, 1)};
  EXPECT_THAT(NotesOf(inputs), IsEmpty());
}

TEST(Notes, NicsThatAreFasterThanTheirPorts) {
  Inputs inputs = RunOverTwoLeaves(100);
  inputs.workload.replaced.clear();
  EXPECT_THAT(NotesOf(inputs),
              ElementsAre("NICs of box send at 100 Gbps, the rate of their cables and of the "
                          "switch's ports, not at their own 200 Gbps"));
}

}  // namespace
}  // namespace drydock
