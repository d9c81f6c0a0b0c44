#include "report/output/trace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "report/facts/trace_ranks.h"
#include "report/testing/gunzip_testing.h"
#include "report/testing/run_testing.h"

namespace drydock {
namespace {

using Json = nlohmann::json;

// Returns the events of one kind ("X", "M", "s", "f"), parsed as strict JSON.
std::vector<Json> EventsOf(const std::string& trace, const std::string& kind) {
  std::vector<Json> out;
  const Json all = Json::parse(Gunzip(trace, 1 << 20));
  for (const Json& event : all["traceEvents"]) {
    if (event["ph"] == kind) out.push_back(event);
  }
  return out;
}

TEST(Trace, NamesModelAndCluster) {
  const Json trace = Json::parse(Gunzip(TraceOf(FakeRun(), {0}), 1 << 20));
  EXPECT_EQ(trace["otherData"]["model"], "fake-1b");
  EXPECT_EQ(trace["otherData"]["cluster"], "quad");
}

TEST(Trace, RanksAreProcessesAndStreamsAreThreads) {
  std::map<std::string, std::string> names;
  for (const Json& event : EventsOf(TraceOf(FakeRun(), {2}), "M")) {
    if (event["name"] == "process_name") names["process"] = event["args"]["name"];
    if (event["name"] == "thread_name") names[event["tid"].dump()] = event["args"]["name"];
  }
  EXPECT_EQ(names,
            (std::map<std::string, std::string>{{"process", "rank 2 (host 0, GPU 2, class 1)"},
                                                {"1", "compute"},
                                                {"2", "tp"},
                                                {"3", "pp-send"},
                                                {"4", "pp-recv"}}));
}

// The fullest ranks are those of class 1. The counter begins with the first compute op.
TEST(Trace, AllocatedMemoryIsACounterOfTheFullestRank) {
  Inputs inputs = FakeRun();
  MemoryCurve& curve = inputs.memory_curve.emplace();
  curve.class_index = 1;
  curve.allocated.assign(inputs.program_of(2).ops.size(), Bytes(2'500'000'000));
  const std::vector<Json> events = EventsOf(TraceOf(inputs, {0, 2, 3}), "C");
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0], Json::parse(R"({"ph": "C", "pid": 3, "ts": 0.0,
      "name": "allocated memory, GB", "args": {"GB": 2.5}})"));
}

// The plan of the all-reduce sends 2.048 MB from 110 to 150 us: 51.2 GB/s, then nothing.
TEST(Trace, TheLoadOfALinkIsACounterWhereItChanges) {
  Inputs inputs = FakeRun();
  Plan& plan = inputs.flows.plans[0];
  plan.connections.resize(2);
  plan.connections[0].to = 1;
  plan.connections[1].from = 1;
  plan.operands = {0, 1, 1, 0};
  plan.patterns.resize(1);
  plan.patterns[0].operands = 2;
  plan.patterns[0].loops = {{1000, 0, 1}};
  plan.patterns[0].steps.resize(1);
  plan.patterns[0].steps[0].send = {0, 1};
  plan.patterns[0].steps[0].receive = {1, 1};
  plan.patterns[0].steps[0].bytes = 1920;
  plan.members.assign(2, {ChannelProgram()});
  plan.members[1][0].operand_begin = 2;
  double most = 0, last = -1;
  for (const Json& event : EventsOf(TraceOf(inputs, {0}), "C")) {
    if (event["name"] != "rank 0, out of its GPU, GB/s") continue;
    most = std::max(most, event["args"]["peak"].get<double>());
    last = event["args"]["peak"];
  }
  EXPECT_EQ(most, 51.2);
  EXPECT_EQ(last, 0);
}

TEST(Trace, OpsAndWaitsAreSeparateCompleteEvents) {
  const std::vector<Json> events = EventsOf(TraceOf(FakeRun(), {0}), "X");
  ASSERT_EQ(events.size(), 7u);  // five ops, two of which wait
  EXPECT_EQ(events[0], Json::parse(R"({"ph": "X", "pid": 1, "tid": 1, "ts": 0.0, "dur": 100.0,
      "name": "layer.forward mb0 layer0", "cat": "compute",
      "args": {"phase": "forward", "layer": 0, "micro_batch": 0}})"));
  EXPECT_EQ(events[1], Json::parse(R"({"ph": "X", "pid": 1, "tid": 2, "ts": 100.0, "dur": 10.0,
      "name": "wait"})"));
  EXPECT_EQ(events[2], Json::parse(R"({"ph": "X", "pid": 1, "tid": 2, "ts": 110.0, "dur": 40.0,
      "name": "tp.all-reduce mb0 layer0", "cat": "communication",
      "args": {"phase": "forward", "layer": 0, "micro_batch": 0, "bytes": 2000000,
               "algorithm": "ring", "protocol": "LL128", "channels": 4, "group": 0}})"));
}

TEST(Trace, TimesKeepThePicosecond) {
  Inputs inputs = FakeRun();
  inputs.timeline.ranks[0].end[0] = Time::Ps(99000001);
  const std::vector<Json> events = EventsOf(TraceOf(inputs, {0}), "X");
  EXPECT_EQ(events[0]["dur"].get<double>(), 99.000001);
}

TEST(Trace, ArrowsRunFromSendToReceive) {
  const std::string trace = TraceOf(FakeRun(), {0, 2});
  const std::vector<Json> begins = EventsOf(trace, "s");
  const std::vector<Json> ends = EventsOf(trace, "f");
  ASSERT_EQ(begins.size(), 2u);  // activations 0 to 2, gradients 2 to 0
  ASSERT_EQ(ends.size(), 2u);
  EXPECT_EQ(begins[0]["pid"], 1);
  EXPECT_EQ(begins[0]["ts"], 150.0);
  EXPECT_EQ(ends[0]["pid"], 3);
  EXPECT_EQ(ends[0]["ts"].get<double>(), 204.999);  // inside the receive, which ends at 205
  EXPECT_EQ(begins[0]["id"], ends[0]["id"]);
  EXPECT_EQ(begins[1]["pid"], 3);
  EXPECT_EQ(ends[1]["pid"], 1);
  EXPECT_NE(begins[0]["id"], begins[1]["id"]);
}

TEST(Trace, NoArrowLeadsToARankThatIsNotShown) {
  EXPECT_TRUE(EventsOf(TraceOf(FakeRun(), {0, 1}), "s").empty());
}

TEST(Trace, MessagesOfOneTagMatchInOrder) {
  Inputs inputs = FakeRun();
  for (Program& program : inputs.workload.programs) {
    for (Op& op : program.ops) op.tag = 0;
    program.ops.insert(program.ops.end(), program.ops.begin(), program.ops.end());
  }
  for (RankTimeline& times : inputs.timeline.ranks) {
    for (SharedTimes* column : {&times.start, &times.ready, &times.end}) {
      for (size_t i = 0; i < 5; ++i) column->push_back((*column)[i] + Time::Us(600));
    }
  }
  const std::string trace = TraceOf(inputs, {0, 2});
  std::map<int, double> begin;
  for (const Json& event : EventsOf(trace, "s")) begin[event["id"]] = event["ts"];
  ASSERT_EQ(begin.size(), 4u);
  for (const Json& event : EventsOf(trace, "f")) {
    EXPECT_LT(event["ts"].get<double>() - begin[event["id"]], 100);
  }
}

// Its process number is behind those of the four ranks, but viewers show it first.
TEST(Trace, CriticalPathIsASeparateProcess) {
  const Inputs inputs = FakeRun();
  const std::string trace = TraceOf(inputs, {0}, CriticalPath(inputs));
  std::vector<Json> steps;
  for (const Json& event : EventsOf(trace, "X")) {
    if (event["pid"] == 5) steps.push_back(event);
  }
  ASSERT_EQ(steps.size(), 8u);
  EXPECT_EQ(steps[1], Json::parse(R"({"ph": "X", "pid": 5, "tid": 1, "ts": 110.0, "dur": 40.0,
      "name": "tp.all-reduce mb0 layer0", "cat": "critical path",
      "args": {"rank": 0, "part": "tensor communication", "held_by_rank": 1}})"));
  const std::vector<Json> names = EventsOf(trace, "M");
  EXPECT_EQ(names[0]["args"]["name"], "critical path");
  EXPECT_EQ(names[1]["args"]["sort_index"], 0);
}

TEST(Trace, EscapesNames) {
  Inputs inputs = FakeRun();
  inputs.workload.blocks[0].name = "a\"b\\c\n\xff";
  EXPECT_EQ(EventsOf(TraceOf(inputs, {0}), "X")[0]["name"], "a\"b\\c\n\xEF\xBF\xBD mb0 layer0");
}

TEST(Trace, BytesDependOnTheInputsAlone) {
  EXPECT_TRUE(TraceOf(FakeRun(), {0, 1, 2}) == TraceOf(FakeRun(), {0, 1, 2}));
}

TEST(TraceRanks, DefaultIsOneOfEachClassAndTheFirstTensorGroup) {
  EXPECT_EQ(ChooseRanks(FakeRun().workload, {}), (std::vector<int>{0, 1, 2}));
}

TEST(TraceRanks, ANumberTakesClassesFirst) {
  const Workload workload = FakeRun().workload;
  EXPECT_EQ(ChooseRanks(workload, {1}), (std::vector<int>{0}));
  EXPECT_EQ(ChooseRanks(workload, {2}), (std::vector<int>{0, 2}));
  EXPECT_EQ(ChooseRanks(workload, {9}), (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(ChooseRanks(workload, {TraceRanks::kAll}), (std::vector<int>{0, 1, 2, 3}));
}

TEST(TraceRanks, ParsesANumberOrAll) {
  EXPECT_EQ(ParseTraceRanks("all")->count, TraceRanks::kAll);
  EXPECT_EQ(ParseTraceRanks("12")->count, 12);
  for (const char* text : {"0", "-1", "4x", "some", ""}) {
    EXPECT_EQ(ParseTraceRanks(text).error().message(),
              std::string("--trace-ranks: '") + text +
                  "' is neither a number of ranks, at least 1, nor 'all'");
  }
}

}  // namespace
}  // namespace drydock
