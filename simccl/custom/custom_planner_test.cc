// "Does an algorithm of a file become the steps that it says, and is a wrong one refused?"
#include "simccl/custom/custom_planner.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "core/model/calls/step_cursor.h"
#include "core/testing/unit_testing.h"
#include "simccl/expand/expand.h"
#include "simccl/testing/expand_testing.h"
#include "simccl/testing/proof_testing.h"

namespace drydock {
namespace {

using ::testing::HasSubstr;

std::string Step(int number, const std::string& type, int chunk, const std::string& more = "") {
  return fmt::format(
      "<step s=\"{0}\" type=\"{1}\" srcbuf=\"i\" srcoff=\"{2}\" dstbuf=\"i\" dstoff=\"{2}\" "
      "cnt=\"1\" {3}/>\n",
      number, type, chunk, more);
}

std::string Algorithm(const std::string& coll, const std::string& protocol, int chunks, int gpus,
                      const std::string& body) {
  return fmt::format(
      "<algo name=\"test\" proto=\"{}\" nchannels=\"1\" nchunksperloop=\"{}\" ngpus=\"{}\" "
      "coll=\"{}\" inplace=\"1\">\n{}</algo>\n",
      protocol, chunks, gpus, coll, body);
}

// A ring all-reduce. `order` has the members along the ring. The chunk at position p begins at the
// member at position p, as in NCCL's ring.
std::string Ring(const std::vector<int>& order, const std::string& protocol) {
  const int n = static_cast<int>(order.size());
  std::string body;
  for (int member = 0; member < n; ++member) {
    const int at = static_cast<int>(std::find(order.begin(), order.end(), member) - order.begin());
    const auto neighbor = [&](int by) { return order[static_cast<size_t>((at + by + n) % n)]; };
    const auto chunk = [&](int by) { return ((at + by) % n + n) % n; };
    body +=
        fmt::format("<gpu id=\"{}\" i_chunks=\"{}\" o_chunks=\"0\" s_chunks=\"0\">\n", member, n);
    body += fmt::format("<tb id=\"0\" send=\"{}\" recv=\"{}\" chan=\"0\">\n", neighbor(1),
                        neighbor(-1));
    int s = 0;
    body += Step(s++, "s", chunk(n - 1));
    for (int k = 2; k < n; ++k) body += Step(s++, "rrs", chunk(n - k));
    body += Step(s++, "rrcs", chunk(0));
    for (int k = 1; k < n - 1; ++k) body += Step(s++, "rcs", chunk(n - k));
    body += Step(s++, "r", chunk(1));
    body += "</tb>\n</gpu>\n";
  }
  return Algorithm("allreduce", protocol, n, n, body);
}

MscclAlgorithm Parsed(const std::string& text) {
  Result<MscclAlgorithm> algorithm = ParseMsccl(text, "a.xml");
  EXPECT_TRUE(algorithm.ok()) << algorithm.error().ToString();
  return algorithm.ok() ? *std::move(algorithm) : MscclAlgorithm();
}

CommCall CallOfType(CollectiveType type, int members, int64_t count) {
  CommCall call;
  call.collective = type;
  call.type = DataType::kFp32;
  call.group_size = members;
  call.count = count;
  return call;
}

// Every primitive of a member in order: where data comes from and goes to, its place and what is
// done with it.
std::vector<std::string> PrimitivesOf(const Plan& plan, int member) {
  std::vector<std::string> out;
  for (const ChannelProgram& program : plan.members[static_cast<size_t>(member)]) {
    const Pattern& pattern = plan.patterns[program.pattern];
    for (StepCursor at(pattern, program.position); !at.done(); at.Next()) {
      const drydock::Step& step = at.step();
      const auto ends = [&](Slots slots, bool senders) {
        std::string text;
        for (uint32_t i = 0; i < slots.count; ++i) {
          const Connection& c =
              plan.connections[plan.operands[program.operand_begin + slots.begin + i]];
          text += fmt::format(" {}", senders ? c.from : c.to);
        }
        return text;
      };
      out.push_back(fmt::format("from{} to{}: {} B at {}{}{}", ends(step.receive, true),
                                ends(step.send, false), at.bytes(), at.Offset(plan, program),
                                step.reduce ? " reduce" : "", step.store ? " store" : ""));
    }
  }
  return out;
}

// NCCL's own ring with the same chunks is the reference: all primitives, in order.
TEST(CustomPlannerTest, ARingInXmlIsTheRingOfNccl) {
  for (const auto& [protocol, name] :
       {std::pair(HACKNCCL_SIMPLE, "Simple"), std::pair(HACKNCCL_LL, "LL"),
        std::pair(HACKNCCL_LL128, "LL128")}) {
    const NcclCommunicator comm = OpenH100s(2, 4);
    const int n = comm.shape().ranks;
    const int64_t chunk = 15360;  // bytes; below a slot of every protocol
    hacknccl_collective work = KernelWork(comm, {HACKNCCL_ALL_REDUCE, HACKNCCL_RING, protocol}, 4,
                                          chunk / 4 * n, chunk, 1);
    PlanBuilder builder(comm);
    ASSERT_TRUE(ExpandCollective(work, &builder).ok());
    const Result<Plan> nccl = builder.Finish("nccl");
    ASSERT_TRUE(nccl.ok());
    const std::vector<int> order = comm.Ring(0);
    const CommCall call = CallOfType(CollectiveType::kAllReduce, n, chunk / 4 * n);
    const Result<Plan> custom = PlanMsccl(Parsed(Ring(order, name)), call, comm);
    ASSERT_TRUE(custom.ok()) << custom.error().ToString();
    EXPECT_EQ(custom->works[0].algorithm, Algorithm::kCustom);
    for (int m = 0; m < n; ++m) {
      EXPECT_EQ(PrimitivesOf(*custom, m), PrimitivesOf(*nccl, m)) << name << " member " << m;
    }
    EXPECT_EQ(custom->works[0].slots, nccl->works[0].slots);
    EXPECT_TRUE(CheckPlanDeadlock(*custom).ok());
  }
}

// A chunk that does not fit a buffer moves in pieces: the program runs once for each.
TEST(CustomPlannerTest, LongChunksMoveInPieces) {
  const NcclCommunicator comm = OpenH100s(1, 4);
  const MscclAlgorithm ring = Parsed(Ring({0, 1, 2, 3}, "Simple"));
  // Four slots of 512 KiB a piece.
  const int64_t piece = 2 << 20;
  const CommCall call = CallOfType(CollectiveType::kAllReduce, 4, (5 * piece + 64) / 4 * 4);
  const Result<Plan> plan = PlanMsccl(ring, call, comm);
  ASSERT_TRUE(plan.ok()) << plan.error().ToString();
  const std::vector<std::string> steps = PrimitivesOf(*plan, 0);
  ASSERT_EQ(steps.size(), 6u * 7u);
  EXPECT_EQ(steps[0], fmt::format("from to 1: {} B at {}", piece, 3 * (5 * piece + 64)));
  EXPECT_EQ(steps[35], fmt::format("from to 1: 64 B at {}", 3 * (5 * piece + 64) + 5 * piece));
}

// Two thread blocks of a GPU: one receives what the other sends on. Without the wait, the second
// sends before the first has received.
std::string Relay(bool waits) {
  const std::string wait = waits ? "depid=\"0\" deps=\"0\" hasdep=\"0\"" : "";
  const std::string body =
      "<gpu id=\"0\" i_chunks=\"0\" o_chunks=\"3\" s_chunks=\"0\">\n"
      "<tb id=\"0\" send=\"1\" recv=\"-1\" chan=\"0\">\n" +
      Step(0, "s", 0) +
      "</tb>\n"
      "<tb id=\"1\" send=\"-1\" recv=\"1\" chan=\"0\">\n" +
      Step(0, "r", 1) + Step(1, "r", 2) +
      "</tb>\n</gpu>\n"
      "<gpu id=\"1\" i_chunks=\"0\" o_chunks=\"3\" s_chunks=\"0\">\n"
      "<tb id=\"0\" send=\"-1\" recv=\"0\" chan=\"0\">\n" +
      Step(0, "r", 0) +
      "</tb>\n"
      "<tb id=\"1\" send=\"2\" recv=\"-1\" chan=\"0\">\n" +
      Step(0, "s", 0, wait) + Step(1, "s", 1) +
      "</tb>\n"
      "<tb id=\"2\" send=\"-1\" recv=\"2\" chan=\"0\">\n" +
      Step(0, "r", 2) +
      "</tb>\n"
      "<tb id=\"3\" send=\"0\" recv=\"-1\" chan=\"0\">\n" +
      Step(0, "s", 1) + Step(1, "s", 2, "depid=\"2\" deps=\"0\" hasdep=\"0\"") +
      "</tb>\n</gpu>\n"
      "<gpu id=\"2\" i_chunks=\"0\" o_chunks=\"3\" s_chunks=\"0\">\n"
      "<tb id=\"0\" send=\"1\" recv=\"-1\" chan=\"0\">\n" +
      Step(0, "s", 2) +
      "</tb>\n"
      "<tb id=\"1\" send=\"-1\" recv=\"1\" chan=\"0\">\n" +
      Step(0, "r", 0) + Step(1, "r", 1) + "</tb>\n</gpu>\n";
  std::string text = Algorithm("allgather", "LL", 3, 3, body);
  for (size_t at = 0; (at = text.find("buf=\"i\"", at)) != std::string::npos; ++at) {
    text.replace(at, 7, "buf=\"o\"");
  }
  return text;
}

TEST(CustomPlannerTest, AThreadBlockWaitsForAnother) {
  const NcclCommunicator comm = OpenH100s(1, 3);
  const CommCall call = CallOfType(CollectiveType::kAllGather, 3, 3 * 64);
  const Result<Plan> plan = PlanMsccl(Parsed(Relay(true)), call, comm);
  ASSERT_TRUE(plan.ok()) << plan.error().ToString();
  EXPECT_TRUE(CheckPlanDeadlock(*plan).ok());
  // Without the waits the data is right only if the thread blocks happen to run in this order.
  std::string hasty = Relay(false);
  for (size_t at = 0; (at = hasty.find("depid=\"2\"", at)) != std::string::npos; ++at) {
    hasty.replace(at, 9, "depid=\"-1\"");
  }
  const Result<Plan> wrong = PlanMsccl(Parsed(hasty), call, comm);
  ASSERT_FALSE(wrong.ok());
  EXPECT_THAT(wrong.error().message(), HasSubstr("ends with the wrong element"));
}

// Each GPU reads the other's chunk into memory of its own, and adds it.
TEST(CustomPlannerTest, OwnMemoryAndSumsInIt) {
  const NcclCommunicator comm = OpenH100s(1, 2);
  std::string body;
  for (int m = 0; m < 2; ++m) {
    body += fmt::format(
        "<gpu id=\"{0}\" i_chunks=\"1\" o_chunks=\"0\" s_chunks=\"1\">\n"
        "<tb id=\"0\" send=\"{1}\" recv=\"{1}\" chan=\"0\">\n"
        "<step s=\"0\" type=\"s\" srcbuf=\"i\" srcoff=\"0\" dstbuf=\"s\" dstoff=\"0\" cnt=\"1\"/>\n"
        "<step s=\"1\" type=\"r\" srcbuf=\"i\" srcoff=\"0\" dstbuf=\"s\" dstoff=\"0\" cnt=\"1\"/>\n"
        "<step s=\"2\" type=\"re\" srcbuf=\"s\" srcoff=\"0\" dstbuf=\"i\" dstoff=\"0\" "
        "cnt=\"1\"/>\n"
        "</tb>\n</gpu>\n",
        m, 1 - m);
  }
  const MscclAlgorithm algorithm = Parsed(Algorithm("allreduce", "Simple", 1, 2, body));
  const CommCall call = CallOfType(CollectiveType::kAllReduce, 2, 1 << 20);
  const Result<Plan> plan = PlanMsccl(algorithm, call, comm);
  ASSERT_TRUE(plan.ok()) << plan.error().ToString();
  // The same without the sum leaves every GPU with its own data.
  const size_t sum = body.find("\"re\"");
  body.replace(sum, 4, "\"nop\"");
  const Result<Plan> wrong =
      PlanMsccl(Parsed(Algorithm("allreduce", "Simple", 1, 2, body)), call, comm);
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().ToString(),
            "a.xml:2: error: this is no all-reduce over 2 GPUs: member 0 ends with the wrong "
            "element 0");
}

TEST(CustomPlannerTest, RefusesAnAlgorithmThatStands) {
  // Both wait to receive first.
  std::string body;
  for (int m = 0; m < 2; ++m) {
    body += fmt::format("<gpu id=\"{0}\">\n<tb id=\"0\" send=\"{1}\" recv=\"{1}\">\n", m, 1 - m) +
            Step(0, "rrc", 0) + Step(1, "s", 0) + "</tb>\n</gpu>\n";
  }
  const NcclCommunicator comm = OpenH100s(1, 2);
  const Result<Plan> plan = PlanMsccl(Parsed(Algorithm("allreduce", "LL", 1, 2, body)),
                                      CallOfType(CollectiveType::kAllReduce, 2, 64), comm);
  ASSERT_FALSE(plan.ok());
  EXPECT_EQ(plan.error().ToString(),
            "a.xml:2: error: this is no all-reduce over 2 GPUs: deadlock: member 0 waits at step 0 "
            "of channel 0");
}

TEST(CustomPlannerTest, OtherCallsAreNotItsOwn) {
  const MscclAlgorithm ring = Parsed(Ring({0, 1, 2, 3}, "Simple"));
  EXPECT_TRUE(IsFor(ring, CallOfType(CollectiveType::kAllReduce, 4, 64), 4));
  EXPECT_FALSE(IsFor(ring, CallOfType(CollectiveType::kAllReduce, 8, 64), 8));
  EXPECT_FALSE(IsFor(ring, CallOfType(CollectiveType::kAllGather, 4, 64), 4));
  EXPECT_FALSE(IsFor(ring, CallOfType(CollectiveType::kAllReduce, 4, 63), 4));
}

}  // namespace
}  // namespace drydock
