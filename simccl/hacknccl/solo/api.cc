// The exported table of core/nccl/hacknccl.h. Every function locks, checks its arguments, and
// stores the reason of a failure for last_error().
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/nccl/hacknccl.h"
#include "nccl.h"
#include "simccl/hacknccl/cluster/layout.h"
#include "simccl/hacknccl/cluster/world.h"
#include "simccl/hacknccl/communicator/describe.h"
#include "simccl/hacknccl/machine/fake_memory.h"
#include "simccl/hacknccl/settings/setting_rules.h"
#include "simccl/hacknccl/solo/communicator.h"

struct hacknccl_world {
  std::vector<drydock::HostClass> classes;
};
struct hacknccl_communicator {
  std::shared_ptr<drydock::Communicator> implementation;  // shared with its children
};

namespace {

static_assert(HACKNCCL_BFLOAT16 == static_cast<int>(ncclBfloat16));
static_assert(HACKNCCL_FLOAT8_E5M2 == static_cast<int>(ncclFloat8e5m2));
static_assert(HACKNCCL_AVG == static_cast<int>(ncclAvg));

std::mutex mutex;

// The reason of the calling thread's last failure. A plain buffer: a thread-local object with a
// destructor would keep the library loaded after its last user closed it.
class LastErrorText {
 public:
  LastErrorText& operator=(const std::string& text) {
    const size_t bytes = text.copy(text_, sizeof text_ - 1);
    text_[bytes] = '\0';
    return *this;
  }
  void clear() { text_[0] = '\0'; }
  bool empty() const { return text_[0] == '\0'; }
  const char* c_str() const { return text_; }

 private:
  char text_[4096];
};
thread_local LastErrorText error;

const char* LastError() { return error.c_str(); }

int32_t CheckSetting(const char* name, const char* value) {
  const std::lock_guard<std::mutex> lock(mutex);
  error = drydock::CheckSetting(name, value);
  return error.empty() ? 0 : 1;
}

hacknccl_world* CreateWorld(const hacknccl_host_class* classes, size_t class_count,
                            const hacknccl_setting* settings, size_t setting_count) {
  const std::lock_guard<std::mutex> lock(mutex);
  auto world = std::make_unique<hacknccl_world>();
  error = drydock::OpenWorld(classes, class_count, settings, setting_count, &world->classes);
  return error.empty() ? world.release() : nullptr;
}

void DestroyWorld(hacknccl_world* world) { delete world; }

hacknccl_communicator* Start(const std::vector<drydock::HostClass>* classes,
                             const std::vector<hacknccl_place>& places, drydock::Origin origin) {
  auto communicator = std::make_unique<hacknccl_communicator>();
  communicator->implementation =
      std::make_shared<drydock::Communicator>(classes, places, std::move(origin));
  error = communicator->implementation->Start();
  return error.empty() ? communicator.release() : nullptr;
}

std::optional<hacknccl_config> Given(const hacknccl_config* config) {
  return config == nullptr ? std::nullopt : std::optional<hacknccl_config>(*config);
}

hacknccl_communicator* CreateCommunicator(hacknccl_world* world, const hacknccl_place* ranks,
                                          size_t rank_count, const hacknccl_config* config) {
  const std::lock_guard<std::mutex> lock(mutex);
  const std::vector<hacknccl_place> places(ranks, ranks + rank_count);
  error = drydock::CheckPlaces(world->classes, places);
  if (!error.empty()) return nullptr;
  return Start(&world->classes, places, {Given(config), nullptr, {}, {}, {}});
}

// Starts the part of the parent that has the ranks origin.parent_ranks.
hacknccl_communicator* StartChild(hacknccl_communicator* parent, drydock::Origin origin) {
  origin.parent = parent->implementation;
  std::vector<hacknccl_place> places;
  for (const int rank : origin.parent_ranks) {
    places.push_back(origin.parent->layout().places[static_cast<size_t>(rank)]);
  }
  const std::vector<drydock::HostClass>* classes = origin.parent->classes();
  return Start(classes, places, std::move(origin));
}

hacknccl_communicator* SplitCommunicator(hacknccl_communicator* parent, const int32_t* colors,
                                         const int32_t* keys, int32_t color,
                                         const hacknccl_config* config) {
  const std::lock_guard<std::mutex> lock(mutex);
  drydock::Origin origin = {Given(config), nullptr, {}, {}, {}};
  for (int r = 0; r < parent->implementation->layout().ranks(); ++r) {
    origin.split.push_back({keys[r], colors[r]});
  }
  origin.parent_ranks = drydock::RanksOfColor(origin.split, color);
  error.clear();
  if (color < 0 || origin.parent_ranks.empty()) {
    error = "no rank has the color " + std::to_string(color);
    return nullptr;
  }
  return StartChild(parent, std::move(origin));
}

hacknccl_communicator* ShrinkCommunicator(hacknccl_communicator* parent, const int32_t* excluded,
                                          size_t excluded_count, const hacknccl_config* config) {
  const std::lock_guard<std::mutex> lock(mutex);
  const auto ranks = static_cast<size_t>(parent->implementation->layout().ranks());
  std::vector<bool> stays(ranks, true);
  error.clear();
  for (size_t i = 0; i < excluded_count && error.empty(); ++i) {
    const auto rank = static_cast<size_t>(excluded[i]);
    if (rank >= ranks || !stays[rank]) {
      error = "rank " + std::to_string(excluded[i]) +
              (rank >= ranks ? " is not in the communicator" : " is excluded twice");
    } else {
      stays[rank] = false;
    }
  }
  if (error.empty() && (excluded_count == 0 || excluded_count == ranks)) {
    error = "a shrink leaves out at least one rank and keeps at least one";
  }
  if (!error.empty()) return nullptr;
  drydock::Origin origin = {Given(config), nullptr, {}, {}, {excluded, excluded + excluded_count}};
  for (size_t r = 0; r < ranks; ++r) {
    if (stays[r]) origin.parent_ranks.push_back(static_cast<int>(r));
  }
  return StartChild(parent, std::move(origin));
}

void DestroyCommunicator(hacknccl_communicator* communicator) {
  const std::lock_guard<std::mutex> lock(mutex);
  delete communicator;
}

int32_t Shape(hacknccl_communicator* communicator, hacknccl_shape* out) {
  const std::lock_guard<std::mutex> lock(mutex);
  error.clear();
  *out = communicator->implementation->shape();
  return 0;
}

int32_t Hosts(hacknccl_communicator* communicator, int32_t* out) {
  const std::lock_guard<std::mutex> lock(mutex);
  error.clear();
  const std::vector<int>& hosts = communicator->implementation->layout().host_of_rank;
  std::copy(hosts.begin(), hosts.end(), out);
  return 0;
}

bool ChannelIsIn(int32_t channel, int32_t channels, const char* what) {
  error.clear();
  if (channel >= 0 && channel < channels) return true;
  error = std::string("there is no ") + what + " channel " + std::to_string(channel);
  return false;
}

int32_t Ring(hacknccl_communicator* communicator, int32_t channel, int32_t* out) {
  const std::lock_guard<std::mutex> lock(mutex);
  const auto& comm = *communicator->implementation;
  if (!ChannelIsIn(channel, comm.shape().ring_channels, "ring")) return 1;
  const std::vector<int> order = comm.Ring(channel);
  std::copy(order.begin(), order.end(), out);
  return 0;
}

int32_t Tree(hacknccl_communicator* communicator, int32_t channel, hacknccl_tree* out) {
  const std::lock_guard<std::mutex> lock(mutex);
  const auto& comm = *communicator->implementation;
  if (!ChannelIsIn(channel, comm.shape().ring_channels, "tree")) return 1;
  const auto& trees = comm.trees()[static_cast<size_t>(channel)];
  std::copy(trees.begin(), trees.end(), out);
  return 0;
}

int32_t Nvls(hacknccl_communicator* communicator, int32_t channel, hacknccl_nvls* out) {
  const std::lock_guard<std::mutex> lock(mutex);
  const auto& comm = *communicator->implementation;
  if (!ChannelIsIn(channel, comm.shape().nvls_channels, "NVLS")) return 1;
  const auto& nvls = comm.nvls()[static_cast<size_t>(channel)];
  std::copy(nvls.begin(), nvls.end(), out);
  return 0;
}

int32_t CollNet(hacknccl_communicator* communicator, int32_t channel, hacknccl_collnet* out) {
  const std::lock_guard<std::mutex> lock(mutex);
  auto& comm = *communicator->implementation;
  const hacknccl_shape shape = comm.shape();
  if (!ChannelIsIn(channel, shape.collnet_heads > 0 ? shape.ring_channels : 0, "CollNet")) return 1;
  std::vector<hacknccl_collnet> places;
  error = comm.CollNet(channel, &places);
  std::copy(places.begin(), places.end(), out);
  return error.empty() ? 0 : 1;
}

bool RankIsIn(const drydock::Communicator& comm, int32_t rank) {
  error.clear();
  if (rank >= 0 && rank < comm.layout().ranks()) return true;
  error = "there is no rank " + std::to_string(rank);
  return false;
}

int32_t Link(hacknccl_communicator* communicator, int32_t graph, int32_t channel, int32_t from,
             int32_t to, hacknccl_link* out) {
  const std::lock_guard<std::mutex> lock(mutex);
  auto& comm = *communicator->implementation;
  if (!RankIsIn(comm, from) || !RankIsIn(comm, to)) return 1;
  if (comm.KnowsLink(graph, channel, from, to, out)) return 0;
  error = drydock::MissingChannel(comm.shape(), graph, channel);
  if (from == to) error = "a rank has no link to itself";
  if (error.empty()) error = comm.Link(graph, channel, from, to, out);
  return error.empty() ? 0 : 1;
}

int32_t Launch(hacknccl_communicator* communicator, int32_t rank, const hacknccl_call* calls,
               size_t call_count, hacknccl_plan* out) {
  const std::lock_guard<std::mutex> lock(mutex);
  auto& comm = *communicator->implementation;
  if (!RankIsIn(comm, rank)) return 1;
  const drydock::NcclPlan* plan = nullptr;
  error = comm.Launch(rank, {calls, calls + call_count}, &plan);
  if (!error.empty()) return 1;
  *out = drydock::ViewOf(*plan);
  return 0;
}

int32_t Pat(hacknccl_communicator* communicator, const hacknccl_collective* work, int32_t rank,
            int32_t channel, const hacknccl_pat_step** out, size_t* count) {
  const std::lock_guard<std::mutex> lock(mutex);
  auto& comm = *communicator->implementation;
  if (!RankIsIn(comm, rank) || !ChannelIsIn(channel, comm.shape().ring_channels, "PAT")) {
    return 1;
  }
  error = comm.Pat(*work, rank, channel);
  *out = comm.pat_steps().data();
  *count = comm.pat_steps().size();
  return error.empty() ? 0 : 1;
}

int64_t MemoryInUse() { return drydock::FakeMemoryInUse(); }

const hacknccl_api& Api() {
  const auto& infos = drydock::SettingInfos();
  static const hacknccl_api api = {HACKNCCL_ABI_VERSION,
                                   "2.29.7",
                                   LastError,
                                   infos.data(),
                                   infos.size(),
                                   CheckSetting,
                                   CreateWorld,
                                   DestroyWorld,
                                   CreateCommunicator,
                                   SplitCommunicator,
                                   ShrinkCommunicator,
                                   DestroyCommunicator,
                                   Shape,
                                   Hosts,
                                   Ring,
                                   Tree,
                                   Nvls,
                                   CollNet,
                                   Link,
                                   Launch,
                                   Pat,
                                   MemoryInUse};
  return api;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const hacknccl_api* hacknccl_get_api(
    uint32_t abi_version) {
  return abi_version == HACKNCCL_ABI_VERSION ? &Api() : nullptr;
}
