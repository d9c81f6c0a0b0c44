#include "core/schema/artefacts/trace_file.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <random>

#include "core/base/files.h"
#include "core/schema/testing/workload_testing.h"
#include "core/testing/unit_testing.h"

namespace drydock {
namespace {

using testing::ErrorText;

// Decodes a trace with decode_et.py, which shares no code with Drydock.
std::string DecodedByPython(const std::string& trace) {
  const testing::TemporaryDirectory dir;
  EXPECT_TRUE(WriteFileAtomically(dir / "t.et", trace).ok());
  FILE* pipe =
      ::popen(("python3 core/schema/foreign/decode_et.py " + dir / "t.et" + " 2>&1").c_str(), "r");
  std::string out;
  char buffer[4096];
  while (const size_t n = std::fread(buffer, 1, sizeof buffer, pipe)) out.append(buffer, n);
  EXPECT_EQ(::pclose(pipe), 0) << out;
  return out;
}

TEST(TraceFileTest, IsAChakraTrace) {
  const Workload w = testing::ToyWorkload();
  EXPECT_EQ(DecodedByPython(EncodeTrace(w, w.programs[0])),
            R"({"version": "0.0.4"}
{"attr": {"drydock.op": [0, 0, 0, 0, 0, 3, 1, 0], "is_cpu_op": false, "num_ops": 128, "tensor_size": 107}, "ctrl_deps": [], "data_deps": [], "id": 0, "name": "attention.forward mb1 layer3", "type": 4}
{"attr": {"comm_size": 128, "comm_type": 0, "drydock.op": [0, 0, 0, 1, 0, 3, 1, 0], "is_cpu_op": false, "pg_name": "1"}, "ctrl_deps": [], "data_deps": [0], "id": 1, "name": "tp.all-reduce mb1 layer3", "type": 7}
{"attr": {"drydock.op": [1, 0, 2, 0, 0, -1, -1, 2], "is_cpu_op": false, "num_ops": 128, "tensor_size": 100}, "ctrl_deps": [0], "data_deps": [], "id": 2, "name": "mlp.backward", "type": 4}
{"attr": {"comm_dst": 1, "comm_size": 32, "comm_tag": 7, "drydock.op": [2, 2, 2, 2, 7, -1, 1, 0], "is_cpu_op": false, "pg_name": "3"}, "ctrl_deps": [], "data_deps": [1, 2], "id": 3, "name": "pp.send mb1", "type": 5}
{"attr": {"comm_size": 32, "comm_src": 0, "comm_tag": -8, "drydock.op": [2, 2, 2, 2, -8, -1, 1, 0], "is_cpu_op": false, "pg_name": "3"}, "ctrl_deps": [3], "data_deps": [2], "id": 4, "name": "pp.recv mb1", "type": 6}
)");
}

TEST(TraceFileTest, AllGatherSizesAreOneShard) {
  const Workload w = testing::ToyWorkload();
  const std::string text = DecodedByPython(EncodeTrace(w, w.programs[1]));
  EXPECT_NE(text.find("\"comm_size\": 64, \"comm_type\": 2"), std::string::npos) << text;
}

TEST(TraceFileTest, ReadsBackEqual) {
  Workload w = testing::ToyWorkload();
  const std::string before = testing::Dump(w);
  for (Program& program : w.programs) {
    Result<Program> read = DecodeTrace(EncodeTrace(w, program), w, "t.et");
    ASSERT_TRUE(read.ok()) << read.error().ToString();
    program = *std::move(read);
  }
  EXPECT_EQ(testing::Dump(w), before);
}

TEST(TraceFileTest, EmptyProgramReadsBack) {
  const Workload w = testing::ToyWorkload();
  Program empty;
  empty.dependency_begin = {0};
  const Result<Program> read = DecodeTrace(EncodeTrace(w, empty), w, "t.et");
  ASSERT_TRUE(read.ok());
  EXPECT_TRUE(read->ops.empty());
}

// Changes an op to an invalid value, encodes and reads the program.
std::string ErrorAfter(const std::function<void(Program*)>& change) {
  const Workload w = testing::ToyWorkload();
  Program program = w.programs[0];
  change(&program);
  // The writer needs tables that contain the invalid indices.
  Workload wide = w;
  wide.blocks.resize(9);
  wide.calls.resize(9, w.calls[0]);
  wide.roles.resize(9);
  wide.streams.resize(9);
  return ErrorText(DecodeTrace(EncodeTrace(wide, program), w, "t.et"));
}

TEST(TraceFileTest, RejectsIndicesOutsideTheTables) {
  EXPECT_EQ(ErrorAfter([](Program*) {}), "ok");
  const auto error = [](int node) {
    return "t.et: error: damaged: node " + std::to_string(node) + " cannot be read";
  };
  EXPECT_EQ(ErrorAfter([](Program* p) { p->ops[0].work = 2; }), error(0));
  EXPECT_EQ(ErrorAfter([](Program* p) { p->ops[1].work = 6; }), error(1));
  EXPECT_EQ(ErrorAfter([](Program* p) { p->ops[1].role = 3; }), error(1));
  EXPECT_EQ(ErrorAfter([](Program* p) { p->ops[2].stream = 3; }), error(2));
  EXPECT_EQ(ErrorAfter([](Program* p) { p->ops[2].phase = static_cast<Phase>(6); }), error(2));
  EXPECT_EQ(ErrorAfter([](Program* p) { p->ops[2].graph = static_cast<GraphPart>(4); }), error(2));
  EXPECT_EQ(ErrorAfter([](Program* p) { p->ops[2].host_waits = static_cast<HostWait>(3); }),
            error(2));
  EXPECT_EQ(ErrorAfter([](Program* p) { p->ops[3].work = 0; }), error(3))
      << "a send whose call is a collective";
  EXPECT_EQ(ErrorAfter([](Program* p) { p->dependency[2] = 3; }), error(3))
      << "an op that waits for itself";
}

TEST(TraceFileTest, TruncatedTracesAreErrors) {
  const Workload w = testing::ToyWorkload();
  const std::string whole = EncodeTrace(w, w.programs[0]);
  size_t whole_nodes = 0;
  for (size_t size = 0; size < whole.size(); ++size) {
    // A trace may end between two nodes; the manifest's hash reveals it.
    if (DecodeTrace(whole.substr(0, size), w, "t.et").ok()) ++whole_nodes;
  }
  EXPECT_EQ(whole_nodes, w.programs[0].ops.size());
}

TEST(TraceFileTest, AlteredTracesNeverCrash) {
  const Workload w = testing::ToyWorkload();
  const std::string whole = EncodeTrace(w, w.programs[0]);
  std::mt19937 random(3);
  int errors = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string altered = whole;
    for (unsigned k = 0; k <= random() % 3; ++k) {
      altered[random() % altered.size()] = static_cast<char>(random());
    }
    errors += DecodeTrace(altered, w, "t.et").ok() ? 0 : 1;
  }
  EXPECT_GT(errors, 10000);
}

}  // namespace
}  // namespace drydock
