// Loads libhacknccl.so at run time and wraps its handles in owners.
//
//   NcclLibrary ── NcclWorld (host classes, settings) ── NcclCommunicator (ranks at places)
//
// Each object keeps the objects to its left alive. Thread-safe as the C interface says
// (hacknccl.h): the library serializes calls.
#ifndef DRYDOCK_CORE_NCCL_NCCL_LIBRARY_H_
#define DRYDOCK_CORE_NCCL_NCCL_LIBRARY_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/nccl/hacknccl.h"
#include "core/nccl/hacknccl_owned_plan.h"
#include "core/nccl/topology_xml.h"

namespace drydock {

class NcclLibrary {
 public:
  // Returns the file that Load loads: `path`, or if `path` is empty, the libhacknccl.so of this
  // Drydock (core/base/installation.h), not one that happens to lie beside the executable.
  static std::string Find(const std::string& path = {});
  // The error names the file and the reason.
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

// Returns a communicator's configuration in which nothing is set.
hacknccl_config UnsetConfig();

// Return the call of a message of `bytes` bytes to or from a rank.
hacknccl_call SendTo(int peer, int64_t bytes, int buffers = HACKNCCL_BUFFERS_PLAIN);
hacknccl_call ReceiveFrom(int peer, int64_t bytes, int buffers = HACKNCCL_BUFFERS_PLAIN);

class NcclCommunicator {
 public:
  NcclCommunicator(NcclCommunicator&& other) noexcept;
  NcclCommunicator& operator=(NcclCommunicator&&) = delete;
  ~NcclCommunicator();

  const hacknccl_shape& shape() const { return shape_; }
  // Returns the host of each rank, as hacknccl_api::hosts counts hosts.
  const std::vector<int>& hosts() const { return hosts_; }
  // REQUIRES: channels are within shape().
  std::vector<int> Ring(int channel) const;
  std::vector<hacknccl_tree> Tree(int channel) const;
  std::vector<hacknccl_nvls> Nvls(int channel) const;
  Result<std::vector<hacknccl_collnet>> CollNet(int channel) const;
  // `graph` is one of HACKNCCL_GRAPH_*. REQUIRES: `from` and `to` differ.
  Result<hacknccl_link> Link(int graph, int channel, int from, int to) const;
  // Returns what rank 0 would launch for one call that every rank makes.
  Result<NcclPlan> Collective(const hacknccl_call& call) const { return Launch(0, {call}); }
  // Returns what `rank` would launch for calls that it makes in one group.
  Result<NcclPlan> Launch(int rank, const std::vector<hacknccl_call>& calls) const;
  // ncclCommSplit: the ranks whose color is `color`, sorted by key. ncclCommShrink: all ranks
  // except `excluded`. If `config` is null, the part has this communicator's configuration.
  Result<NcclCommunicator> Split(const std::vector<int32_t>& colors,
                                 const std::vector<int32_t>& keys, int32_t color,
                                 const hacknccl_config* config = nullptr) const;
  Result<NcclCommunicator> Shrink(const std::vector<int32_t>& excluded,
                                  const hacknccl_config* config = nullptr) const;
  // Returns the steps of a PAT collective. REQUIRES: this communicator chose `work`.
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
  // `settings` are NCCL's own ("NCCL_ALGO"). They hold for the life of the library.
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
