#include "workload-gen/keys_command.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <string>

#include "workload-gen/job/key_text.h"

namespace drydock {
namespace {

const ToolInfo kInfo = {"workload-gen keys",
                        "Prints the keys of model.yaml: values, defaults, meaning, and the "
                        "arguments of Megatron-LM.",
                        "reads nothing", "workload-gen keys parallel.tensor", false};

class KeysCommand final : public Command {
 public:
  KeysCommand() : Command(kInfo) {}

  void Declare(CLI::App* command, const CommonOptions& /*common*/) override {
    command->add_option("name", name_, "A section or section.key; none: all keys")
        ->type_name("NAME");
    command->add_flag("--markdown", markdown_,
                      "Print all keys as docs/reference/model-keys.md has them");
  }

  Status Run(const CommonOptions& /*common*/) const override {
    if (markdown_) {
      fmt::print("{}", KeysAsMarkdown());
      return OkStatus();
    }
    ASSIGN_OR_RETURN(const std::string text, KeysAsText(name_));
    fmt::print("{}", text);
    return OkStatus();
  }

 private:
  std::string name_;
  bool markdown_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeKeysCommand() { return std::make_unique<KeysCommand>(); }

}  // namespace drydock
