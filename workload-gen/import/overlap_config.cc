#include "workload-gen/import/overlap_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "core/base/spelling.h"
#include "workload-gen/import/tree/job_tree.h"

namespace drydock {
namespace {

// A GEMM, the methods that are generated for it, and the key that selects among several.
struct OverlappedGemm {
  const char* name;
  std::vector<std::string> methods;
  const char* key = nullptr;
};

const std::vector<OverlappedGemm>& OverlappedGemms() {
  static const std::vector<OverlappedGemm> gemms = {
      {"qkv_fprop", {"ring_exchange"}},
      {"fc1_fprop", {"ring_exchange"}},
      {"proj_dgrad", {"ring_exchange"}},
      {"fc2_dgrad", {"ring_exchange"}},
      {"qkv_dgrad", {"bulk"}},
      {"qkv_wgrad", {"bulk"}},
      {"fc1_dgrad", {"bulk"}},
      {"fc1_wgrad", {"bulk"}},
      {"proj_fprop", {"pipeline", "ring_exchange"}, "tensor_scatter_proj"},
      {"fc2_fprop", {"pipeline", "ring_exchange"}, "tensor_scatter_fc2"}};
  return gemms;
}

// Other settings of a GEMM, with what they would change. All of them are unmodeled.
const std::vector<std::pair<std::string, std::string>>& Details() {
  static const std::vector<std::pair<std::string, std::string>> details = {
      {"num_sm", "multiprocessors of a kernel"},
      {"cga_size", "clusters of thread blocks"},
      {"num_splits", "parts of a GEMM"},
      {"set_sm_margin", "multiprocessors left to a kernel"},
      {"aggregate", "pairs of parts"},
      {"atomic_gemm", "GEMMs that wait for their rows in the kernel"},
      {"fp8_buf", "sums sent in fp8"},
      {"use_ce", "copy engines or kernels"},
      {"comm_priority", "priorities of streams"},
      {"gemm_priority", "priorities of streams"},
      {"pipeline_rs_overlap_first_gemm", "which part is overlapped first"}};
  return details;
}

class ConfigReader {
 public:
  ConfigReader(const YamlNode& root, bool strict, ImportNotes* notes, Diagnostics* diagnostics)
      : root_(root), strict_(strict), notes_(*notes), diagnostics_(*diagnostics) {}

  YamlNode Read() {
    YamlNode section;
    section.kind = YamlNode::Kind::kMap;
    section.location = root_.location;
    std::vector<std::string> names;
    for (const OverlappedGemm& gemm : OverlappedGemms()) names.emplace_back(gemm.name);
    for (const auto& [key, value] : root_.entries) {
      if (key.scalar.starts_with("_") || value.kind == YamlNode::Kind::kNull) continue;
      const auto known =
          std::find_if(OverlappedGemms().begin(), OverlappedGemms().end(),
                       [&](const OverlappedGemm& gemm) { return key.scalar == gemm.name; });
      if (known == OverlappedGemms().end()) {
        diagnostics_.Add(
            key.ErrorHere(fmt::format("Transformer Engine has no GEMM '{}' to overlap{}",
                                      key.scalar, DidYouMean(key.scalar, names))));
      } else {
        ReadGemm(*known, value, &section);
      }
    }
    for (const auto& [detail, what] : Details()) {
      const bool given = std::find(details_.begin(), details_.end(), detail) != details_.end();
      if (given) notes_.unmodeled.push_back(fmt::format("{} ({})", detail, what));
    }
    return section;
  }

 private:
  void ReadGemm(const OverlappedGemm& gemm, const YamlNode& node, YamlNode* section) {
    if (node.kind != YamlNode::Kind::kMap) {
      diagnostics_.Add(node.ErrorHere(fmt::format("'{}' must be a mapping", gemm.name)));
      return;
    }
    for (const auto& [key, value] : node.entries) {
      if (key.scalar.starts_with("_")) continue;
      if (key.scalar == "method")
        Method(gemm, value, section);
      else
        Detail(key);
    }
  }

  void Method(const OverlappedGemm& gemm, const YamlNode& value, YamlNode* section) {
    const auto found = std::find(gemm.methods.begin(), gemm.methods.end(), value.scalar);
    if (value.kind != YamlNode::Kind::kScalar || found == gemm.methods.end()) {
      diagnostics_.Add(
          value.ErrorHere(fmt::format("method '{}' is not generated for {}; valid values are {}",
                                      value.scalar, gemm.name, Join(gemm.methods))));
      return;
    }
    if (gemm.key == nullptr) return;
    YamlNode key = value, form = value;
    key.scalar = gemm.key;
    form.scalar = *found == "pipeline" ? "pipelined" : "ring";
    section->entries.emplace_back(std::move(key), std::move(form));
  }

  void Detail(const YamlNode& key) {
    const auto known = std::find_if(Details().begin(), Details().end(),
                                    [&](const auto& detail) { return detail.first == key.scalar; });
    if (known == Details().end()) {
      std::vector<std::string> names = {"method"};
      for (const auto& [name, what] : Details()) names.push_back(name);
      diagnostics_.Add(key.ErrorHere(
          fmt::format("unknown key '{}'{}", key.scalar, DidYouMean(key.scalar, names))));
    } else if (strict_) {
      diagnostics_.Add(
          key.ErrorHere(fmt::format("not modeled: {} ({})", known->first, known->second)));
    } else {
      details_.push_back(key.scalar);
    }
  }

  const YamlNode& root_;
  const bool strict_;
  ImportNotes& notes_;
  Diagnostics& diagnostics_;
  std::vector<std::string> details_;
};

}  // namespace

Result<YamlNode> OverlapFromConfig(const std::string& text, const std::string& file_name,
                                   bool strict, ImportNotes* notes) {
  ASSIGN_OR_RETURN(const YamlNode root, ParseYaml(text, file_name));
  return OverlapFromMap(root, strict, notes);
}

Result<YamlNode> OverlapFromMap(const YamlNode& map, bool strict, ImportNotes* notes) {
  if (map.kind != YamlNode::Kind::kMap) {
    return map.ErrorHere("expected a mapping of the GEMMs that Transformer Engine overlaps");
  }
  Diagnostics diagnostics;
  YamlNode section = ConfigReader(map, strict, notes, &diagnostics).Read();
  RETURN_IF_ERROR(diagnostics.ToStatus());
  return section;
}

Status ExpandOverlapFrom(bool strict, YamlNode* root, ImportNotes* notes) {
  const auto read = [&](const std::string& text, const std::string& path) {
    return OverlapFromConfig(text, path, strict, notes);
  };
  return ExpandFrom("overlap", read, root);
}

}  // namespace drydock
