#include "workload-gen/work/scan_work.h"

#include <string>

namespace drydock {
namespace {

struct Widths {
  int64_t projected = 0;  // of the GEMM into the scan
  int64_t inner = 0;      // of the scan's output
};

// `out`: the place of the layer behind the scan, if its format has a key.
ScanWork MakeScan(SubmoduleMaker* maker, const std::string& name, const Widths& widths,
                  const SubmoduleWork& scan, bool LinearParts::*out = nullptr) {
  const int64_t hidden = maker->model().hidden, tensor = maker->layout().tensor;
  ScanWork work;
  work.norm = maker->Norm(name + ".norm", maker->local_rows(), hidden);
  work.in = maker->OverlappedColumnLinear(name + ".in", maker->rows(), widths.projected / tensor,
                                          hidden, /*bias=*/false, InputFrom::kNorm);
  work.scan = maker->ForwardBackward(name + ".scan", scan);
  const LinearPartScope part(maker, out);
  work.out = maker->OverlappedRowLinear(name + ".out", maker->rows(), hidden, widths.inner / tensor,
                                        maker->job().overlap.scatter_fc2);
  work.residual = maker->Residual(name + ".residual");
  return work;
}

}  // namespace

ScanWork MakeMamba(SubmoduleMaker* maker) {
  const MambaShape& mamba = maker->model().mamba;
  const int64_t tensor = maker->layout().tensor;
  return MakeScan(maker, "mamba", {mamba.projected(), mamba.inner()},
                  submodule::StateSpace{.rows = maker->rows(),
                                        .heads = mamba.heads / tensor,
                                        .head_dim = mamba.head_dim,
                                        .state = mamba.state,
                                        .groups = mamba.groups / tensor,
                                        .chunk = MambaShape::kChunk,
                                        .taps = kScanTaps},
                  &LinearParts::mamba_out);
}

ScanWork MakeDeltaNet(SubmoduleMaker* maker) {
  const DeltaNetShape& delta = maker->model().delta;
  const int64_t tensor = maker->layout().tensor;
  return MakeScan(maker, "delta-net", {delta.projected(), delta.value_width()},
                  submodule::DeltaRule{.rows = maker->rows(),
                                       .heads = delta.value_heads / tensor,
                                       .kv_heads = delta.key_heads / tensor,
                                       .head_dim = delta.key_dim,
                                       .value_dim = delta.value_dim,
                                       .chunk = DeltaNetShape::kChunk,
                                       .taps = kScanTaps});
}

}  // namespace drydock
