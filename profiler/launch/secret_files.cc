#include "profiler/launch/secret_files.h"

#include <absl/functional/function_ref.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "profiler/import/archive.h"
#include "profiler/import/input.h"
#include "profiler/launch/compress.h"
#include "profiler/launch/zip_writer.h"

namespace xlaprof {
namespace {

constexpr int kMostDeep = 6;  // archives in archives

// Compressed forms that xlaprof does not read, by their first bytes.
constexpr std::pair<std::string_view, std::string_view> kUnread[] = {{std::string_view("\xfd"
                                                                                       "7zXZ\0",
                                                                                       6),
                                                                      "xz"},
                                                                     {"BZh", "bzip2"},
                                                                     {"7z\xbc\xaf\x27\x1c", "7z"},
                                                                     {"\x04\x22\x4d\x18", "lz4"},
                                                                     {"Rar!\x1a\x07", "rar"},
                                                                     {"LZIP", "lzip"},
                                                                     {"PAR1", "parquet"},
                                                                     {"ARROW1", "arrow"},
                                                                     {"\x89HDF\r\n\x1a\n", "HDF5"},
                                                                     {"%PDF-", "PDF"},
                                                                     {"Salted__", "encrypted"},
                                                                     {"\x1f\x9d", "compress"}};

bool IsGzip(std::string_view bytes) { return bytes.starts_with("\x1f\x8b"); }
bool IsZstd(std::string_view bytes) { return bytes.starts_with("\x28\xb5\x2f\xfd"); }
bool IsZip(std::string_view bytes) { return bytes.starts_with("PK\x03\x04"); }

constexpr size_t kTarBlock = 512, kTarSize = 124, kTarSum = 148, kTarType = 156, kTarMagic = 257;
bool IsTar(std::string_view bytes) {
  return bytes.size() >= kTarBlock && bytes.substr(kTarMagic).starts_with("ustar");
}

// Returns the byte order of UTF-16: by its mark, or because every other byte of its beginning is 0,
// as in most text.
enum class Wide : uint8_t { kNo, kLittle, kBig };
Wide WideOrder(std::string_view bytes) {
  if (bytes.starts_with("\xff\xfe")) return Wide::kLittle;
  if (bytes.starts_with("\xfe\xff")) return Wide::kBig;
  constexpr size_t kLooked = 512, kLeast = 16;
  const size_t size = std::min(bytes.size(), kLooked) & ~size_t(1);
  if (size < kLeast) return Wide::kNo;
  size_t even = 0, odd = 0;
  for (size_t i = 0; i < size; i += 2) {
    even += bytes[i] == 0 ? 1 : 0;
    odd += bytes[i + 1] == 0 ? 1 : 0;
  }
  if (odd * 10 >= size / 2 * 9 && even == 0) return Wide::kLittle;
  return even * 10 >= size / 2 * 9 && odd == 0 ? Wide::kBig : Wide::kNo;
}

class Masker {
 public:
  Masker(const Secrets& secrets, Masking& masking) : secrets_(secrets), masking_(masking) {}

  void Mask(const std::string& name, std::string& bytes, int depth) {
    if (depth > kMostDeep) return Unread(name, "packed too often");
    if (IsGzip(bytes) || IsZstd(bytes)) return MaskCompressed(name, bytes, depth);
    if (IsZip(bytes)) return MaskZip(name, bytes, depth);
    if (IsTar(bytes)) return MaskTar(name, bytes, depth);
    if (IsDatabase(bytes)) return MaskDatabase(name, bytes);
    for (const auto& [head, form] : kUnread) {
      if (bytes.starts_with(head)) return Unread(name, form);
    }
    if (const Wide order = WideOrder(bytes); order != Wide::kNo) return MaskWide(bytes, order);
    masking_.secrets += secrets_.Remove(bytes);
  }

  void Unread(const std::string& name, std::string_view why) {
    masking_.unread.push_back(fmt::format("{} ({})", name, why));
  }

 private:
  // Returns whether `change` replaced a secret.
  bool Replaces(absl::FunctionRef<void()> change) const {
    const int64_t before = masking_.secrets;
    change();
    return masking_.secrets > before;
  }

  void MaskCompressed(const std::string& name, std::string& bytes, int depth) {
    std::string plain;
    {
      const absl::StatusOr<InputFile> file = InputFile::OfBytes(name, bytes);
      if (!file.ok()) return Unread(name, "damaged");
      plain = file->bytes();
      if (!file->damage().empty()) Unread(name, "in part, because it is damaged");
      if (!Replaces([&] { Mask(name, plain, depth + 1); })) return;
      masking_.is_lossy |= !file->damage().empty();
    }
    absl::StatusOr<std::string> packed =
        IsZstd(bytes) ? Zstd(plain) : Deflated(plain, DeflateForm::kGzip);
    if (!packed.ok()) return Unread(name, Message(packed.status()));
    bytes = *std::move(packed);
  }

  void MaskZip(const std::string& name, std::string& bytes, int depth) {
    const auto all = [](std::string_view) { return true; };
    const auto archive = Archive::OfBytes(name, bytes, all);
    if (!archive.ok()) return Unread(name, "damaged or encrypted");
    const bool is_part = (*archive)->skipped() > 0 || !(*archive)->damage().empty();
    if (is_part) Unread(name, "in part, because it is damaged, or has links or encrypted files");
    ZipWriter zip;
    absl::Status status;
    const bool changed = Replaces([&] {
      for (const Archive::Member& member : (*archive)->members()) {
        std::string content(member.bytes);
        Mask(name + "/" + member.name, content, depth + 1);
        status.Update(zip.Add(member.name, member.modified_ns / 1'000'000'000, content));
      }
    });
    if (!changed) return;
    if (!status.ok()) return Unread(name, Message(status));
    masking_.is_lossy |= is_part;
    bytes = std::move(zip).Finish();
  }

  // Replaces secrets in the members of a tar, and keeps all other entries as they are.
  void MaskTar(const std::string& name, std::string& bytes, int depth) {
    std::string masked;
    std::string_view rest = bytes;
    bool is_large = false;  // an extended header gives the size of the next member
    const bool changed = Replaces([&] {
      while (rest.size() >= kTarBlock && rest[0] != '\0') {
        std::string header(rest.substr(0, kTarBlock));
        size_t size = 0;
        for (char c : header.substr(kTarSize, 12)) {
          if (c >= '0' && c <= '7') size = size * 8 + size_t(c - '0');
        }
        const char type = header[kTarType];
        if (is_large || static_cast<unsigned char>(header[kTarSize]) >= 0x80 || type == 'S' ||
            size > rest.size() - kTarBlock)
          break;
        std::string content(rest.substr(kTarBlock, size));
        const size_t padded =
            std::min((size + kTarBlock - 1) / kTarBlock * kTarBlock, rest.size() - kTarBlock);
        if (type == '0' || type == '\0' || type == '7')
          Mask(name + "/" + header.substr(0, 100).c_str(), content, depth + 1);
        is_large = type == 'x' && content.find(" size=") != content.npos;
        if (content.size() != size) SetSize(header, content.size());
        masked += header + content;
        masked.append((kTarBlock - content.size() % kTarBlock) % kTarBlock, '\0');
        rest.remove_prefix(kTarBlock + padded);
      }
      if (rest.empty() || rest[0] == '\0') return;
      Unread(name, "from a damaged or very large member on only as text");
      std::string end(rest);
      masking_.secrets += secrets_.Remove(end);
      masked += end;
      rest = {};
    });
    if (changed) bytes = masked.append(rest);
  }

  static void SetSize(std::string& header, size_t size) {
    header.replace(kTarSize, 12, fmt::format("{:011o} ", size));
    header.replace(kTarSum, 8, 8, ' ');
    unsigned sum = 0;
    for (char c : header) sum += static_cast<unsigned char>(c);
    header.replace(kTarSum, 8, fmt::format("{:06o}", sum) + std::string("\0 ", 2));
  }

  void MaskDatabase(const std::string& name, std::string& bytes) {
    if (RemoveFromDatabase(secrets_, name, bytes, masking_, {})) return;
    Unread(name, "a database that SQLite cannot change, only as text");
    masking_.secrets += secrets_.Remove(bytes);
  }

  // Looks for secrets in the low bytes of UTF-16, which are those of ASCII.
  void MaskWide(std::string& bytes, Wide order) {
    const size_t low = order == Wide::kLittle ? 0 : 1;
    std::string narrow;
    for (size_t i = 0; i + 1 < bytes.size(); i += 2)
      narrow += bytes[i + 1 - low] == '\0' ? bytes[i + low] : '\xff';
    const std::string before = narrow;
    masking_.secrets += secrets_.Remove(narrow);
    for (size_t i = 0; i < narrow.size(); ++i) {
      if (narrow[i] == before[i]) continue;
      bytes[2 * i + low] = narrow[i];
      bytes[2 * i + 1 - low] = '\0';
    }
  }

  const Secrets& secrets_;
  Masking& masking_;
};

}  // namespace

bool RemoveFromFile(const Secrets& secrets, const std::string& name, std::string& bytes,
                    Masking& masking, std::string_view log) {
  if (!log.empty() && IsDatabase(bytes) && RemoveFromDatabase(secrets, name, bytes, masking, log))
    return true;
  Masker(secrets, masking).Mask(name, bytes, 0);
  return false;
}

}  // namespace xlaprof
