// libhacknccl.so at run time: found, loaded, and wrapped in owners that close what they opened.
//
//   NcclLibrary ── NcclWorld (host classes, settings) ── NcclCommunicator (ranks at places)
//
// Each keeps alive what it stands on. Thread-safe as the C interface says (hacknccl.h): calls are
// serialised inside the library.
#ifndef DRYDOCK_CORE_NCCL_NCCL_LIBRARY_H_
#define DRYDOCK_CORE_NCCL_NCCL_LIBRARY_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/nccl/hacknccl.h"
#include "core/nccl/topology_xml.h"

namespace drydock {

class NcclLibrary {
 public:
  // The file that Load would load: `path`; if empty, libhacknccl.so beside the executable if there
  // is one, else where set-up builds it.
  static std::string Find(const std::string& path = {});
  // The error says what was tried and why it failed.
  static Result<std::shared_ptr<NcclLibrary>> Load(const std::string& path = {});
  ~NcclLibrary();
  NcclLibrary(const NcclLibrary&) = delete;
  NcclLibrary& operator=(const NcclLibrary&) = delete;

  const hacknccl_api& api() const { return *api_; }
  const std::string& path() const { return path_; }

 private:
  NcclLibrary(std::string path, void* handle, const hacknccl_api* api)
      : path_(std::move(path)), handle_(handle), api_(api) {}
  std::string path_;
  void* handle_;
  const hacknccl_api* api_;
};

// What a call would launch: hacknccl_plan, owning its parts.
struct NcclPlan {
  int kind = HACKNCCL_PLAN_KERNEL;
  int kernels = 0;
  int threads = 0;
  std::string symmetric_kernel;
  std::vector<hacknccl_collective> collectives;
  std::vector<hacknccl_exchange> exchanges;
  std::vector<hacknccl_broadcast> broadcasts;
  std::vector<hacknccl_proxy_op> proxy_ops;
  std::vector<hacknccl_batch> batches;
  std::vector<uint32_t> batch_works;
  std::vector<hacknccl_decision> decisions;
};

// Copies what `plan` points to.
NcclPlan OwnedPlan(const hacknccl_plan& plan);

// A communicator's configuration in which nothing is set.
hacknccl_config UnsetConfig();

// A message of `bytes` bytes to or from a rank, as a call of the C interface.
hacknccl_call SendTo(int peer, int64_t bytes, int buffers = HACKNCCL_BUFFERS_PLAIN);
hacknccl_call ReceiveFrom(int peer, int64_t bytes, int buffers = HACKNCCL_BUFFERS_PLAIN);

class NcclCommunicator {
 public:
  NcclCommunicator(NcclCommunicator&& other) noexcept;
  NcclCommunicator& operator=(NcclCommunicator&&) = delete;
  ~NcclCommunicator();

  const hacknccl_shape& shape() const { return shape_; }
  // By rank: which of the hosts that NCCL makes of its GPUs, as hacknccl_api::hosts says.
  const std::vector<int>& hosts() const { return hosts_; }
  // Channels must be within shape().
  std::vector<int> Ring(int channel) const;
  std::vector<hacknccl_tree> Tree(int channel) const;
  std::vector<hacknccl_nvls> Nvls(int channel) const;
  Result<std::vector<hacknccl_collnet>> CollNet(int channel) const;
  // `graph`: HACKNCCL_GRAPH_*. from and to are different ranks.
  Result<hacknccl_link> Link(int graph, int channel, int from, int to) const;
  // What rank 0 would launch for one call that every rank makes.
  Result<NcclPlan> Collective(const hacknccl_call& call) const { return Launch(0, {call}); }
  // What `rank` would launch for calls that it makes in one group.
  Result<NcclPlan> Launch(int rank, const std::vector<hacknccl_call>& calls) const;
  // ncclCommSplit: the ranks whose color is `color`, by key. ncclCommShrink: all but `excluded`. A
  // config that is null is this communicator's.
  Result<NcclCommunicator> Split(const std::vector<int32_t>& colors,
                                 const std::vector<int32_t>& keys, int32_t color,
                                 const hacknccl_config* config = nullptr) const;
  Result<NcclCommunicator> Shrink(const std::vector<int32_t>& excluded,
                                  const hacknccl_config* config = nullptr) const;
  // `work` is a PAT collective this communicator chose.
  Result<std::vector<hacknccl_pat_step>> Pat(const hacknccl_collective& work, int rank,
                                             int channel) const;

 private:
  friend class NcclWorld;
  NcclCommunicator(std::shared_ptr<hacknccl_world> world, std::shared_ptr<NcclLibrary> library,
                   hacknccl_communicator* communicator);
  Result<NcclCommunicator> Child(hacknccl_communicator* created) const;
  const hacknccl_api& api() const { return library_->api(); }

  std::shared_ptr<NcclLibrary> library_;
  std::shared_ptr<hacknccl_world> world_;
  hacknccl_communicator* communicator_;
  hacknccl_shape shape_ = {};
  std::vector<int> hosts_;
};

class NcclWorld {
 public:
  // The settings are NCCL's own ("NCCL_ALGO"); they hold for the library's whole life.
  static Result<NcclWorld> Create(std::shared_ptr<NcclLibrary> library,
                                  const std::vector<NcclHost>& host_classes,
                                  const std::vector<std::pair<std::string, std::string>>& settings);

  Result<NcclCommunicator> CreateCommunicator(const std::vector<hacknccl_place>& ranks,
                                              const hacknccl_config* config = nullptr) const;

 private:
  std::shared_ptr<NcclLibrary> library_;
  std::shared_ptr<hacknccl_world> world_;
};

}  // namespace drydock

#endif  // DRYDOCK_CORE_NCCL_NCCL_LIBRARY_H_
