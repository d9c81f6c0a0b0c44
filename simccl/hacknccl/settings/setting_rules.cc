#include "simccl/hacknccl/settings/setting_rules.h"

#include <cstring>

namespace drydock {
namespace {

struct Rule {
  const char* name;  // a trailing '*' matches any ending
  int effect;
  const char* reason;
};

constexpr const char* kFile = "nothing inside NCCL reads or writes files of this machine";
constexpr const char* kPlugin = "plugins are not loaded";
constexpr const char* kHosts = "hosts and their NICs are those of the cluster file";
constexpr const char* kFabric = "the network between hosts is described by the cluster file";
constexpr const char* kStart = "the start of a job is not simulated";
constexpr const char* kLog = "NCCL's log is not written";
constexpr const char* kHost = "threads, memory and CUDA calls of a host are not simulated";
constexpr const char* kGin = "GPU-initiated networking is not supported";
constexpr const char* kGraph = "CUDA graphs are not captured";

constexpr int kDecides = HACKNCCL_SETTING_DECIDES;
constexpr int kIdle = HACKNCCL_SETTING_IDLE, kRefused = HACKNCCL_SETTING_REFUSED;

// The first rule that matches applies. A setting without a rule goes to NCCL.
constexpr Rule kRules[] = {
    {"NCCL_TOPO_FILE", kRefused, "NCCL's view of a host is given by the host's 'nccl_topology'"},
    {"NCCL_CONF_FILE", kRefused, kFile},
    {"NCCL_GRAPH_FILE", kRefused, kFile},
    {"NCCL_GRAPH_DUMP_FILE", kRefused, kFile},
    {"NCCL_TOPO_DUMP_FILE", kRefused, kFile},
    {"NCCL_NET_PLUGIN", kRefused, kPlugin},
    {"NCCL_TUNER_PLUGIN", kRefused, kPlugin},
    {"NCCL_ENV_PLUGIN", kRefused, kPlugin},
    {"NCCL_GIN_PLUGIN", kRefused, kPlugin},
    {"NCCL_PROFILER_PLUGIN", kRefused, kPlugin},
    {"NCCL_HOSTID", kRefused, kHosts},
    {"NCCL_NET", kRefused, kHosts},
    {"NCCL_IB_HCA", kRefused, kHosts},
    {"NCCL_IB_DISABLE", kRefused, kHosts},
    {"NCCL_NET_FORCE_MERGE", kRefused, kHosts},
    {"NCCL_NET_MERGE_LEVEL", kRefused, kHosts},
    {"NCCL_P2P_USE_CUDA_MEMCPY", kRefused, "copies by copy engines are not expanded"},
    {"NCCL_SHM_USE_CUDA_MEMCPY", kRefused, "copies by copy engines are not expanded"},
    {"NCCL_NO_CACHE", kRefused, "settings do not change while a program runs"},
    {"NCCL_IB_QPS_PER_CONNECTION", kDecides, ""},  // of the packet network
    {"NCCL_IB_SPLIT_DATA_ON_QPS", kDecides, ""},
    {"NCCL_IB_*", kIdle, kFabric},
    {"NCCL_GDR_FLUSH_DISABLE", kIdle, kFabric},
    {"NCCL_NET_FORCE_FLUSH", kIdle, kFabric},
    {"NCCL_NET_OPTIONAL_RECV_COMPLETION", kIdle, kFabric},
    {"NCCL_NET_SHARED_*", kIdle, kHost},
    {"NCCL_NET_PLUGIN_REF_COUNT", kIdle, kPlugin},
    {"NCCL_SOCKET_*", kIdle, kStart},
    {"NCCL_NSOCKS_PERTHREAD", kIdle, kStart},
    {"NCCL_OOB_NET_*", kIdle, kStart},
    {"NCCL_COMM_ID", kIdle, kStart},
    {"NCCL_COMM_BLOCKING", kIdle, kStart},
    {"NCCL_UID_STAGGER_*", kIdle, kStart},
    {"NCCL_CONNECT_ROUND_MAX_PEERS", kIdle, kStart},
    {"NCCL_REPORT_CONNECT_PROGRESS", kIdle, kStart},
    {"NCCL_ENABLE_VERSION_CHECK", kIdle, kStart},
    {"NCCL_IPC_USE_ABSTRACT_SOCKET", kIdle, kStart},
    {"NCCL_RAS_*", kIdle, "no process is watched"},
    {"NCCL_DEBUG*", kIdle, kLog},
    {"NCCL_WARN_ENABLE_DEBUG_INFO", kIdle, kLog},
    {"NCCL_TOPO_DUMP_FILE_RANK", kIdle, kFile},
    {"NCCL_GRAPH_DUMP_FILE_RANK", kIdle, kFile},
    {"NCCL_NVTX_DISABLE", kIdle, kLog},
    {"NCCL_CHECK_*", kIdle, kHost},
    {"NCCL_GIN_*", kIdle, kGin},
    {"NCCL_GDAKI_*", kIdle, kGin},
    {"NCCL_RMA_*", kIdle, kGin},
    {"NCCL_NUM_RMA_CTX", kIdle, kGin},
    {"NCCL_GDRCOPY_*", kIdle, kHost},
    {"NCCL_DMABUF_ENABLE", kIdle, kHost},
    {"NCCL_GRAPH_REGISTER", kIdle, kGraph},
    {"NCCL_GRAPH_MIXING_SUPPORT", kIdle, kGraph},
    {"NCCL_GRAPH_HELPER_DISABLE", kIdle, kGraph},
    {"NCCL_CGA_CLUSTER_SIZE", kIdle, kHost},
    {"NCCL_CREATE_THREAD_CONTEXT", kIdle, kHost},
    {"NCCL_CUMEM_HOST_ENABLE", kIdle, kHost},
    {"NCCL_DISABLE_MEM_MANAGER", kIdle, kHost},
    {"NCCL_GROUP_CUDA_STREAM", kIdle, kHost},
    {"NCCL_IGNORE_CPU_AFFINITY", kIdle, kHost},
    {"NCCL_IGNORE_DISABLED_P2P", kIdle, "no peer access is disabled"},
    {"NCCL_L1_SHARED_MEMORY_CARVEOUT", kIdle, kHost},
    {"NCCL_LAUNCH_*", kIdle, kHost},
    {"NCCL_MEM_SYNC_DOMAIN", kIdle, kHost},
    {"NCCL_MULTI_SEGMENT_REGISTER", kIdle, kHost},
    {"NCCL_P2P_DIRECT_DISABLE", kIdle, "every GPU has its own process"},
    {"NCCL_SINGLE_PROC_MEM_REG_ENABLE", kIdle, "every GPU has its own process"},
    {"NCCL_PROGRESS_APPENDOP_FREQ", kIdle, kHost},
    {"NCCL_PROXY_*", kIdle, kHost},
    {"NCCL_SET_*", kIdle, kHost},
    {"NCCL_SHM_LOCALITY", kIdle, kHost},
    {"NCCL_SHM_MEMCPY_MODE", kIdle, kHost},
    {"NCCL_UNPACK_DOUBLE_NCHANNELS", kIdle, "NICs do not unpack"},
    {"NCCL_WIN_STRIDE", kIdle, kHost},
};

const Rule* RuleOf(const char* name) {
  for (const Rule& rule : kRules) {
    const size_t length = strlen(rule.name);
    const bool prefix = rule.name[length - 1] == '*';
    if (prefix ? strncmp(name, rule.name, length - 1) == 0 : strcmp(name, rule.name) == 0) {
      return &rule;
    }
  }
  return nullptr;
}

}  // namespace

const std::vector<hacknccl_setting_info>& SettingInfos() {
  static const std::vector<hacknccl_setting_info> infos = [] {
    std::vector<hacknccl_setting_info> list;
    for (size_t i = 0; i < kSettingNameCount; ++i) {
      const Rule* rule = RuleOf(kSettingNames[i].name);
      list.push_back({kSettingNames[i].name, rule == nullptr ? 0 : rule->effect,
                      rule == nullptr ? "" : rule->reason});
    }
    return list;
  }();
  return infos;
}

std::string CheckSetting(const std::string& name, const std::string& value) {
  const auto& infos = SettingInfos();
  for (size_t i = 0; i < infos.size(); ++i) {
    if (name != infos[i].name) continue;
    if (infos[i].effect == HACKNCCL_SETTING_REFUSED) return name + ": " + infos[i].reason;
    if (infos[i].effect == HACKNCCL_SETTING_IDLE) return "";
    const std::string error = CheckValue(kSettingNames[i], value);
    return error.empty() ? "" : name + ": " + error;
  }
  return name + ": NCCL has no such setting";
}

}  // namespace drydock
