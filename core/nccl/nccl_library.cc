#include "core/nccl/nccl_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <map>

#include "core/base/check.h"
#include "core/base/installation.h"
#include "core/nccl/host_classes.h"
#include "core/nccl/nccl_settings.h"

// After NCCL is unloaded, LeakSanitizer would report the memory that NCCL never frees.
#ifdef __SANITIZE_ADDRESS__
static bool unloaded = false;
extern "C" int __lsan_is_turned_off() { return unloaded ? 1 : 0; }
#endif

namespace drydock {
namespace {

constexpr const char* kFileName = "libhacknccl.so";

}  // namespace

std::string NcclLibrary::Find(const std::string& path) {
  return path.empty() ? NcclDirectory() + "/" + kFileName : path;
}

Result<std::shared_ptr<NcclLibrary>> NcclLibrary::Load(const std::string& path) {
  const std::string file = Find(path);
  void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* reason = dlerror();
    // The loader's reason begins with the name of the file.
    std::string why = reason == nullptr ? "" : reason;
    if (why.starts_with(file + ": ")) why.erase(0, file.size() + 2);
    return Error(fmt::format("cannot load NCCL: {}; run scripts/setup.sh to build it", why),
                 {file, 0, 0});
  }
  auto get = reinterpret_cast<hacknccl_get_api_function>(dlsym(handle, HACKNCCL_ENTRY));
  const hacknccl_api* api = get == nullptr ? nullptr : get(HACKNCCL_ABI_VERSION);
  if (api == nullptr) {
    dlclose(handle);
    return Error("this is not the libhacknccl.so of this version; run scripts/setup.sh",
                 {file, 0, 0});
  }
  return std::shared_ptr<NcclLibrary>(new NcclLibrary(file, handle, api));
}

NcclLibrary::~NcclLibrary() {
#ifdef __SANITIZE_ADDRESS__
  unloaded = true;
#endif
  dlclose(handle_);
}

NcclCommunicator::NcclCommunicator(std::shared_ptr<hacknccl_world> world,
                                   std::shared_ptr<NcclLibrary> library,
                                   hacknccl_communicator* communicator)
    : library_(std::move(library)), world_(std::move(world)), communicator_(communicator) {
  CHECK(api().shape(communicator_, &shape_) == 0);
  hosts_.resize(static_cast<size_t>(shape_.ranks));
  CHECK(api().hosts(communicator_, hosts_.data()) == 0);
}

NcclCommunicator::NcclCommunicator(NcclCommunicator&& other) noexcept
    : library_(std::move(other.library_)),
      world_(std::move(other.world_)),
      communicator_(std::exchange(other.communicator_, nullptr)),
      shape_(other.shape_),
      hosts_(std::move(other.hosts_)) {}

NcclCommunicator::~NcclCommunicator() {
  if (communicator_ != nullptr) api().communicator_destroy(communicator_);
}

std::vector<int> NcclCommunicator::Ring(int channel) const {
  std::vector<int> order(static_cast<size_t>(shape_.ranks));
  CHECK_NOTE(api().ring(communicator_, channel, order.data()) == 0, api().last_error());
  return order;
}

std::vector<hacknccl_tree> NcclCommunicator::Tree(int channel) const {
  std::vector<hacknccl_tree> tree(static_cast<size_t>(shape_.ranks));
  CHECK_NOTE(api().tree(communicator_, channel, tree.data()) == 0, api().last_error());
  return tree;
}

std::vector<hacknccl_nvls> NcclCommunicator::Nvls(int channel) const {
  std::vector<hacknccl_nvls> nvls(static_cast<size_t>(shape_.ranks));
  CHECK_NOTE(api().nvls(communicator_, channel, nvls.data()) == 0, api().last_error());
  return nvls;
}

Result<std::vector<hacknccl_collnet>> NcclCommunicator::CollNet(int channel) const {
  std::vector<hacknccl_collnet> places(static_cast<size_t>(shape_.ranks));
  if (api().collnet(communicator_, channel, places.data()) == 0) return places;
  return Error(api().last_error());
}

Result<hacknccl_link> NcclCommunicator::Link(int graph, int channel, int from, int to) const {
  hacknccl_link link = {};
  if (api().link(communicator_, graph, channel, from, to, &link) == 0) return link;
  return Error(api().last_error());
}

Result<NcclCommunicator> NcclCommunicator::Child(hacknccl_communicator* created) const {
  if (created == nullptr) return Error(api().last_error());
  return NcclCommunicator(world_, library_, created);
}

Result<NcclCommunicator> NcclCommunicator::Split(const std::vector<int32_t>& colors,
                                                 const std::vector<int32_t>& keys, int32_t color,
                                                 const hacknccl_config* config) const {
  CHECK(colors.size() == hosts_.size() && keys.size() == hosts_.size());
  return Child(api().communicator_split(communicator_, colors.data(), keys.data(), color, config));
}

Result<NcclCommunicator> NcclCommunicator::Shrink(const std::vector<int32_t>& excluded,
                                                  const hacknccl_config* config) const {
  return Child(api().communicator_shrink(communicator_, excluded.data(), excluded.size(), config));
}

hacknccl_config UnsetConfig() {
  hacknccl_config config;
  config.min_ctas = config.max_ctas = config.nvls_ctas = HACKNCCL_UNSET;
  config.cga_cluster_size = config.cta_policy = config.collnet_enable = HACKNCCL_UNSET;
  config.split_share = config.shrink_share = config.channels_per_net_peer = HACKNCCL_UNSET;
  return config;
}

hacknccl_call SendTo(int peer, int64_t bytes, int buffers) {
  return {HACKNCCL_SEND, HACKNCCL_INT8, HACKNCCL_SUM, peer, static_cast<uint64_t>(bytes), 0,
          buffers};
}
hacknccl_call ReceiveFrom(int peer, int64_t bytes, int buffers) {
  return {HACKNCCL_RECV, HACKNCCL_INT8, HACKNCCL_SUM, peer, static_cast<uint64_t>(bytes), 0,
          buffers};
}

Result<NcclPlan> NcclCommunicator::Launch(int rank, const std::vector<hacknccl_call>& calls) const {
  hacknccl_plan plan = {};
  if (api().launch(communicator_, rank, calls.data(), calls.size(), &plan) != 0) {
    return Error(api().last_error());
  }
  return CopyOf(plan);
}

Result<std::vector<hacknccl_pat_step>> NcclCommunicator::Pat(const hacknccl_collective& work,
                                                             int rank, int channel) const {
  const hacknccl_pat_step* steps = nullptr;
  size_t count = 0;
  if (api().pat(communicator_, &work, rank, channel, &steps, &count) != 0) {
    return Error(api().last_error());
  }
  return std::vector<hacknccl_pat_step>(steps, steps + count);
}

Result<NcclWorld> NcclWorld::Create(
    std::shared_ptr<NcclLibrary> library, const std::vector<NcclHost>& host_classes,
    const std::vector<std::pair<std::string, std::string>>& settings) {
  const hacknccl_api& api = library->api();
  const NcclSettingReport report = CheckNcclSettings(api, settings);
  if (!report.problems.empty()) return Error("nccl.settings: " + report.problems.front().message);
  const HostClasses classes(host_classes);
  std::vector<hacknccl_setting> wanted;
  for (const auto& [name, value] : settings) wanted.push_back({name.c_str(), value.c_str()});

  hacknccl_world* created =
      api.world_create(classes.get().data(), classes.get().size(), wanted.data(), wanted.size());
  if (created == nullptr) return Error(api.last_error());
  NcclWorld world;
  world.library_ = library;
  world.world_ = std::shared_ptr<hacknccl_world>(
      created, [library](hacknccl_world* w) { library->api().world_destroy(w); });
  return world;
}

Result<NcclCommunicator> NcclWorld::CreateCommunicator(const std::vector<hacknccl_place>& ranks,
                                                       const hacknccl_config* config) const {
  const hacknccl_api& api = library_->api();
  hacknccl_communicator* created =
      api.communicator_create(world_.get(), ranks.data(), ranks.size(), config);
  if (created == nullptr) return Error(api.last_error());
  return NcclCommunicator(world_, library_, created);
}

}  // namespace drydock
