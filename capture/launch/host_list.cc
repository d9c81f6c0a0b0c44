#include "capture/launch/host_list.h"

#include <fmt/format.h>

#include <sstream>

#include "capture/launch/options.h"
#include "core/base/files.h"

namespace drydock::capture {
namespace {

constexpr size_t kMostHosts = kMaxHosts;

// Expands one item of a list: "gpu[01-03,7]-ib".
Status ExpandItem(const std::string& item, std::vector<std::string>* names) {
  const size_t open = item.find('[');
  if (open == std::string::npos) {
    names->push_back(item);
    return names->size() <= kMostHosts ? OkStatus() : Error("'" + item + "': too many hosts");
  }
  const size_t close = item.find(']', open);
  if (close == std::string::npos) return Error("'" + item + "' has a [ without ]");
  std::istringstream ranges(item.substr(open + 1, close - open - 1));
  for (std::string range; std::getline(ranges, range, ',');) {
    const size_t dash = range.find('-');
    const std::string first = range.substr(0, dash);
    const std::string last = dash == std::string::npos ? first : range.substr(dash + 1);
    int from = 0, to = 0;
    if (sscanf(first.c_str(), "%d", &from) != 1 || sscanf(last.c_str(), "%d", &to) != 1 ||
        from > to || to - from >= static_cast<int>(kMostHosts)) {
      return Error(fmt::format("'{}' is not a range of hosts", range));
    }
    for (int number = from; number <= to; ++number) {
      const std::string middle = fmt::format("{:0{}}", number, first.size());
      RETURN_IF_ERROR(ExpandItem(item.substr(0, open) + middle + item.substr(close + 1), names));
    }
  }
  return OkStatus();
}

}  // namespace

Result<std::vector<ListedHost>> ReadHostFile(const std::string& path, const std::string& folder) {
  const std::string file = path.starts_with("/") ? path : folder + "/" + path;
  ASSIGN_OR_RETURN(const std::string text, ReadFile(file));
  std::vector<ListedHost> hosts;
  std::istringstream lines(text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    std::istringstream words(line.substr(0, line.find('#')));
    ListedHost host;
    if (!(words >> host.name)) continue;
    const auto wrong = [&](const std::string& word) {
      return Error(fmt::format("'{}' is neither 'slots=N' nor 'max_slots=N'", word),
                   {file, number, 0}, line);
    };
    const size_t colon = host.name.find(':');
    std::string slots = colon == std::string::npos ? "" : host.name.substr(colon + 1);
    host.name = host.name.substr(0, colon);
    for (std::string word; words >> word;) {
      if (word.starts_with("slots=")) {
        slots = word.substr(6);
      } else if (!word.starts_with("max_slots=") && !word.starts_with("max-slots=")) {
        return wrong(word);
      }
    }
    if (!slots.empty()) {
      const Result<int> count = PositiveNumber("slots", slots, kMaxGpus);
      if (!count.ok()) return Error(count.error().message(), {file, number, 0}, line);
      host.slots = *count;
    }
    hosts.push_back(std::move(host));
  }
  if (hosts.empty()) return Error("it names no host", {file, 0, 0});
  return hosts;
}

Result<std::vector<std::string>> ExpandHostNames(const std::string& text) {
  std::vector<std::string> names;
  size_t begin = 0;
  int depth = 0;
  for (size_t at = 0; at <= text.size(); ++at) {
    if (at < text.size() && text[at] == '[') ++depth;
    if (at < text.size() && text[at] == ']') --depth;
    if (at < text.size() && (text[at] != ',' || depth > 0)) continue;
    if (at > begin) RETURN_IF_ERROR(ExpandItem(text.substr(begin, at - begin), &names));
    begin = at + 1;
  }
  return names;
}

std::vector<std::string> JobHostNames(int hosts) {
  std::vector<std::string> names;
  for (int host = 0; host < hosts; ++host) names.push_back(fmt::format("node{}", host));
  return names;
}

}  // namespace drydock::capture
