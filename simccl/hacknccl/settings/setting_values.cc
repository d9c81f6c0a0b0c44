// Checks values of settings. Refuses nonsense that NCCL would accept silently.
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <sstream>

#include "device.h"
#include "nccl.h"
#include "simccl/hacknccl/log/log.h"
#include "simccl/hacknccl/settings/setting_rules.h"
#include "sym_kernels.h"
#include "topo.h"

// graph/tuning.cc
ncclResult_t parseList(const char* text, const char* prefixes[], int prefix_count,
                       const char* elements[], int element_count, int* list);

namespace drydock {
namespace {

std::string Quoted(const std::string& text) { return "'" + text + "'"; }

bool IsInteger(const std::string& text, int64_t* value) {
  char* end = nullptr;
  errno = 0;
  *value = strtoll(text.c_str(), &end, 0);
  return errno == 0 && !text.empty() && end == text.c_str() + text.size();
}

// NCCL reads numbers with strtoll, which turns text into 0, and keeps most numbers in an int.
std::string CheckNumber(const std::string& value) {
  int64_t number = 0;
  if (!IsInteger(value, &number)) return Quoted(value) + " is not a whole number";
  if (number < INT_MIN || number > INT_MAX) return value + " does not fit NCCL's 32-bit numbers";
  return "";
}

// Sizes and counts that NCCL divides by or allocates, or with which it hangs if they are too small;
// and values that it would replace in every communicator (init.cc: envConfigOverride;
// graph/connect.cc, graph/tuning.cc).
struct Range {
  const char* name;
  int64_t least, most;
  int64_t step = 1;
};
constexpr int64_t kGi = int64_t{1} << 30;
constexpr Range kRanges[] = {
    {"NCCL_BUFFSIZE", 32 << 10, kGi},
    {"NCCL_LL_BUFFSIZE", 32 << 10, kGi},
    {"NCCL_LL128_BUFFSIZE", 32 << 10, kGi},
    {"NCCL_CHUNK_SIZE", 4 << 10, kGi / 8},
    {"NCCL_NVLS_CHUNKSIZE", 4 << 10, kGi / 8},
    {"NCCL_NVLSTREE_MAX_CHUNKSIZE", 4 << 10, kGi / 8},
    {"NCCL_P2P_NET_CHUNKSIZE", 4 << 10, kGi / 8},
    {"NCCL_P2P_NVL_CHUNKSIZE", 4 << 10, kGi / 8},
    {"NCCL_P2P_PCI_CHUNKSIZE", 4 << 10, kGi / 8},
    {"NCCL_P2P_PER_CHANNEL_NET_BW", 1, kGi},
    {"NCCL_P2P_SCHEDULE_GROUP_SIZE", 1, kGi},
    {"NCCL_MIN_P2P_NCHANNELS", 1, MAXCHANNELS},
    {"NCCL_MAX_P2P_NCHANNELS", 1, MAXCHANNELS},
    {"NCCL_WORK_ARGS_BYTES", 4 << 10, kGi},
    {"NCCL_WORK_FIFO_BYTES", 64 << 10, kGi},
    {"NCCL_NTHREADS", 2 * WARP_SIZE, NCCL_SIMPLE_MAX_NTHREADS, WARP_SIZE},
    {"NCCL_LL128_NTHREADS", NCCL_LL128_MAX_NTHREADS / 4, NCCL_LL128_MAX_NTHREADS, WARP_SIZE},
    {"NCCL_MIN_NCHANNELS", 0, MAXCHANNELS},
    {"NCCL_MIN_NRINGS", 0, MAXCHANNELS},
    {"NCCL_MAX_NCHANNELS", 1, INT_MAX},
    {"NCCL_MAX_NRINGS", 1, INT_MAX},
    {"NCCL_MIN_CTAS", 1, MAXCHANNELS},
    {"NCCL_MAX_CTAS", 1, MAXCHANNELS},
    {"NCCL_NVLS_NCHANNELS", 1, INT_MAX},
    {"NCCL_NCHANNELS_PER_NET_PEER", 1, INT_MAX},
    {"NCCL_COLLNET_ENABLE", 0, 1},
    {"NCCL_COMM_SPLIT_SHARE_RESOURCES", 0, 1},
    {"NCCL_COMM_SHRINK_SHARE_RESOURCES", 0, 1},
    {"NCCL_NVLINK_UTIL_CENTRIC_SCHED_ENABLE", 0, 1},
};

std::string CheckRange(const std::string& name, const std::string& value) {
  for (const Range& range : kRanges) {
    if (name != range.name) continue;
    const int64_t number = strtoll(value.c_str(), nullptr, 0);
    const std::string limits = std::to_string(range.least) + " to " + std::to_string(range.most);
    if (number < range.least || number > range.most) return value + " is not within " + limits;
    if (number % range.step == 0) return "";
    return value + " is not a multiple of " + std::to_string(range.step) + " (" + limits + ")";
  }
  return "";
}

// NCCL_ALGO and NCCL_PROTO: asks the function that will read them. That function reads past the end
// of an entry that has only colons.
std::string CheckList(const std::string& value, const char** elements, int count) {
  std::istringstream entries(value);
  for (std::string entry; std::getline(entries, entry, ';');) {
    if (!entry.empty() && entry.find_first_not_of(':') == std::string::npos) {
      return Quoted(entry) + " is empty";
    }
  }
  std::vector<int> list(static_cast<size_t>(NCCL_NUM_FUNCTIONS * count));
  TakeWarnings();
  const ncclResult_t result =
      parseList(value.c_str(), ncclFuncStr, NCCL_NUM_FUNCTIONS, elements, count, list.data());
  const std::string words = TakeWarnings();
  return result == ncclSuccess ? "" : words;
}

std::string OneOf(const std::string& value, const std::vector<std::string>& words) {
  std::string all;
  for (const std::string& word : words) {
    if (value == word) return "";
    all += (all.empty() ? "" : ", ") + word;
  }
  return Quoted(value) + " is not one of " + all;
}

// graph/paths.cc: ncclGetLevel. It ignores unknown values silently.
std::string CheckDistance(const std::string& value) {
  const bool old_style = value.size() == 1 && value[0] >= '0' && value[0] <= '5';
  return old_style ? "" : OneOf(value, {topoPathTypeStr, topoPathTypeStr + PATH_SYS + 1});
}

std::string CheckPolicies(const std::string& value) {
  if (value.size() == 1 && value[0] >= '0' && value[0] <= '2') return "";
  std::istringstream policies(value);
  for (std::string policy; std::getline(policies, policy, '|');) {
    for (char& letter : policy) letter = static_cast<char>(toupper(letter));
    const std::string error = OneOf(policy, {"DEFAULT", "EFFICIENCY", "ZERO"});
    if (!error.empty()) return error;
  }
  return value.empty() ? "'' is empty" : "";
}

std::string CheckNetDevices(const std::string& value) {
  int64_t most = 0;
  if (value.rfind("MAX:", 0) == 0 && IsInteger(value.substr(4), &most) && most > 0) return "";
  return value == "AUTO" || value == "ALL" ? ""
                                           : Quoted(value) + " is not one of AUTO, ALL, MAX:count";
}

std::string CheckThresholds(const std::string& value) {
  std::istringstream numbers(value);
  int count = 0;
  bool all = true;
  for (std::string number; numbers >> number; ++count) {
    int64_t threshold = 0;
    all = all && IsInteger(number, &threshold) && threshold >= 0 && threshold <= INT_MAX;
  }
  if (all && count >= 1 && count <= 6) return "";
  return Quoted(value) +
         " is not a list of one to six whole numbers (tree, then ring: LL, LL128, Simple)";
}

std::string CheckSymmetricKernel(const std::string& value) {
  std::vector<std::string> kernels;
  for (int k = 0; k < ncclSymkKernelId_Count; ++k) {
    kernels.push_back(ncclSymkKernelIdToString(k));
  }
  return OneOf(value, kernels);
}

std::string CheckText(const std::string& name, const std::string& value) {
  if (name == "NCCL_ALGO") return CheckList(value, ncclAlgoStr, NCCL_NUM_ALGORITHMS);
  if (name == "NCCL_PROTO") return CheckList(value, ncclProtoStr, NCCL_NUM_PROTOCOLS);
  if (name == "NCCL_P2P_DISABLE") return CheckNumber(value);
  if (name == "NCCL_P2P_LEVEL" || name == "NCCL_NET_GDR_LEVEL") return CheckDistance(value);
  if (name == "NCCL_CTA_POLICY") return CheckPolicies(value);
  if (name == "NCCL_NETDEVS_POLICY") return CheckNetDevices(value);
  if (name == "NCCL_THREAD_THRESHOLDS") return CheckThresholds(value);
  if (name == "NCCL_SYM_KERNEL") return CheckSymmetricKernel(value);
  return "";
}

}  // namespace

std::string CheckValue(const SettingName& setting, const std::string& value) {
  std::string error = setting.is_number ? CheckNumber(value) : CheckText(setting.name, value);
  return error.empty() ? CheckRange(setting.name, value) : error;
}

}  // namespace drydock
