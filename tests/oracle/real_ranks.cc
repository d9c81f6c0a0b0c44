#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "core/base/check.h"
#include "core/nccl/host_classes.h"
#include "simccl/hacknccl/oracle/oracle.h"
#include "tests/oracle/facts.h"
#include "tests/oracle/ranks.h"

namespace drydock {
namespace {

constexpr std::array kGraphNames = {"ring",    "tree",       "NVLS",
                                    "message", "CollNet up", "CollNet down"};
constexpr const char* kFileName = "libhacknccl_oracle.so";

// Loaded once; the processes of ranks inherit it untouched.
Result<const hacknccl_oracle*> LoadOracle() {
  const std::string solo = NcclLibrary::Find();
  const std::string file = solo.substr(0, solo.rfind('/') + 1) + kFileName;
  void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return Error(fmt::format("cannot load {}; run scripts/setup.sh", file));
  const auto get =
      reinterpret_cast<hacknccl_get_oracle_function>(dlsym(handle, HACKNCCL_ORACLE_ENTRY));
  CHECK(get != nullptr);
  return get();
}

// Removes the parts of a line that concern only memory: whether a connection for messages shares
// its buffers, and which handles map it within an NVLink domain.
std::string Plain(std::string line) {
  if (const size_t at = line.rfind("/Shared"); at != std::string::npos) line.erase(at);
  if (const size_t at = line.rfind("P2P/MNNVL"); at != std::string::npos) {
    line.replace(at, 9, "P2P/CUMEM");
  }
  return line;
}

class RealRank {
 public:
  RealRank(const hacknccl_oracle& oracle, hacknccl_oracle_rank* rank, int number)
      : oracle_(oracle), rank_(rank), number_(number) {}

  void AddShapes(Lines* lines) const {
    hacknccl_shape shape = {};
    CHECK(oracle_.shape(rank_, &shape) == 0);
    AddShape(shape, lines);
    std::vector<int> order(static_cast<size_t>(shape.ranks));
    for (int c = 0; c < shape.ring_channels; ++c) {
      hacknccl_tree tree = {};
      CHECK(oracle_.ring(rank_, c, order.data()) == 0 && oracle_.tree(rank_, c, &tree) == 0);
      AddRing(c, number_, order, lines);
      AddTree(c, tree, lines);
    }
    for (int c = 0; c < shape.nvls_channels; ++c) {
      hacknccl_nvls nvls = {};
      CHECK(oracle_.nvls(rank_, c, &nvls) == 0);
      AddNvls(c, nvls, lines);
    }
    for (int c = 0; shape.collnet_heads > 0 && c < shape.ring_channels; ++c) {
      hacknccl_collnet collnet = {};
      CHECK(oracle_.collnet(rank_, c, &collnet) == 0);
      AddCollNet(c, collnet, lines);
    }
  }

  Status AddStep(const OracleStep& step, Lines* lines) const {
    const std::vector<hacknccl_call> calls = step.calls(number_);
    hacknccl_plan plan = {};
    if (oracle_.launch(rank_, calls.data(), calls.size(), &plan) != 0) {
      return Error(fmt::format("{}: {}", step.name, oracle_.last_error()));
    }
    AddPlan(step.name, CopyOf(plan), lines);
    return OkStatus();
  }

  void AddConnections(Lines* lines) const {
    const hacknccl_oracle_connection* made = nullptr;
    const size_t count = oracle_.connections(rank_, &made);
    for (const hacknccl_oracle_connection& connection : std::span(made, count)) {
      lines->push_back(fmt::format("{} connection: {}",
                                   kGraphNames[static_cast<size_t>(connection.graph)],
                                   Plain(connection.line)));
    }
  }

 private:
  const hacknccl_oracle& oracle_;
  hacknccl_oracle_rank* rank_;
  int number_;
};

// The place of a rank of the whole communicator in its part. `part_ranks` is 0 if the rank is in no
// part.
struct Place {
  int part_ranks = 0;
  int rank = 0;
};

Place PlaceOf(const std::vector<std::vector<int>>& parts, int parent_rank) {
  for (const std::vector<int>& part : parts) {
    const auto found = std::find(part.begin(), part.end(), parent_rank);
    if (found == part.end()) continue;
    return {static_cast<int>(part.size()), static_cast<int>(found - part.begin())};
  }
  return {};
}

// Replaces the communicator by its part if the case splits or shrinks it.
Status Part(const hacknccl_oracle& oracle, const Parting& parting, hacknccl_oracle_rank* rank) {
  int32_t failed = 0;
  if (!parting.colors.empty()) {
    failed = oracle.split(rank, parting.colors.data(), parting.keys.data());
  } else if (!parting.excluded.empty()) {
    failed = oracle.shrink(rank, parting.excluded.data(), parting.excluded.size());
  }
  return failed == 0 ? OkStatus() : Status(Error(oracle.last_error()));
}

}  // namespace

Result<std::vector<Lines>> RealRanks(const OracleCase& of, bool full) {
  ASSIGN_OR_RETURN(const hacknccl_oracle* oracle, LoadOracle());
  const SharedMemory meeting(oracle->meeting_bytes(of.ranks()));
  return RunInProcesses(of.ranks(), [&](int rank, Lines* lines) -> Status {
    const HostClasses classes(of.host_classes);
    std::vector<hacknccl_setting> settings;
    for (const auto& [name, value] : of.settings) settings.push_back({name.c_str(), value.c_str()});
    hacknccl_oracle_rank* joined =
        oracle->join(meeting.get(), classes.get().data(), classes.get().size(), settings.data(),
                     settings.size(), of.places.data(), of.places.size(), rank);
    if (joined == nullptr) return Error(oracle->last_error());
    const Place place = PlaceOf(of.parting.Parts(of.ranks()), rank);
    // Only the remaining ranks call a shrink; all ranks call a split.
    if (place.part_ranks == 0 && of.parting.colors.empty()) return OkStatus();
    RETURN_IF_ERROR(Part(*oracle, of.parting, joined));
    if (place.part_ranks == 0) return OkStatus();
    const std::vector<OracleStep> steps = OracleSteps(of, place.part_ranks, full);
    const RealRank real(*oracle, joined, place.rank);
    real.AddShapes(lines);
    for (const OracleStep& step : steps) RETURN_IF_ERROR(real.AddStep(step, lines));
    real.AddConnections(lines);
    return OkStatus();
  });
}

}  // namespace drydock
