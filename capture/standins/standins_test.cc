// "Which libraries of CUDA does a program want, and what do its stand-ins do?"
#include "capture/standins/standins.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace drydock::capture {
namespace {

using testing::ElementsAre;

TEST(Standins, LibrariesOfCuda) {
  EXPECT_EQ(CudaLibrary("libcudart.so.12"), "libcudart");
  EXPECT_EQ(CudaLibrary("libcuda.so.1"), "libcuda");
  EXPECT_EQ(CudaLibrary("libnvidia-ml.so.1"), "libnvidia-ml");
  EXPECT_EQ(CudaLibrary("libcublasLt.so.13"), "libcublasLt");
  EXPECT_EQ(CudaLibrary("libcudnn_graph.so.9"), "libcudnn_graph");
  EXPECT_EQ(CudaLibrary("libtorch_cuda.so"), "");
  EXPECT_EQ(CudaLibrary("libcudart.a"), "");
}

// Symbols with a version name their library; the others belong to the library of their prefix.
TEST(Standins, SymbolsAreThoseOfTheirLibrary) {
  WantedSymbols wanted;
  wanted.libraries = {"libc.so.6", "libcudart.so.12", "libcublas.so.12", "libcublasLt.so.12"};
  wanted.symbols = {{"malloc", "libc.so.6", "GLIBC_2.2.5"},
                    {"cudaMalloc", "libcudart.so.12", "libcudart.so.12"},
                    {"__cudaRegisterVar", "", ""},
                    {"cublasLtMatmul", "", ""},
                    {"cublasGemmEx", "", ""},
                    {"cuInit", "", ""}};
  WantedLibraries libraries;
  WantedSymbols other;  // not linked with libcublas.so.12 itself
  other.symbols = {{"cublasCreate_v2", "", ""}};
  AddWanted({other, wanted}, &libraries);
  ASSERT_EQ(libraries.size(), 3u);
  EXPECT_EQ(libraries["libcudart.so.12"].version, "libcudart.so.12");
  EXPECT_THAT(libraries["libcudart.so.12"].symbols, ElementsAre("__cudaRegisterVar", "cudaMalloc"));
  EXPECT_THAT(libraries["libcublas.so.12"].symbols, ElementsAre("cublasCreate_v2", "cublasGemmEx"));
  EXPECT_THAT(libraries["libcublasLt.so.12"].symbols, ElementsAre("cublasLtMatmul"));
}

TEST(Standins, VersionsOfLibraries) {
  PackageVersions versions = RequiredVersions(
      "Requires-Dist: filelock\n"
      "Requires-Dist: nvidia-cublas-cu12==12.8.4.1; platform_system == \"Linux\"\n"
      "Requires-Dist: nvidia-cudnn-cu12==9.10.2.21; platform_system == \"Linux\"\n"
      "Requires-Dist: nvidia-cusparse==12.6.3.3\n");
  EXPECT_EQ(versions.size(), 3u);
  versions["cuda"] = "12.8";
  EXPECT_EQ(VersionNumber("libcudart", versions), 12080);
  EXPECT_EQ(VersionNumber("libcublasLt", versions), 120804);
  EXPECT_EQ(VersionNumber("libcudnn", versions), 91002);
  EXPECT_EQ(VersionNumber("libcusparse", versions), 12603);
  EXPECT_EQ(VersionNumber("libcublas", {{"cuda", "13.0"}}), 130000);
  EXPECT_EQ(VersionNumber("libcudart", {}), 0);
}

TEST(Standins, AFolderThatIsMissing) {
  const auto found = FindWanted({"/no/such/folder"});
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().ToString(),
            "/no/such/folder: error: cannot be read: No such file or directory");
}

TEST(Standins, PartsOfALibraryHaveOnlyWhatIsAskedOfThem) {
  WantedLibraries libraries;
  AddWanted({{{"libcudnn.so.9", "libcudnn_graph.so.9"},
              {{"cudnnCreate", "", ""}, {"cudnnBackendExecute", "libcudnn_graph.so.9", "v"}}}},
            &libraries);
  EXPECT_THAT(libraries["libcudnn.so.9"].symbols, ElementsAre("cudnnCreate"));
  EXPECT_THAT(libraries["libcudnn_graph.so.9"].symbols, ElementsAre("cudnnBackendExecute"));
}

}  // namespace
}  // namespace drydock::capture
