// "Do traces of PyTorch's profiler and of Nsight Systems become the right rows?"
#include <sqlite3.h>

#include "compute-sim/import/traced_op.h"
#include "compute-sim/testing/import_testing.h"

namespace drydock {
namespace {

TEST_F(ImportTest, KinetoKernelsBelongToTheOperatorThatLaunchedThem) {
  const std::string path = Write("trace.json", R"({"traceEvents": [
    {"cat": "kernel", "name": "sm90_gemm", "dur": 40.5, "args": {"External id": 7}},
    {"cat": "kernel", "name": "splitKreduce", "dur": 2, "args": {"External id": 7}},
    {"cat": "cpu_op", "name": "aten::addmm", "dur": 100, "args": {"External id": 7,
     "Input Dims": [[64], [8, 32], [32, 64], [], []],
     "Input type": ["c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "Scalar", "Scalar"]}},
    {"cat": "cpu_op", "name": "aten::_scaled_dot_product_flash_attention", "args": {
     "External id": 8, "Input Dims": [[1, 8, 64, 128], [1, 2, 64, 128], [1, 2, 64, 128], [], []],
     "Concrete Inputs": ["", "", "", "0.", "True"],
     "Input type": ["c10::Half", "c10::Half", "c10::Half"]}},
    {"cat": "kernel", "name": "flash_fwd", "dur": 10, "args": {"External id": 8}},
    {"cat": "cpu_op", "name": "aten::relu", "args": {"External id": 9}},
    {"cat": "kernel", "name": "relu", "dur": 3, "args": {"External id": 9}},
    {"cat": "kernel", "name": "x", "dur": 3, "args": {"External id": 10}}]})");
  const ImportedTimes times = *ReadKineto(path, {});
  EXPECT_EQ(Rows(times),
            "gemm 8x64x32 bf16 42500\nattention-forward 1x64x8x2x128 causal fp16 10000\n");
  EXPECT_EQ(times.left_out.at("aten::relu"), 1);
  EXPECT_EQ(times.left_out.at("kernel without an operator"), 1);
  EXPECT_NE(ErrorOf(ReadKineto(Write("x.json", "{"), {})).find("not JSON"), std::string::npos);
  EXPECT_NE(ErrorOf(ReadKineto(Write("y.json", "{}"), {})).find("traceEvents"), std::string::npos);
  EXPECT_NE(ErrorOf(ReadKineto(Write("z.json", R"({"traceEvents": [{"cat": 1, "args":
    {"External id": 1}}]})"),
                               {}))
                .find("not a trace"),
            std::string::npos);
  const ImportedTimes huge = *ReadKineto(Write("h.json", R"({"traceEvents": [
    {"cat": "kernel", "dur": 40.5, "args": {"External id": 7}},
    {"cat": "cpu_op", "name": "aten::gelu", "args": {"External id": 7, "Input type": ["c10::Half"],
     "Input Dims": [[4294967296, 4294967296, 4096]]}}]})"),
                                         {});
  EXPECT_EQ(Rows(huge), "");
  EXPECT_EQ(huge.left_out.at("aten::gelu"), 1);
}

TEST_F(ImportTest, KinetoTracesWithoutShapesSayHowToGetThem) {
  const std::string op = R"({"cat": "cpu_op", "name": "aten::mm", "args": {"External id": 7}})";
  EXPECT_NE(ErrorOf(ReadKineto(Write("n.json", R"({"traceEvents": [)" + op + "]}"), {}))
                .find("state no shapes; record the trace with "
                      "torch.profiler.profile(..., record_shapes=True)"),
            std::string::npos);
  const ImportedTimes none = *ReadKineto(Write("e.json", R"({"traceEvents": []})"), {});
  EXPECT_EQ(Rows(none), "");
}

// scaled_dot_product_attention ends in an operator whose tensors have the sequence before the
// heads. If the trace does not record values, the mask is unknown.
TEST_F(ImportTest, KinetoAttentionBelongsToTheInnermostOperator) {
  const std::string shape = R"("Input Dims": [[1, 64, 8, 128], [1, 64, 2, 128], [1, 64, 2, 128], [],
     [], [], [], [], [], []], "Input type": ["c10::BFloat16", "c10::BFloat16", "c10::BFloat16"])";
  const std::string path = Write("trace.json", R"({"schemaVersion": 1, "traceEvents": [
    {"ph": "X", "cat": "cpu_op", "name": "aten::_scaled_dot_product_flash_attention", "args": {
     "External id": 4, "Input Dims": [[1, 8, 64, 128]], "Input type": ["c10::BFloat16"]}},
    {"ph": "X", "cat": "cpu_op", "name": "aten::_flash_attention_forward", "pid": 1, "ts": 1.5,
     "args": {"External id": 5, "Record function id": 0, "Ev Idx": 9, "Concrete Inputs": ["", "", "",
     "", "", "64", "64", "0.", "True", "False"], )" +
                                                   shape + R"(}},
    {"ph": "X", "cat": "kernel", "name": "pytorch_flash::flash_fwd_kernel", "dur": 12.25, "args": {
     "External id": 5, "correlation": 77, "stream": 7, "grid": [1, 1, 8]}},
    {"ph": "X", "cat": "cpu_op", "name": "aten::_flash_attention_forward",
     "args": {"external id": 6, )" + shape + R"(}},
    {"ph": "X", "cat": "kernel", "name": "flash_fwd_kernel", "dur": 12, "args": {"external id": 6}},
    {"ph": "X", "cat": "cpu_op", "name": "aten::_scaled_mm", "args": {"External id": 7,
     "Input Dims": [[64, 32], [32, 16], [], []],
     "Input type": ["c10::Float8_e4m3fn", "c10::Float8_e4m3fn", "float", "float"]}},
    {"ph": "X", "cat": "kernel", "name": "nvjet", "dur": 2, "args": {"External id": 7}}]})");
  const ImportedTimes times = *ReadKineto(path, {});
  EXPECT_EQ(Rows(times),
            "attention-forward 1x64x8x2x128 causal bf16 12250\ngemm 64x16x32 fp8 2000\n");
  EXPECT_EQ(times.left_out.at("aten::_flash_attention_forward"), 1);
}

// Two operators, one inside the other: a launch belongs to the inner one. A second process has
// launches with the same numbers.
TEST_F(ImportTest, NsightKernelsBelongToTheInnermostRange) {
  const std::string path = dir_.path() + "/report.sqlite";
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
  const char* sql =
      "CREATE TABLE StringIds(id INTEGER, value TEXT);"
      "CREATE TABLE NVTX_EVENTS(start INTEGER, end INTEGER, text TEXT, textId INTEGER, globalTid "
      "INTEGER);"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INTEGER, end INTEGER, correlationId INTEGER, "
      "globalTid INTEGER);"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INTEGER, end INTEGER, correlationId INTEGER, "
      "globalPid INTEGER);"
      "INSERT INTO StringIds VALUES (5, 'aten::mm, op_id = 4, sizes = [[8, 32], [32, 64]]');"
      "INSERT INTO NVTX_EVENTS VALUES (100, 500, 'aten::linear, op_id = 3, sizes = [[8, 32], [64, "
      "32]]', NULL, 1), (150, 400, NULL, 5, 1), (410, 420, 'aten::relu, op_id = 5, sizes = [[8]]', "
      "NULL, 1), (0, 9000, 'step', NULL, 1), (100, 500, 'aten::gelu, op_id = 3, sizes = [[8, "
      "32]]', "
      "NULL, 83886081);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (200, 210, 11, 1), (411, 412, 12, 1), (600, "
      "601, 13, 1), (200, 201, 14, 2), (200, 210, 11, 83886081);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1000, 43500, 11, 0), (44000, 45000, 12, 0), "
      "(50000, "
      "50001, 13, 0), (60000, 60001, 14, 0), (1000, 8000, 11, 83886080);";
  ASSERT_EQ(sqlite3_exec(database, sql, nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(database);
  const ImportedTimes times = *ReadNsys(path, {});
  EXPECT_EQ(Rows(times), "gemm 8x64x32 bf16 42500\ngelu 8x32 bf16 7000\n");
  EXPECT_EQ(times.left_out.at("aten::relu"), 1);
  EXPECT_EQ(times.left_out.at("kernel without an operator"), 2);
  EXPECT_NE(ErrorOf(ReadNsys(Write("n.sqlite", "no database, but text that is long enough"), {}))
                .find("not an export of Nsight Systems"),
            std::string::npos);
}

// If a kernel has no time, the time of its operator is unknown, not smaller.
TEST_F(ImportTest, KinetoKernelsWithoutADurationAreCounted) {
  const std::string op = R"({"cat": "cpu_op", "name": "aten::mm", "args": {"External id": 7,
    "Input Dims": [[8, 32], [32, 64]], "Input type": ["c10::Half", "c10::Half"]}})";
  for (const std::string duration : {R"("dur": -5,)", R"("dur": "5",)", R"("dur": 0,)", ""}) {
    const ImportedTimes times = *ReadKineto(
        Write("d.json", R"({"traceEvents": [)" + op + R"(, {"cat": "kernel", )" + duration +
                            R"("args": {"External id": 7}}, {"cat": "kernel", "dur": 3,
                            "args": {"External id": 7}}, {"cat": "kernel", "dur": 3,
                            "args": {"External id": "7"}}]})"),
        {});
    EXPECT_EQ(Rows(times), "");
    EXPECT_EQ(times.left_out.at("kernel without a duration"), 1);
    EXPECT_EQ(times.left_out.at("kernel without an operator"), 1);
    EXPECT_EQ(times.left_out.at("aten::mm"), 1);
  }
}

TEST(TracedOp, RefusesShapesThatDoNotFit) {
  EXPECT_FALSE(KernelOfOp("aten::mm", {{8, 32}, {16, 64}}, DataType::kBf16, false).has_value());
  EXPECT_FALSE(KernelOfOp("aten::mm", {{8, 0}, {0, 64}}, DataType::kBf16, false).has_value());
  EXPECT_FALSE(KernelOfOp("aten::mm", {{8, 32}}, DataType::kBf16, false).has_value());
  EXPECT_TRUE(KernelOfOp("aten::gelu", {{1 << 20, 1 << 20, 8}}, DataType::kBf16, false));
  EXPECT_FALSE(KernelOfOp("aten::gelu", {{1 << 20, 1 << 21, 8}}, DataType::kBf16, false));
  EXPECT_FALSE(ParseShapes("[[1, 2").has_value());
  EXPECT_FALSE(ParseShapes("[[1, -2]]").has_value());
  EXPECT_EQ(ParseShapes("[[1, 2], [], [3]], more")->size(), 3u);
}

}  // namespace
}  // namespace drydock
