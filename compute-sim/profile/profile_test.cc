// "Are measured rows read as written, found by their extents, and joined correctly?"
#include "compute-sim/profile/profile.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/base/files.h"

namespace drydock {
namespace {

constexpr const char* kHeader =
    "# gpu: a100-sxm-80g\n# provenance: a test\n# method: none\n# date: never\n";

Result<Profile> Parse(const std::string& rest, const std::string& header = kHeader) {
  return ParseProfile(header + rest, "p.csv");
}

std::string ErrorOf(const Result<Profile>& result) {
  return result.ok() ? "no error" : result.error().ToString();
}

TEST(Profile, RowsAreFoundByAllTheirExtents) {
  const Profile p = *Parse(
      "kernel,dtype,m,n,k,time\ngemm,fp16,64,128,256,10 us\n"
      "gemm,bf16,64,128,256,11.5 us\n");
  EXPECT_EQ(p.gpu, "a100-sxm-80g");
  ASSERT_TRUE(FindRow(p, Gemm(DataType::kFp16, 64, 128, 256)).has_value());
  EXPECT_EQ(FindRow(p, Gemm(DataType::kFp16, 64, 128, 256))->time(), Time::Us(10));
  EXPECT_EQ(FindRow(p, Gemm(DataType::kBf16, 64, 128, 256))->time(), Time::Ns(11500));
  EXPECT_FALSE(FindRow(p, Gemm(DataType::kFp16, 64, 128, 257)).has_value());
  EXPECT_FALSE(FindRow(p, GemmAccumulate(DataType::kFp16, 64, 128, 256)).has_value());
}

TEST(Profile, RowsOfAccumulatingGemmsAddIntoFp32) {
  const Profile p = *Parse(
      "kernel,dtype,groups,m,n,k,time\ngemm-accumulate,bf16,,64,128,256,10 us\n"
      "grouped-gemm-accumulate,bf16,4,64,128,256,30 us\n");
  ASSERT_EQ(p.tables.size(), 2u);
  for (const ProfileTable& table : p.tables) {
    const Kernel kernel = RowRef{&table, 0}.kernel();
    EXPECT_EQ(kernel.main_gradient, 4);
    EXPECT_TRUE(FindRow(p, kernel).has_value());
  }
  EXPECT_EQ(RowRef({&p.tables[0], 0}).kernel().bytes,
            GemmAccumulate(DataType::kBf16, 64, 128, 256).bytes);
  EXPECT_FALSE(FindRow(p, GemmAccumulate(DataType::kBf16, 64, 128, 256, 2)).has_value());
}

TEST(Profile, EveryKernelHasItsOwnExtents) {
  const Profile p = *Parse(
      "kernel, dtype, m,n,k, rows,columns, batch,sequence,heads,kv_heads,head_dim,causal, time\n"
      "gemm,fp16,1,2,3,,,,,,,,,1 us\n"
      "attention-forward,bf16,,,,,,1,2048,8,8,128,1,50 us\n"
      "layer-norm,fp16,,,,4096,1024,,,,,,,7 us\n");
  const AttentionShape shape{1, 2048, 8, 8, 128, true};
  EXPECT_TRUE(
      FindRow(p, Attention(KernelKind::kAttentionForward, DataType::kBf16, shape)).has_value());
  const Kernel norm = MemoryKernel(KernelKind::kLayerNorm, DataType::kFp16, 4096, 1024, 4);
  ASSERT_TRUE(FindRow(p, norm).has_value());
  EXPECT_EQ(FindRow(p, norm)->line(), 8);
}

// A softmax with a 16-bit result and a softmax with a 32-bit result have the same extents, but are
// different kernels.
TEST(Profile, RowsOfOtherOperandsAreNotFound) {
  const auto of = [](KernelKind kind, double bytes, int64_t rows = 4096) {
    return MemoryKernel(kind, DataType::kBf16, rows, 256, bytes);
  };
  const Profile p = *Parse(
      "kernel,dtype,rows,columns,bytes,time\nsoftmax,bf16,4096,256,,7 us\n"
      "softmax,bf16,4096,256,6,9 us\nfill,bf16,4096,256,,3 us\nelementwise,bf16,2048,256,8,1 us\n"
      "elementwise,bf16,8192,256,8,4 us\nrow-map,bf16,4096,256,5,2 us\n"
      "permute,bf16,4096,256,2.667,5 us\n");
  EXPECT_EQ(FindRow(p, of(KernelKind::kSoftmax, 4))->time(), Time::Us(7));
  EXPECT_EQ(FindRow(p, of(KernelKind::kSoftmax, 6))->time(), Time::Us(9));
  EXPECT_FALSE(FindRow(p, of(KernelKind::kSoftmax, 8)).has_value());
  EXPECT_TRUE(FindRow(p, of(KernelKind::kFill, 2)).has_value());
  EXPECT_FALSE(FindRow(p, of(KernelKind::kFill, 3)).has_value());
  EXPECT_TRUE(FindEnclosingPair(p, of(KernelKind::kElementwise, 8)).has_value());
  EXPECT_FALSE(FindEnclosingPair(p, of(KernelKind::kElementwise, 4)).has_value());
  EXPECT_FALSE(FindNearest(p, of(KernelKind::kElementwise, 4)).has_value());
  EXPECT_TRUE(FindEnclosing(p, of(KernelKind::kElementwise, 4)).empty());
  EXPECT_TRUE(FindRow(p, of(KernelKind::kRowMap, 5)).has_value());
  EXPECT_FALSE(FindRow(p, of(KernelKind::kRowMap, 8)).has_value());
  EXPECT_TRUE(FindRow(p, of(KernelKind::kPermute, 2 + 2 / 3.0)).has_value());
}

TEST(Profile, BytesAreValidForMemoryBoundKernelsOnly) {
  const auto error = [](const std::string& row) {
    return ErrorOf(Parse("kernel,dtype,m,n,k,rows,columns,bytes,time\n" + row + ",2 us\n"));
  };
  EXPECT_EQ(error("row-map,bf16,,,,64,64,").substr(0, 108),
            "p.csv:6:23: error: a row-map needs 'bytes', what it moves for each element of rows x "
            "columns: its extents do");
  EXPECT_EQ(error("add,bf16,,,,64,64,6"), "no error");
  EXPECT_EQ(
      error("add,bf16,,,,64,64,6 B").substr(0, 84),
      "p.csv:6:19: error: expected a number from 0.001 to 1000000 for 'bytes', found '6 B'\n");
  EXPECT_EQ(error("add,bf16,,,,64,64,0").substr(0, 12), "p.csv:6:19: ");
  EXPECT_EQ(error("gemm,bf16,1,2,3,,,4").substr(0, 56),
            "p.csv:6:19: error: a gemm has no 'bytes'; its extents ar");
  // A row that states the usual traffic and a row without traffic are rows of one kernel.
  EXPECT_EQ(error("add,bf16,,,,64,64,6,3 us\nadd,bf16,,,,64,64,"),
            "p.csv:7:1: error: the same kernel and extents as in line 6, but 2 us instead of 3 us");
}

TEST(Profile, EnclosingPairDiffersInOneExtentAndIsTheClosest) {
  const Profile p = *Parse(
      "kernel,dtype,m,n,k,time\ngemm,fp16,1024,512,512,1 us\n"
      "gemm,fp16,4096,512,512,4 us\ngemm,fp16,8192,512,512,9 us\n"
      "gemm,fp16,2048,1024,512,1 us\n");
  const auto pair = FindEnclosingPair(p, Gemm(DataType::kFp16, 2048, 512, 512));
  ASSERT_TRUE(pair.has_value());
  EXPECT_EQ(pair->below.extent(0), 1024);
  EXPECT_EQ(pair->above.extent(0), 4096);
  EXPECT_NEAR(pair->at, 0.5, 1e-12);  // 2048 is the geometric middle
  EXPECT_FALSE(FindEnclosingPair(p, Gemm(DataType::kFp16, 512, 512, 512)).has_value());
  EXPECT_FALSE(FindEnclosingPair(p, Gemm(DataType::kFp16, 2048, 512, 513)).has_value());
}

TEST(Profile, RowsTooFarApartAreNotJoined) {
  const std::string rows =
      "kernel,dtype,m,n,k,time\ngemm,fp16,1024,8,8,1 us\ngemm,fp16,4096,8,8,4 us\n";
  const Kernel between = Gemm(DataType::kFp16, 2000, 8, 8);
  EXPECT_TRUE(FindEnclosingPair(*Parse(rows), between).has_value());
  EXPECT_FALSE(FindEnclosingPair(*Parse("# max-gap: 2\n" + rows), between).has_value());
}

TEST(Profile, UnknownKernelSuggestsTheNearest) {
  EXPECT_EQ(
      ErrorOf(Parse("kernel,dtype,rows,columns,time\nlayernorm,fp16,1,2,3 us\n")).substr(0, 71),
      "p.csv:6:1: error: unknown kernel 'layernorm'; did you mean 'layer-norm'");
}

TEST(Profile, ReportsAllMistakesWithTheirLocations) {
  const auto result = Parse(
      "kernel,dtype,m,n,k,time\n"
      "gemm,fp17,1,2,3,4 us\n"
      "gemm,fp16,1,two,3,4 us\n"
      "gemm,fp16,1,2,3,4\n"
      "gemm,fp16,1,2,3\n"
      "gemm,fp16,1,2,3,0 us\n");
  ASSERT_FALSE(result.ok());
  const auto& all = result.error().diagnostics();
  ASSERT_EQ(all.size(), 5u);
  EXPECT_EQ(
      all[0].message,
      "unknown data type 'fp17'; did you mean 'fp16'?; valid are fp32, tf32, fp16, bf16, "
      "fp8, int8, int32, int64, fp64, fp8-e5m2, uint8, uint32, uint64, fp8-block, mxfp8, nvfp4");
  EXPECT_EQ(all[0].location.column, 6);
  EXPECT_EQ(all[1].ToString(),
            "p.csv:7:13: error: expected a whole number above 0 for 'n', found 'two'\n"
            "  gemm,fp16,1,two,3,4 us\n"
            "              ^");
  EXPECT_EQ(all[2].location.line, 8);
  EXPECT_EQ(all[2].location.column, 17);
  EXPECT_EQ(all[3].message, "expected 6 fields, as in the column line, found 5");
  EXPECT_EQ(all[4].message, "a kernel's time must be above 0 and below an hour");
}

TEST(Profile, RefusesForeignAndMissingExtents) {
  EXPECT_EQ(Parse("kernel,dtype,m,n,k,rows,time\ngemm,fp16,1,2,3,4,5 us\n").error().message(),
            "a gemm has no 'rows'; its extents are m, n, k");
  EXPECT_EQ(Parse("kernel,dtype,m,n,time\ngemm,fp16,1,2,5 us\n").error().message(),
            "a gemm needs the column 'k'");
  EXPECT_EQ(Parse("kernel,dtype,m,n,k,time\ngemm,fp16,1,2,3,5 us\ngemm,fp16,1,2,3,6 us\n")
                .error()
                .ToString(),
            "p.csv:7:1: error: the same kernel and extents as in line 6, but 6 us instead of 5 us");
}

TEST(Profile, RepeatedRowsAreCounted) {
  const Profile p = *Parse(
      "kernel,dtype,m,n,k,time\ngemm,fp16,2,2,3,5 us\ngemm,fp16,1,2,3,5 us\n"
      "gemm,fp16,2,2,3,5000 ns\n");
  EXPECT_EQ(p.repeated, 1);
  EXPECT_EQ(p.row_count(), 2u);
}

TEST(Profile, NegativeTimesAreRefused) {
  EXPECT_EQ(ErrorOf(Parse("kernel,dtype,m,n,k,time\ngemm,fp16,1,2,3,-4 us\n")),
            "p.csv:6:17: error: '-4 us' is negative\n"
            "  gemm,fp16,1,2,3,-4 us\n"
            "                  ^");
}

TEST(Profile, ImpossibleKernelsAreRefused) {
  const auto error = [](const std::string& row) {
    return ErrorOf(
        Parse("kernel,dtype,batch,sequence,heads,kv_heads,head_dim,causal,kv_sequence,"
              "time\nattention-forward,bf16," +
              row + "\n"));
  };
  EXPECT_EQ(error("1,64,8,8,128,1,64,4 us"), "no error");
  EXPECT_EQ(error("1,64,8,8,128,0,32,4 us"), "no error");
  EXPECT_EQ(error("1,64,8,8,128,1,32,4 us").substr(0, 78),
            "p.csv:6:1: error: this attention is causal with 64 queries and only 32 keys\n  ");
  EXPECT_EQ(error("1,64,4,8,128,1,64,4 us").substr(0, 74),
            "p.csv:6:1: error: this attention has 8 heads of keys for 4 of queries\n  at");
  EXPECT_EQ(error("1,64,8,8,128,1,64,3600 s").substr(0, 70),
            "p.csv:6:42: error: a kernel's time must be above 0 and below an hour\n ");
}

TEST(Profile, ByteOrderMarkIsSkipped) {
  EXPECT_TRUE(ParseProfile(std::string("\xef\xbb\xbf") + kHeader +
                               "kernel,dtype,m,n,k,time\ngemm,fp16,1,2,3,4 us\n",
                           "p.csv")
                  .ok());
}

TEST(Profile, RefusesAFirstRowWithoutAKernel) {
  const auto result = Parse("kernel,dtype,m,n,k,time\n,,4096,4096,4096,1 us\n,,1,1,1,1 us\n");
  ASSERT_FALSE(result.ok());
  ASSERT_EQ(result.error().diagnostics().size(), 2u);
  EXPECT_EQ(result.error().diagnostics()[0].message.substr(0, 17), "unknown kernel ''");
  EXPECT_EQ(result.error().diagnostics()[0].location.line, 6);
}

TEST(Profile, ExtentsThatNoGpuHoldsAreRefused) {
  EXPECT_TRUE(Parse("kernel,dtype,m,n,k,time\ngemm,fp16,1,1099511627776,3,4 us\n").ok());
  const auto result = Parse("kernel,dtype,m,n,k,time\ngemm,fp16,1,1099511627777,3,4 us\n");
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().message(),
            "'1099511627777' is too large for 'n': the most is 1099511627776");
  EXPECT_EQ(result.error().diagnostics()[0].location.column, 13);
}

TEST(Profile, ManyMistakesAreCounted) {
  std::string rows = "kernel,dtype,m,n,k,time\n";
  for (int i = 0; i < 1000; ++i) rows += "gemm,fp16,1,2,x,4 us\n";
  const auto result = Parse(rows);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().diagnostics().size(), 51u);
  EXPECT_EQ(result.error().diagnostics().back().message, "and 950 more mistakes like these");
}

TEST(Profile, AttentionMayLeaveOutKeysAndValueWidth) {
  const Profile p = *Parse(
      "kernel,dtype,batch,sequence,heads,kv_heads,head_dim,causal,kv_sequence,value_dim,time\n"
      "attention-forward,bf16,1,2048,8,8,128,1,,,50 us\n"
      "attention-forward,bf16,1,2048,8,8,192,1,4096,128,90 us\n");
  const auto row = [&](const AttentionShape& shape) {
    return FindRow(p, Attention(KernelKind::kAttentionForward, DataType::kBf16, shape));
  };
  EXPECT_TRUE(row({1, 2048, 8, 8, 128, true}).has_value());
  EXPECT_TRUE(row({1, 2048, 8, 8, 192, true, 4096, 128}).has_value());
  EXPECT_FALSE(row({1, 2048, 8, 8, 192, true}).has_value());
}

TEST(Profile, FindsTheNearestRowWithTheSameMask) {
  std::string rows = "kernel,dtype,m,n,k,time\n";
  for (int m = 1; m <= 64; m *= 2) {
    for (int n = 1; n <= 64; n *= 2)
      rows += "gemm,fp16," + std::to_string(m * 16) + "," + std::to_string(n * 16) + ",256,1 us\n";
  }
  const Profile p = *Parse(rows);
  const auto near = FindNearest(p, Gemm(DataType::kFp16, 300, 40, 256));
  ASSERT_TRUE(near.has_value());
  EXPECT_EQ(near->row.extent(0), 256);
  EXPECT_EQ(near->row.extent(1), 32);
  EXPECT_DOUBLE_EQ(near->distance, 1.25);
  EXPECT_DOUBLE_EQ(FindNearest(p, Gemm(DataType::kFp16, 256, 32, 1024))->distance, 4);
  EXPECT_FALSE(FindNearest(p, Gemm(DataType::kBf16, 256, 32, 256)).has_value());
  const auto around = FindEnclosing(p, Gemm(DataType::kFp16, 300, 40, 256));
  EXPECT_EQ(around.size(), kMaxNearRows);
  EXPECT_EQ(around.front().row.line(), near->row.line());
  EXPECT_TRUE(FindEnclosing(p, Gemm(DataType::kFp16, 300, 40, 300)).empty());
  const Profile masked = *Parse(
      "kernel,dtype,batch,sequence,heads,kv_heads,head_dim,causal,time\n"
      "attention-forward,bf16,1,2048,8,8,128,1,50 us\n");
  EXPECT_FALSE(FindNearest(masked, Attention(KernelKind::kAttentionForward, DataType::kBf16,
                                             {1, 2048, 8, 8, 128, false}))
                   .has_value());
}

TEST(Profile, HeaderIsChecked) {
  EXPECT_EQ(
      ErrorOf(ParseProfile("# gpu: x\n# provenance: y\n# date: z\nkernel,dtype,m,time\n", "p.csv")),
      "p.csv: error: a profile needs the header line '# method: ...'");
  EXPECT_EQ(Parse("# max_gap: 2\nkernel,dtype,m,time\n").error().message(),
            "unknown header key 'max_gap'; did you mean 'max-gap'?; valid are gpu, provenance, "
            "method, date, clocks, max-gap, weight, driver, libraries, measured-clock, contains");
  EXPECT_EQ(Parse("# clocks: fast\nkernel,dtype,m,time\n").error().ToString(),
            "p.csv:5:11: error: clocks are 'burst' or 'sustained', not 'fast'\n"
            "  # clocks: fast\n"
            "            ^");
  EXPECT_EQ(ErrorOf(Parse("kernel,dtyp,m,time\n")).substr(0, 64),
            "p.csv:5:8: error: unknown column 'dtyp'; did you mean 'dtype'?; ");
  EXPECT_EQ(ErrorOf(Parse("")),
            "p.csv: error: a profile needs a column line like 'kernel,dtype,m,n,k,time'");
}

TEST(Profile, ShippedProfilesAreValid) {
  for (const char* gpu : {"a100-sxm-80g", "h100-sxm-80g"}) {
    const Result<Profile> p = LoadProfile(std::string("configs/profiles/") + gpu + ".csv");
    ASSERT_TRUE(p.ok()) << p.error().ToString();
    EXPECT_EQ(p->gpu, gpu);
    EXPECT_GE(p->row_count(), 40u);
    EXPECT_EQ(p->clocks, KernelParameters::Clocks::kBurst);
  }
}

}  // namespace
}  // namespace drydock
