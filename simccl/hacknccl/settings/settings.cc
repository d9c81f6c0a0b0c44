// Stands in for NCCL's plugin/env.cc, through which every NCCL_* lookup goes. The environment, the
// files /etc/nccl.conf and ~/.nccl.conf and external plugins are never consulted.
#include "simccl/hacknccl/settings/settings.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "env.h"

namespace drydock {
namespace {

std::map<std::string, std::string>& Settings() {
  static std::map<std::string, std::string> settings;
  return settings;
}
bool fixed = false;

}  // namespace

bool FixSettings(const std::vector<std::pair<std::string, std::string>>& settings) {
  std::map<std::string, std::string> wanted(settings.begin(), settings.end());
  // The name under which sandbox.cc serves the session's topology.
  wanted["NCCL_TOPO_FILE"] = "session";
  if (fixed) return wanted == Settings();
  Settings() = std::move(wanted);
  fixed = true;
  return true;
}

const char* Setting(const char* name) {
  const auto found = Settings().find(name);
  return found == Settings().end() ? nullptr : found->second.c_str();
}

}  // namespace drydock

ncclResult_t ncclEnvPluginInit() { return ncclSuccess; }
void ncclEnvPluginFinalize() {}
bool ncclEnvPluginInitialized() { return true; }

const char* ncclEnvPluginGetEnv(const char* name) { return drydock::Setting(name); }
