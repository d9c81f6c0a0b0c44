// Compares libhacknccl.so, where one real rank represents all ranks, with libhacknccl_oracle.so,
// where all ranks are real. Prints a line for each case and every difference; a difference fails
// the test.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>

#include "tests/oracle/cases.h"
#include "tests/oracle/ranks.h"

namespace drydock {
namespace {

constexpr int kShownDifferences = 12;

struct Comparison {
  size_t lines = 0;
  int differences = 0;
};

void Show(int rank, const std::string& real, const std::string& solo) {
  fmt::print("  rank {}\n    itself: {}\n    solo:   {}\n", rank, real, solo);
}

Comparison Compare(const std::vector<Lines>& real, const std::vector<Lines>& solo) {
  Comparison result;
  for (size_t r = 0; r < real.size(); ++r) {
    const size_t lines = std::max(real[r].size(), solo[r].size());
    result.lines += lines;
    for (size_t i = 0; i < lines; ++i) {
      const std::string a = i < real[r].size() ? real[r][i] : "(nothing)";
      const std::string b = i < solo[r].size() ? solo[r][i] : "(nothing)";
      if (a == b) continue;
      if (result.differences++ < kShownDifferences) Show(static_cast<int>(r), a, b);
    }
  }
  return result;
}

Result<Comparison> Run(const OracleCase& of, bool full) {
  ASSIGN_OR_RETURN(const std::vector<Lines> real, RealRanks(of, full));
  ASSIGN_OR_RETURN(const std::vector<Lines> solo, SoloRanks(of, full, real));
  return Compare(real, solo);
}

// Returns false if the sides differ or a side fails.
bool RunAndTell(const OracleCase& of, bool full) {
  const auto start = std::chrono::steady_clock::now();
  const Result<Comparison> result = Run(of, full);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (!result.ok()) {
    fmt::print("{:60} FAILED: {}\n", of.name, result.error().message());
    return false;
  }
  fmt::print("{:60} {:2} ranks, {:7} lines, {} differ, {:.1f} s\n", of.name, of.ranks(),
             result->lines, result->differences, seconds);
  return result->differences == 0;
}

int Main(int argc, char** argv) {
  CLI::App app("Compares all ranks real with one real rank that represents all", "oracle");
  bool full = false;
  std::string only;
  app.add_flag("--full", full, "The whole matrix");
  app.add_option("--only", only, "Only cases whose names contain this text");
  CLI11_PARSE(app, argc, argv);
  const Result<std::vector<OracleCase>> cases = OracleCases(full);
  if (!cases.ok()) {
    fmt::print(stderr, "{}\n", cases.error().ToString());
    return 1;
  }
  bool good = true;
  int ran = 0;
  for (const OracleCase& of : *cases) {
    if (of.name.find(only) == std::string::npos) continue;
    good = RunAndTell(of, full) && good;
    std::fflush(stdout);
    ++ran;
  }
  if (ran == 0) fmt::print(stderr, "no case's name contains '{}'\n", only);
  return good && ran > 0 ? 0 : 1;
}

}  // namespace
}  // namespace drydock

int main(int argc, char** argv) { return drydock::Main(argc, argv); }
