#include "compute-sim/kernel/kernel_parameters_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/spelling.h"

namespace drydock {
namespace {

std::string Us(Time time) { return fmt::format("{:.4g} us", time.us()); }
std::string Tera(Bandwidth rate) {
  return fmt::format("{:.4g} TB/s", rate.bytes_per_second() * 1e-12);
}
std::string Tera(FlopRate rate) {
  return fmt::format("{:.4g} TFLOPS", rate.flops_per_second() * 1e-12);
}

std::string Types(const std::vector<DataType>& types) {
  std::vector<std::string> names;
  for (const DataType type : types) names.emplace_back(ToString(type));
  return fmt::format("[{}]", Join(names));
}

std::string ErrorText(const FitErrors& e, const std::string& indent) {
  if (e.large == 0 && e.small == 0) return "";
  return fmt::format("{}error: {{large: {:.3f}, small: {:.3f}}}\n", indent, e.large, e.small);
}

std::string QuantizeText(const QuantizeStage& stage, const std::string& indent) {
  if (stage.bytes == 0) return "";
  return fmt::format("{}quantise: {{launch: {}, bytes: {:.4g}}}\n", indent, Us(stage.launch),
                     stage.bytes);
}

std::string GemmText(const GemmParameters& s) {
  return fmt::format(
             "      - types: {}\n        tensor_rate: {}\n        memory: {}\n        l2_to_sm: "
             "{}\n"
             "        launch: {}\n        tile_start: {}\n        tile_store: {}\n"
             "        persistence: {:.4g}\n        overlap: {:.4g}\n        split_sync: {}\n"
             "        derate: {:.4g}\n        derate_at: {}\n        derate_slope: {:.4g}\n"
             "        l2_warm: {:.4g}\n",
             Types(s.types), Tera(s.tensor_rate), Tera(s.memory), Tera(s.l2_to_sm), Us(s.launch),
             Us(s.tile_start), Us(s.tile_store), s.persistence, s.overlap, Us(s.split_sync),
             s.derate, Us(s.derate_at), s.derate_slope, s.l2_warm) +
         (s.promotion > 0 ? fmt::format("        promotion: {:.4g}\n", s.promotion) : "") +
         (s.row_scales > 0 ? fmt::format("        row_scales: {:.4g}\n", s.row_scales) : "") +
         (s.long_rows > 0 ? fmt::format("        long_rows: {:.4g}\n", s.long_rows) : "") +
         (s.store_growth != 1 ? fmt::format("        store_growth: {:.4g}\n", s.store_growth)
                              : "") +
         (s.group_start > Time() ? fmt::format("        group_start: {}\n", Us(s.group_start))
                                 : "") +
         (s.power_exponent > 0 ? fmt::format("        power_exponent: {:.4g}\n", s.power_exponent)
                               : "") +
         QuantizeText(s.quantize, "        ") + ErrorText(s.error, "        ");
}

std::string PassText(const AttentionPass& p) {
  const std::string block = p.block > 0 ? fmt::format("block: {}, ", p.block) : "";
  const std::string balance = p.balance > 0 ? fmt::format("balance: {:.4g}, ", p.balance) : "";
  const std::string derate = p.derate.time > 0
                                 ? fmt::format(", derate: {{time: {:.4g}, at: {}, slope: {:.4g}}}",
                                               p.derate.time, Us(p.derate.at), p.derate.slope)
                                 : "";
  return fmt::format(
      "{{{}{}launch: {}, tensor_rate: {}, scores_per_ps: {:.4g}, block_start: {}, "
      "overlapped_passes: {:.4g}, serial_passes: {:.4g}{}}}",
      block, balance, Us(p.launch), Tera(p.tensor_rate), p.scores_per_ps, Us(p.block_start),
      p.overlapped_passes, p.serial_passes, derate);
}

std::string WideHeadsText(const AttentionParameters& a) {
  if (a.wide_from == 0) return "";
  return fmt::format(
      "        wide_heads:\n          from: {}\n          forward: {}\n          backward: {}\n",
      a.wide_from, PassText(a.wide_forward), PassText(a.wide_backward));
}

std::string AttentionText(const AttentionParameters& a) {
  return fmt::format(
             "      - name: {}\n        types: {}\n        block: {}\n        balance: {:.4g}\n"
             "        memory_overlap: {:.4g}\n        forward: {}\n        backward: {}\n",
             a.name, Types(a.types), a.block, a.balance, a.memory_overlap, PassText(a.forward),
             PassText(a.backward)) +
         WideHeadsText(a) + ErrorText(a.error, "        ");
}

std::string CurveText(const ShareCurve& curve) {
  std::vector<std::string> points;
  for (const auto& [columns, share] : curve) {
    points.push_back(fmt::format("{}: {:.4g}", columns, share));
  }
  return fmt::format("{{{}}}", Join(points));
}

std::string MemoryText(const MemoryParameters& m) {
  return fmt::format(
             "  memory:\n    launch: {}\n    hbm: {}\n    l2: {}\n    l2_share: {:.4g}\n"
             "    layer_norm: {}\n    softmax: {}\n    fused_norm: {:.4g}\n",
             Us(m.launch), Tera(m.hbm), Tera(m.l2), m.l2_share, CurveText(m.layer_norm),
             CurveText(m.softmax), m.fused_norm) +
         QuantizeText(m.quantize, "    ") + ErrorText(m.error, "    ");
}

// "a\nb" as two lines of comments.
std::string Commented(const std::string& remark) {
  std::string text;
  for (size_t begin = 0; begin < remark.size();) {
    const size_t end = std::min(remark.find('\n', begin), remark.size());
    text += "  # " + remark.substr(begin, end - begin) + "\n";
    begin = end + 1;
  }
  return text;
}

}  // namespace

std::string KernelsText(const KernelParameters& p, const std::string& remark) {
  std::vector<std::string> tiles, splits;
  for (const Tile& tile : p.tiles) tiles.push_back(fmt::format("{}x{}", tile.rows, tile.columns));
  for (const int64_t split : p.splits) splits.push_back(std::to_string(split));
  std::string text = fmt::format(
      "kernels:\n{}  clocks: {}\n{}  launch_gap: {}\n  gemm:\n    tiles: [{}]\n    splits: [{}]\n"
      "    tile_k: {}\n    sets:\n",
      Commented(remark), KernelParameters::ClocksNames()[static_cast<size_t>(p.clocks)],
      p.power_limit > 0 ? fmt::format("  power_limit: {} W\n", p.power_limit) : "",
      Us(p.launch_gap), Join(tiles), Join(splits), p.tile_k);
  for (const GemmParameters& set : p.gemm) text += GemmText(set);
  text += fmt::format("  attention:\n    default: {}\n", p.attention[p.default_attention].name);
  if (p.pytorch_attention != p.default_attention) {
    text += fmt::format("    pytorch: {}\n", p.attention[p.pytorch_attention].name);
  }
  text += "    libraries:\n";
  for (const AttentionParameters& library : p.attention) text += AttentionText(library);
  text += MemoryText(p.memory);
  const ScalingErrors& errors = p.scaling;
  if (errors.gemm > 0 || errors.attention > 0 || errors.memory > 0) {
    text += fmt::format(
        "  scaling_errors: {{gemm: {:.4g}, gemm_with_share: {:.4g}, attention: {:.4g}, memory: "
        "{:.4g}}}\n",
        errors.gemm, errors.gemm_with_share, errors.attention, errors.memory);
  }
  return text;
}

std::string WithKernels(const std::string& file_text, const std::string& section) {
  const size_t at = file_text.starts_with("kernels:") ? 0 : file_text.find("\nkernels:");
  if (at == std::string::npos) {
    const size_t collectives = file_text.find("\ncollectives:");
    if (collectives == std::string::npos) return file_text + "\n" + section;
    return file_text.substr(0, collectives + 1) + section + "\n" +
           file_text.substr(collectives + 1);
  }
  // The section ends before the next line that is neither empty nor indented.
  const size_t begin = at == 0 ? 0 : at + 1;
  size_t end = file_text.find('\n', begin);
  while (end != std::string::npos && end + 1 < file_text.size()) {
    const char first = file_text[end + 1];
    if (first != ' ' && first != '\n') break;
    end = file_text.find('\n', end + 1);
  }
  const std::string rest =
      end == std::string::npos || end + 1 >= file_text.size() ? "" : file_text.substr(end + 1);
  return file_text.substr(0, begin) + section + (rest.empty() ? "" : "\n" + rest);
}

}  // namespace drydock
