#include "capture/launch/call.h"

#include <fmt/format.h>

#include <cstdio>

namespace drydock::capture {
namespace {

// Texts that end with a zero byte, which none of them contains. Lists begin with their size.
class Texts {
 public:
  explicit Texts(std::string_view text) : text_(text) {}

  std::string Next() {
    const size_t end = text_.find('\0');
    if (end == std::string_view::npos) {
      whole_ = false;
      return "";
    }
    std::string next(text_.substr(0, end));
    text_.remove_prefix(end + 1);
    return next;
  }

  size_t Size() {
    const std::string text = Next();
    size_t size = 0;
    if (sscanf(text.c_str(), "%zu", &size) != 1 || size > text_.size()) whole_ = false;
    return whole_ ? size : 0;
  }

  bool whole() const { return whole_ && text_.empty(); }

 private:
  std::string_view text_;
  bool whole_ = true;
};

void Append(std::string* text, const std::string& more) {
  *text += more;
  *text += '\0';
}

}  // namespace

std::string TextOfStep(const JobStep& step) {
  return fmt::format("{}:{}:{}:{}:{}", step.launcher, step.hosts, step.tasks_per_host, step.task,
                     step.number);
}

std::optional<JobStep> StepOfText(const std::string& text) {
  JobStep step;
  const size_t colon = text.find(':');
  if (colon == std::string::npos) return std::nullopt;
  step.launcher = text.substr(0, colon);
  if (sscanf(text.c_str() + colon, ":%d:%d:%d:%d", &step.hosts, &step.tasks_per_host, &step.task,
             &step.number) != 4) {
    return std::nullopt;
  }
  return step;
}

std::string Encode(const Call& call) {
  std::string text;
  Append(&text, call.refused);
  Append(&text, call.folder);
  Append(&text, call.step ? TextOfStep(*call.step) : "");
  Append(&text, std::to_string(call.words.size()));
  for (const std::string& word : call.words) Append(&text, word);
  Append(&text, std::to_string(call.environment.size()));
  for (const auto& [name, value] : call.environment) {
    Append(&text, name);
    Append(&text, value);
  }
  return text;
}

Result<Call> Decode(std::string_view text) {
  Texts texts(text);
  Call call;
  call.refused = texts.Next();
  call.folder = texts.Next();
  call.step = StepOfText(texts.Next());
  for (size_t left = texts.Size(); left > 0; --left) call.words.push_back(texts.Next());
  for (size_t left = texts.Size(); left > 0; --left) {
    const std::string name = texts.Next();
    call.environment.emplace_back(name, texts.Next());
  }
  if (!texts.whole() || call.words.empty()) return Error("the record of a call is not complete");
  return call;
}

}  // namespace drydock::capture
