#include "simccl/record/run/session.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <memory>
#include <utility>

#include "core/nccl/recording.h"
#include "core/nccl/topology_xml.h"
#include "simccl/record/run/children.h"
#include "simccl/record/run/events.h"
#include "simccl/record/run/meeting.h"

namespace drydock {
namespace {

// How often the launcher checks for ended processes when no request arrives.
constexpr int kTickMilliseconds = 20;

Result<RecordHost> DescribeRecordHost(const Topology& topology, int host) {
  const HostKind& kind = topology.kind_of_host(host);
  const GpuSpec& gpu = topology.gpus[static_cast<size_t>(kind.gpu)];
  ASSIGN_OR_RETURN(const NcclHost nccl, DescribeHost(kind, gpu));
  RecordHost out;
  if (nccl.gpu_bus_ids.size() > RecordHost::kMaxGpus) {
    return Error(fmt::format("a host has {} GPUs; a recorded program sees at most {}",
                             nccl.gpu_bus_ids.size(), RecordHost::kMaxGpus));
  }
  out.host = host;
  out.gpus = static_cast<int32_t>(nccl.gpu_bus_ids.size());
  out.compute_capability = nccl.compute_capability;
  out.sm_count = nccl.sm_count;
  out.memory_bytes = nccl.memory_bytes;
  gpu.name.copy(out.gpu_name, sizeof out.gpu_name - 1);
  for (size_t i = 0; i < nccl.gpu_bus_ids.size(); ++i) {
    nccl.gpu_bus_ids[i].copy(out.bus_ids[i], sizeof out.bus_ids[i] - 1);
  }
  return out;
}

Result<std::vector<RecordHost>> HostsOf(const Topology& topology,
                                        const std::vector<RecordProcess>& processes) {
  std::vector<RecordHost> hosts;
  for (const RecordProcess& process : processes) {
    if (!hosts.empty() && hosts.back().host == process.host) {
      hosts.push_back(hosts.back());
      continue;
    }
    ASSIGN_OR_RETURN(const RecordHost host, DescribeRecordHost(topology, process.host));
    hosts.push_back(host);
  }
  return hosts;
}

// Returns an unused TCP port, for programs that open their own rendezvous at MASTER_PORT.
int FreePort() {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (socket >= 0 && ::bind(socket, reinterpret_cast<sockaddr*>(&address), size) == 0) {
    ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size);
  }
  if (socket >= 0) ::close(socket);
  return ntohs(address.sin_port);
}

// Every process may have a connection and a pipe open at once.
void RaiseFileLimit() {
  rlimit limit = {};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

Variables EnvironmentOf(const RecordProcess& process, size_t number, size_t count,
                        const RecordOptions& options, const std::string& socket, int port) {
  const std::string rank = std::to_string(number), size = std::to_string(count);
  const std::string local = std::to_string(process.local);
  const std::string local_size = std::to_string(process.local_count);
  const char* inherited = ::getenv("LD_LIBRARY_PATH");
  return {{kRecordVariable, socket + ":" + rank},
          {"LD_LIBRARY_PATH", inherited == nullptr || inherited[0] == '\0'
                                  ? options.libraries
                                  : options.libraries + ":" + inherited},
          {"RANK", rank},
          {"WORLD_SIZE", size},
          {"LOCAL_RANK", local},
          {"LOCAL_WORLD_SIZE", local_size},
          {"GROUP_RANK", std::to_string(process.host)},
          {"MASTER_ADDR", "127.0.0.1"},
          {"MASTER_PORT", std::to_string(port)},
          {"OMPI_COMM_WORLD_RANK", rank},
          {"OMPI_COMM_WORLD_SIZE", size},
          {"OMPI_COMM_WORLD_LOCAL_RANK", local},
          {"OMPI_COMM_WORLD_LOCAL_SIZE", local_size},
          {"SLURM_PROCID", rank},
          {"SLURM_NTASKS", size},
          {"SLURM_LOCALID", local}};
}

std::string StalledText(const std::vector<std::string>& missing, int seconds) {
  std::string text = fmt::format(
      "all processes have waited {} s for ranks that do not arrive; NCCL would hang here", seconds);
  constexpr size_t kShown = 4;
  for (size_t i = 0; i < std::min(kShown, missing.size()); ++i) text += "\n  " + missing[i];
  if (missing.size() > kShown) text += fmt::format("\n  and {} more", missing.size() - kShown);
  return text;
}

bool AllWait(const RecordChildren& children, const RecordMeeting& meeting) {
  for (size_t i = 0; i < children.size(); ++i) {
    if (children.IsRunning(i) && !meeting.Waits(static_cast<uint32_t>(i))) return false;
  }
  return true;
}

// Serves the processes until all have ended.
Status Watch(const RecordOptions& options, RecordEvents* events, const RecordMeeting& meeting,
             RecordChildren* children) {
  using Clock = std::chrono::steady_clock;
  uint64_t exchanges = 0;
  Clock::time_point moved = Clock::now(), reaped = moved;
  while (children->running() > 0) {
    events->RunOnce(kTickMilliseconds);
    const Clock::time_point now = Clock::now();
    if (now - reaped < std::chrono::milliseconds(kTickMilliseconds)) continue;
    reaped = now;
    if (std::optional<std::string> failure = children->Reap()) return Error(*failure);
    if (options.progress)
      options.progress(children->size() - children->running(), children->size());
    const uint64_t before = std::exchange(exchanges, meeting.exchanges());
    if (!AllWait(*children, meeting) || exchanges != before) moved = now;
    if (now - moved > std::chrono::seconds(options.patience_s)) {
      return Error(StalledText(meeting.Missing(), options.patience_s));
    }
  }
  return OkStatus();
}

}  // namespace

std::vector<RecordProcess> PlanProcesses(const Topology& topology, const RecordOptions& options) {
  std::vector<RecordProcess> processes;
  int left = options.ranks;
  for (int host = 0; host < topology.host_count() && left > 0; ++host) {
    const int gpus = std::min(left, topology.kind_of_host(host).gpus);
    const int count = (gpus + options.gpus_per_process - 1) / options.gpus_per_process;
    for (int local = 0; local < count; ++local) processes.push_back({host, local, count});
    left -= gpus;
  }
  return processes;
}

Result<StagedDirectory> RecordProgram(const Topology& topology, const RecordOptions& options) {
  const std::vector<RecordProcess> processes = PlanProcesses(topology, options);
  ASSIGN_OR_RETURN(std::vector<RecordHost> hosts, HostsOf(topology, processes));
  std::error_code ignored;
  const std::string temporary = std::filesystem::temp_directory_path(ignored).string();
  ASSIGN_OR_RETURN(
      StagedDirectory folder,
      StagedDirectory::Create((temporary.empty() ? "/tmp" : temporary) + "/nccl-record"));
  ::chmod(folder.path().c_str(), 0700);
  RaiseFileLimit();
  ASSIGN_OR_RETURN(const std::unique_ptr<RecordEvents> events, RecordEvents::Create());
  const std::string socket = folder.path() + "/socket";
  ASSIGN_OR_RETURN(const std::unique_ptr<RecordMeeting> meeting,
                   RecordMeeting::Open(socket, std::move(hosts), events.get()));
  RecordChildren children(events.get());
  const int port = FreePort();
  for (size_t i = 0; i < processes.size(); ++i) {
    RETURN_IF_ERROR(children.Start(
        options.command, EnvironmentOf(processes[i], i, processes.size(), options, socket, port)));
    events->RunOnce(0);
  }
  RETURN_IF_ERROR(Watch(options, events.get(), *meeting, &children));
  return folder;
}

}  // namespace drydock
