#include "drydock/run/hostfile.h"

#include <fmt/format.h>

#include <regex>
#include <set>
#include <sstream>

namespace drydock {

Result<int> MachinesOfHostfile(const std::string& text, const std::string& path) {
  static const std::regex machine("[A-Za-z0-9][A-Za-z0-9@._:-]*");
  static const std::regex slots("(slots|max_slots)=[1-9][0-9]{0,5}");
  std::set<std::string> machines;
  std::istringstream lines(text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    line = line.substr(0, line.find('#'));
    bool first = true;
    size_t end = 0;
    for (size_t at = line.find_first_not_of(" \t\r"); at != std::string::npos;
         at = line.find_first_not_of(" \t\r", end)) {
      end = std::min(line.find_first_of(" \t\r", at), line.size());
      const std::string word = line.substr(at, end - at);
      const Location place = {path, number, static_cast<int>(at) + 1};
      if (first) {
        if (word.size() > 255 || !std::regex_match(word, machine)) {
          return Error(fmt::format("'{}' is not the name of a machine", word), place);
        }
        machines.insert(word);
      } else if (word.size() > 255 || !std::regex_match(word, slots)) {
        return Error(fmt::format("'{}' is neither 'slots=N' nor 'max_slots=N'", word), place);
      }
      first = false;
    }
  }
  if (machines.empty()) return Error("it names no machine", {path, 0, 0});
  return static_cast<int>(machines.size());
}

}  // namespace drydock
