// What accelerate launch is told by its command line and by its file of settings, and the variables
// by which it tells the program.
#ifndef DRYDOCK_CAPTURE_LAUNCH_ACCELERATE_SETTINGS_H_
#define DRYDOCK_CAPTURE_LAUNCH_ACCELERATE_SETTINGS_H_

#include <map>
#include <optional>
#include <string>

#include "capture/launch/launch.h"
#include "capture/launch/options.h"
#include "core/base/result.h"

namespace drydock::capture {

const OptionTable& AccelerateOptions();

// Values are texts as Python prints them: "True", "8", "bf16".
class AccelerateSettings {
 public:
  AccelerateSettings();

  // Of the command line.
  void Give(const std::string& name, const std::string& value);
  // Fills what the command line leaves open. Returns the file's distributed_type. Errors: a file
  // that is no YAML or JSON, a key that accelerate does not have.
  Result<std::string> ReadFile(const std::string& path);

  std::optional<std::string> Get(const std::string& name) const;  // nothing: None
  bool IsTrue(const std::string& name) const;

  // `several`: the program has several processes. REQUIRES: the ranks of the launch are known.
  void SetVariables(bool several, Launch* launch) const;

 private:
  void SetDeepSpeed(Variables* variables) const;

  std::map<std::string, std::string> given_, values_;  // of the command line; all
  std::string from_file_;  // DeepSpeed's keys in the file, and mixed_precision
  bool precision_from_file_ = false;
};

}  // namespace drydock::capture

#endif  // DRYDOCK_CAPTURE_LAUNCH_ACCELERATE_SETTINGS_H_
