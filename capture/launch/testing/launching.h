// Command lines for tests: words between spaces.
#ifndef DRYDOCK_CAPTURE_LAUNCH_TESTING_LAUNCHING_H_
#define DRYDOCK_CAPTURE_LAUNCH_TESTING_LAUNCHING_H_

#include <sstream>
#include <string>
#include <vector>

#include "capture/launch/launchers.h"
#include "capture/launch/words.h"

namespace drydock::capture {

inline std::vector<std::string> Split(const std::string& line) {
  std::istringstream text(line);
  std::vector<std::string> words;
  for (std::string word; text >> word;) words.push_back(word);
  return words;
}

inline constexpr const char* kTestFolder = "/cluster/run";

// What a launcher would start in the folder kTestFolder, on hosts with 8 GPUs.
inline Result<Launch> LaunchOf(const std::string& line, const Variables& environment = {},
                               const std::optional<JobStep>& step = std::nullopt) {
  return ReadLauncher({Split(line), kTestFolder, environment, step, ""}, {1000, 8, "GPU", "", 0});
}

// A launch of these words on so many hosts.
inline Launch LaunchOn(const std::string& line, int hosts, int ranks_per_host) {
  Launch launch;
  launch.command = Split(line);
  launch.hosts = hosts;
  launch.ranks_per_host = ranks_per_host;
  return launch;
}

// "2x8 python -u train.py": hosts, ranks of each, the command; or the error.
inline std::string TextOf(const Result<Launch>& launch) {
  if (!launch.ok()) return launch.error().message();
  return std::to_string(launch->hosts) + "x" + std::to_string(launch->ranks_per_host) + " " +
         Quoted(launch->command);
}

struct LineCase {
  const char* line;
  const char* starts;
};

}  // namespace drydock::capture

#endif  // DRYDOCK_CAPTURE_LAUNCH_TESTING_LAUNCHING_H_
