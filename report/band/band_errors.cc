#include "report/band/band_errors.h"

#include <initializer_list>
#include <utility>

#include "core/base/files.h"
#include "core/base/installation.h"
#include "core/base/yaml.h"

namespace drydock {
namespace {

using Shares = std::initializer_list<std::pair<const char*, double*>>;

void ReadShares(YamlReader* reader, Shares shares) {
  for (const auto& [key, value] : shares) {
    reader->Read(key, value);
    if (!(*value >= 0 && *value <= 1)) {
      reader->Fail(key, "expected a share of the time, from 0 to 1");
    }
  }
}

// Reads a section that has a share for each key, and a source.
void ReadSection(YamlReader* file, const std::string& name, Diagnostics* diagnostics,
                 Shares shares) {
  const YamlNode* node = file->Take(name, /*required=*/true);
  if (node == nullptr) return;
  YamlReader reader(*node, name, diagnostics);
  ReadShares(&reader, shares);
  std::string source;
  reader.Read("source", &source);
  reader.Finish();
}

void ReadBands(YamlReader* reader, Diagnostics* diagnostics, BandErrors* errors) {
  reader->Read("coverage", &errors->coverage);
  if (!(errors->coverage > 0 && errors->coverage < 1)) {
    reader->Fail("coverage", "expected a share of the runs, above 0 and below 1");
  }
  const auto of_source = [&](TimeSource source) {
    return &errors->kernels[static_cast<size_t>(source)];
  };
  ReadSection(reader, "kernels", diagnostics,
              {{"profile", of_source(TimeSource::kProfile)},
               {"model", of_source(TimeSource::kModel)},
               {"scaled", of_source(TimeSource::kScaled)},
               {"given", of_source(TimeSource::kGiven)}});
  ReadSection(reader, "communication", diagnostics,
              {{"inside_hosts", &errors->inside_hosts}, {"between_hosts", &errors->between_hosts}});
  ReadSection(reader, "host", diagnostics,
              {{"launches", &errors->launches}, {"memory", &errors->memory}});
  ReadSection(
      reader, "whole_run", diagnostics,
      {{"dense", &errors->dense}, {"experts", &errors->experts}, {"hybrid", &errors->hybrid}});
}

}  // namespace

Result<BandErrors> ParseBandErrors(const std::string& text, const std::string& file_name) {
  ASSIGN_OR_RETURN(const YamlNode root, ParseYaml(text, file_name));
  Diagnostics diagnostics;
  YamlReader file(root, "file of bands", &diagnostics);
  BandErrors errors;
  if (const YamlNode* node = file.Take("bands", /*required=*/true)) {
    YamlReader reader(*node, "bands", &diagnostics);
    ReadBands(&reader, &diagnostics, &errors);
    reader.Finish();
  }
  file.Finish();
  RETURN_IF_ERROR(diagnostics.ToStatus());
  return errors;
}

Result<BandErrors> LoadBandErrors() {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(BandErrorsPath()));
  ASSIGN_OR_RETURN(BandErrors errors, ParseBandErrors(text, BandErrorsPath()));
  ASSIGN_OR_RETURN(errors.tokens, LoadTokenCosts());
  return errors;
}

std::string BandErrorsPath() { return ConfigDirectory() + "/bands.yaml"; }

}  // namespace drydock
