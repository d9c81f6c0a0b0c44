#include "capture/standins/elf_symbols.h"

#include <elf.h>
#include <fmt/format.h>

#include <cstring>
#include <map>
#include <optional>
#include <utility>

#include "core/base/files.h"

namespace drydock::capture {
namespace {

class Reader {
 public:
  Reader(std::string_view content, const std::string& path) : content_(content), path_(path) {}

  Result<WantedSymbols> Read() {
    Elf64_Ehdr header;
    if (!Take(0, &header) || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
        header.e_type != ET_DYN) {
      return WantedSymbols();
    }
    if (!ReadSegments(header)) return Damaged("program headers");
    if (!dynamic_) return WantedSymbols();
    if (!ReadDynamic()) return Damaged("dynamic section");
    WantedSymbols wanted;
    if (!ReadLibraries(&wanted)) return Damaged("names of libraries");
    if (!ReadVersions()) return Damaged("symbol versions");
    if (!ReadSymbols(&wanted)) return Damaged("symbol table");
    return wanted;
  }

 private:
  Error Damaged(const char* what) const {
    return Error(fmt::format("is no complete shared library: its {} end too early", what),
                 {path_, 0, 0});
  }

  template <typename T>
  bool Take(uint64_t offset, T* value) const {
    if (offset > content_.size() || sizeof *value > content_.size() - offset) return false;
    memcpy(value, content_.data() + offset, sizeof *value);
    return true;
  }

  bool ReadSegments(const Elf64_Ehdr& header) {
    for (int i = 0; i < header.e_phnum; ++i) {
      Elf64_Phdr segment;
      if (!Take(header.e_phoff + static_cast<uint64_t>(i) * header.e_phentsize, &segment)) {
        return false;
      }
      if (segment.p_type == PT_LOAD) loads_.push_back(segment);
      if (segment.p_type == PT_DYNAMIC) dynamic_ = segment;
    }
    return true;
  }

  // The place in the file of an address in memory.
  std::optional<uint64_t> PlaceOf(uint64_t address) const {
    for (const Elf64_Phdr& segment : loads_) {
      if (address >= segment.p_vaddr && address - segment.p_vaddr < segment.p_filesz) {
        return segment.p_offset + (address - segment.p_vaddr);
      }
    }
    return std::nullopt;
  }

  bool ReadDynamic() {
    for (uint64_t i = 0; i * sizeof(Elf64_Dyn) < dynamic_->p_filesz; ++i) {
      Elf64_Dyn entry;
      if (!Take(dynamic_->p_offset + i * sizeof entry, &entry)) return false;
      if (entry.d_tag == DT_NULL) break;
      if (entry.d_tag == DT_NEEDED) {
        needed_.push_back(entry.d_un.d_val);
      } else {
        values_[entry.d_tag] = entry.d_un.d_val;
      }
    }
    return true;
  }

  // The text at an offset of the string table.
  bool Text(uint64_t offset, std::string* text) const {
    const auto table = values_.find(DT_STRTAB);
    if (table == values_.end()) return false;
    const std::optional<uint64_t> place = PlaceOf(table->second);
    if (!place || offset > content_.size() || *place > content_.size() - offset) return false;
    const std::string_view rest = content_.substr(*place + offset);
    const size_t end = rest.find('\0');
    if (end == std::string_view::npos) return false;
    *text = rest.substr(0, end);
    return true;
  }

  bool ReadLibraries(WantedSymbols* wanted) const {
    for (const uint64_t offset : needed_) {
      if (!Text(offset, &wanted->libraries.emplace_back())) return false;
    }
    return true;
  }

  // Version needs: number -> library and version.
  bool ReadVersions() {
    const auto table = values_.find(DT_VERNEED);
    if (table == values_.end()) return true;
    std::optional<uint64_t> place = PlaceOf(table->second);
    if (!place) return false;
    for (uint64_t count = values_[DT_VERNEEDNUM]; count > 0; --count) {
      Elf64_Verneed need;
      std::string library;
      if (!Take(*place, &need) || !Text(need.vn_file, &library)) return false;
      uint64_t at = *place + need.vn_aux;
      for (int i = 0; i < need.vn_cnt; ++i) {
        Elf64_Vernaux version;
        std::string name;
        if (!Take(at, &version) || !Text(version.vna_name, &name)) return false;
        versions_[version.vna_other & 0x7fff] = {library, name};
        at += version.vna_next;
      }
      if (need.vn_next == 0) break;
      *place += need.vn_next;
    }
    return true;
  }

  // The number of dynamic symbols, which no entry states: the hash table knows it.
  std::optional<uint64_t> SymbolCount() const {
    if (const auto hash = values_.find(DT_HASH); hash != values_.end()) {
      const std::optional<uint64_t> place = PlaceOf(hash->second);
      Elf64_Word counts[2];
      if (!place || !Take(*place, &counts)) return std::nullopt;
      return counts[1];
    }
    const auto hash = values_.find(DT_GNU_HASH);
    if (hash == values_.end()) return 0;
    const std::optional<uint64_t> place = PlaceOf(hash->second);
    struct {
      uint32_t buckets, first, bloom_words, bloom_shift;
    } table;
    if (!place || !Take(*place, &table)) return std::nullopt;
    const uint64_t buckets = *place + sizeof table + uint64_t{table.bloom_words} * 8;
    uint32_t last = 0;
    for (uint64_t i = 0; i < table.buckets; ++i) {
      uint32_t bucket = 0;
      if (!Take(buckets + i * sizeof bucket, &bucket)) return std::nullopt;
      last = std::max(last, bucket);
    }
    // The table lists the defined symbols. The undefined ones have lower numbers.
    if (last < table.first) return table.first;
    const uint64_t chains = buckets + uint64_t{table.buckets} * 4;
    for (uint64_t symbol = last;; ++symbol) {
      uint32_t chain = 0;
      if (!Take(chains + (symbol - table.first) * sizeof chain, &chain)) return std::nullopt;
      if ((chain & 1) != 0) return symbol + 1;
    }
  }

  bool ReadSymbols(WantedSymbols* wanted) const {
    const auto table = values_.find(DT_SYMTAB);
    if (table == values_.end()) return true;
    const std::optional<uint64_t> place = PlaceOf(table->second), count = SymbolCount();
    if (!place || !count) return false;
    std::optional<uint64_t> numbers;
    if (const auto versions = values_.find(DT_VERSYM); versions != values_.end()) {
      numbers = PlaceOf(versions->second);
    }
    for (uint64_t i = 1; i < *count; ++i) {
      Elf64_Sym symbol;
      if (!Take(*place + i * sizeof symbol, &symbol)) return false;
      if (symbol.st_shndx != SHN_UNDEF) continue;
      WantedSymbol found;
      if (!Text(symbol.st_name, &found.name)) return false;
      if (found.name.empty()) continue;
      Elf64_Half number = 0;
      if (numbers && Take(*numbers + i * sizeof number, &number)) {
        if (const auto it = versions_.find(number & 0x7fff); it != versions_.end()) {
          std::tie(found.library, found.version) = it->second;
        }
      }
      wanted->symbols.push_back(std::move(found));
    }
    return true;
  }

  std::string_view content_;
  const std::string& path_;
  std::vector<Elf64_Phdr> loads_;
  std::optional<Elf64_Phdr> dynamic_;
  std::vector<uint64_t> needed_;
  std::map<Elf64_Sxword, uint64_t> values_;
  std::map<int, std::pair<std::string, std::string>> versions_;
};

}  // namespace

Result<WantedSymbols> ParseWantedSymbols(std::string_view content, const std::string& path) {
  return Reader(content, path).Read();
}

void AddNamedSymbols(std::string_view content, std::set<std::string>* names) {
  const auto is_upper = [](char c) { return c >= 'A' && c <= 'Z'; };
  const auto is_part = [&is_upper](char c) {
    return is_upper(c) || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  };
  // A text of the data begins behind the zero that ends another.
  for (size_t at = content.find('\0'); at < content.size(); at = content.find('\0', at + 1)) {
    const std::string_view rest = content.substr(at + 1);
    const bool is_driver = rest.size() > 3 && rest.starts_with("cu") && is_upper(rest[2]);
    const bool is_management = rest.size() > 5 && rest.starts_with("nvml") && is_upper(rest[4]);
    if (!is_driver && !is_management) continue;
    size_t end = 0;
    while (end < rest.size() && is_part(rest[end])) ++end;
    if (end < rest.size() && rest[end] == '\0') names->emplace(rest.substr(0, end));
  }
}

Result<std::set<std::string>> ReadArchiveSymbols(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string content, ReadFile(path));
  // The first member, named "/", is the index: a count, an offset for each symbol, and the names.
  constexpr size_t kMagic = 8, kHeader = 60, kSize = 48, kSizeDigits = 10;
  const Error damaged("is no archive with an index of its symbols (made by 'ar s')", {path, 0, 0});
  if (content.size() < kMagic + kHeader || content.compare(0, kMagic, "!<arch>\n") != 0 ||
      content.compare(kMagic, 2, "/ ") != 0) {
    return damaged;
  }
  const size_t bytes =
      std::strtoull(content.substr(kMagic + kSize, kSizeDigits).c_str(), nullptr, 10);
  const size_t begin = kMagic + kHeader;
  if (bytes < 4 || bytes > content.size() - begin) return damaged;
  const auto byte = [&content](size_t at) { return static_cast<unsigned char>(content[at]); };
  const uint64_t count = uint64_t{byte(begin)} << 24 | uint64_t{byte(begin + 1)} << 16 |
                         uint64_t{byte(begin + 2)} << 8 | byte(begin + 3);
  if (count > (bytes - 4) / 4) return damaged;
  std::set<std::string> names;
  size_t at = begin + 4 + 4 * count;
  for (uint64_t i = 0; i < count; ++i) {
    const size_t end = content.find('\0', at);
    if (end == std::string::npos || end >= begin + bytes) return damaged;
    names.insert(content.substr(at, end - at));
    at = end + 1;
  }
  return names;
}

}  // namespace drydock::capture
