#include "profiler/import/archive.h"

#include <archive.h>
#include <archive_entry.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "profiler/import/byte_sink.h"
#include "profiler/import/formats.h"
#include "profiler/import/input.h"
#include "profiler/import/notebook.h"

namespace xlaprof {
namespace {

constexpr size_t kBlockBytes = 512;  // size of tar's first header
constexpr size_t kMaxMembers = 20'000;
constexpr size_t kMaxNameBytes = 1000;
constexpr size_t kJudgedBytes = 64 << 10;   // the beginning by which Wanted judges a member
constexpr size_t kSniffedBytes = 16 << 10;  // the beginning by which an archive is recognised

// Returns whether `head` begins with a tar header. A header holds the sum of its bytes in octal,
// with its own field taken as spaces.
bool IsTar(std::string_view head) {
  constexpr size_t kSumAt = 148, kSumBytes = 8;
  if (head.size() < kBlockBytes || head[0] == '\0') return false;
  uint64_t sum = 0, told = 0;
  for (size_t i = 0; i < kBlockBytes; ++i) {
    const bool own = i >= kSumAt && i < kSumAt + kSumBytes;
    sum += own ? ' ' : static_cast<unsigned char>(head[i]);
  }
  bool digits = false;
  for (char c : head.substr(kSumAt, kSumBytes)) {
    if (c >= '0' && c <= '7') {
      told = told * 8 + uint64_t(c - '0');
      digits = true;
    } else if (digits) {
      break;
    }
  }
  return digits && sum == told;
}

bool IsZip(std::string_view head) {
  return head.starts_with("PK\x03\x04") || head.starts_with("PK\x05\x06");
}

bool IsArchive(std::string_view head) { return IsZip(head) || IsTar(head) || IsNotebook(head); }

struct Reader {
  archive* handle = archive_read_new();
  ~Reader() { archive_read_free(handle); }
  std::string Error() const {
    const char* text = archive_error_string(handle);
    return text != nullptr ? text : "damaged";
  }
};

}  // namespace

std::string HarmlessName(std::string_view name) {
  std::string out;
  std::string plain(name.substr(0, kMaxNameBytes));
  for (char& c : plain) {
    if (c == '\\') c = '/';
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '_';
  }
  std::string_view rest = plain;
  while (!rest.empty()) {
    const size_t slash = std::min(rest.find('/'), rest.size());
    const std::string_view part = rest.substr(0, slash);
    rest.remove_prefix(std::min(slash + 1, rest.size()));
    if (part.empty() || part == "." || part == "..") continue;
    if (!out.empty()) out += '/';
    out += part;
  }
  return out.empty() ? "unnamed" : out;
}

struct Archive::Impl {
  struct Range {
    size_t begin, end;
  };
  Block block;  // bytes of all members, one after the other
  std::vector<Member> members;
  std::string damage;
  int64_t skipped = 0;
  size_t disk_bytes = 0;       // size on disk of the file that the archive was read from
  size_t in_memory_bytes = 0;  // memory that may be used; after Keep(), memory that is used

  // These read the members. They fail only if the bytes of the members cannot be kept.
  absl::Status Read(std::string_view bytes, const Wanted& wanted);
  absl::Status ReadCells(std::string_view notebook);
  absl::Status Keep(ByteSink sink, std::span<const Range> ranges);
  absl::Status ReadData(archive* handle, const Wanted& wanted, ByteSink& sink, Member& member);
  std::string NameOf(archive_entry* entry);
  std::set<std::string> names;
  std::map<std::string, int> repeats;
  bool bomb = false;
};

Archive::Archive(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Archive::~Archive() = default;
std::span<const Archive::Member> Archive::members() const { return impl_->members; }
void Archive::Forget(size_t member) const {
  const std::string_view all = impl_->block.view(), bytes = impl_->members[member].bytes;
  const size_t begin = size_t(bytes.data() - all.data());
  impl_->block.Forget(begin, begin + bytes.size());
}
const std::string& Archive::damage() const { return impl_->damage; }
int64_t Archive::skipped() const { return impl_->skipped; }
size_t Archive::in_memory_bytes() const { return impl_->in_memory_bytes; }

bool Archive::Is(const FileEnds& ends) {
  return IsArchive(std::string_view(ends.bytes).substr(0, kSniffedBytes));
}

absl::StatusOr<std::shared_ptr<const Archive>> Archive::Open(const std::filesystem::path& path,
                                                             const Wanted& wanted,
                                                             size_t in_memory_bytes) {
  XP_TRY(InputFile file, InputFile::Open(path, /*maps_large_files=*/true));
  return OfBytes(path.string(), file.bytes(), wanted,
                 {file.damage(), file.disk().size(), in_memory_bytes});
}

absl::StatusOr<std::shared_ptr<const Archive>> Archive::OfBytes(const std::string& name,
                                                                std::string_view bytes,
                                                                const Wanted& wanted,
                                                                ArchiveOrigin origin) {
  auto impl = std::make_unique<Impl>();
  impl->disk_bytes = origin.disk_bytes == 0 ? bytes.size() : origin.disk_bytes;
  impl->in_memory_bytes = origin.in_memory_bytes;
  const bool is_notebook = IsNotebook(bytes.substr(0, kSniffedBytes));
  XP_TRY(is_notebook ? impl->ReadCells(bytes) : impl->Read(bytes, wanted));
  // Damage of the compression also damages the archive, and its message is more specific.
  if (!origin.damage.empty()) impl->damage = std::move(origin.damage);
  if (impl->members.empty() && is_notebook) {
    return Invalid(
        "{}: no cell of this notebook has printed a report or a log that xlaprof knows{}{}. Run it, print the metrics report in it, and save it",
        name, impl->damage.empty() ? "" : "; ", impl->damage);
  }
  if (impl->members.empty()) {
    std::string why = impl->damage;
    if (why.empty())
      why = impl->skipped > 0 ? "only links, devices or encrypted members" : "no files in it";
    return Invalid("{}: nothing in this archive could be read: {}. Copy or pack it again", name,
                   why);
  }
  return std::shared_ptr<const Archive>(new Archive(std::move(impl)));
}

std::string Archive::Impl::NameOf(archive_entry* entry) {
  // Either name may be missing if it does not fit the locale.
  const char* raw = archive_entry_pathname(entry);
  if (raw == nullptr) raw = archive_entry_pathname_utf8(entry);
  const std::string name = HarmlessName(raw != nullptr ? raw : "");
  // A name that comes again gets a number; "a#2" may itself be the name of a member.
  std::string distinct = name;
  while (!names.insert(distinct).second) distinct = fmt::format("{}#{}", name, ++repeats[name] + 1);
  return distinct;
}

absl::Status Archive::Impl::Read(std::string_view bytes, const Wanted& wanted) {
  Reader reader;
  archive_read_support_format_tar(reader.handle);
  archive_read_support_format_zip(reader.handle);
  if (archive_read_open_memory(reader.handle, bytes.data(), bytes.size()) != ARCHIVE_OK) {
    damage = reader.Error();
    return absl::OkStatus();
  }
  ByteSink sink(in_memory_bytes);
  std::vector<Range> ranges;
  while (!bomb) {
    archive_entry* entry = nullptr;
    const int rc = archive_read_next_header(reader.handle, &entry);
    if (rc == ARCHIVE_EOF) break;
    if (rc == ARCHIVE_FATAL || rc == ARCHIVE_RETRY) {
      if (damage.empty()) {
        damage = fmt::format("the archive is damaged after {} members: {}", members.size(),
                             reader.Error());
      }
      break;
    }
    if (archive_entry_filetype(entry) == AE_IFDIR) continue;
    const bool plain = archive_entry_filetype(entry) == AE_IFREG &&
                       archive_entry_hardlink(entry) == nullptr &&
                       archive_entry_is_data_encrypted(entry) == 0;
    if (!plain) {
      ++skipped;
      continue;
    }
    if (members.size() == kMaxMembers) {
      damage =
          fmt::format("the archive has more than {} files; the rest was not read", kMaxMembers);
      break;
    }
    Member member{.name = NameOf(entry), .bytes = {}, .damage = {}};
    constexpr int64_t kLatest = 9'000'000'000;  // seconds since 1970; the header may say anything
    member.modified_ns =
        std::clamp(int64_t(archive_entry_mtime(entry)), int64_t{0}, kLatest) * 1'000'000'000;
    const size_t begin = sink.size();
    XP_TRY(ReadData(reader.handle, wanted, sink, member));
    member.size_bytes = archive_entry_size_is_set(entry)
                            ? std::max<int64_t>(0, archive_entry_size(entry))
                            : int64_t(sink.size() - begin);
    ranges.push_back({begin, sink.size()});
    members.push_back(std::move(member));
  }
  return Keep(std::move(sink), ranges);
}

// Keeps the cells whose output is in a format that an importer knows, because most cells print
// something else.
absl::Status Archive::Impl::ReadCells(std::string_view notebook) {
  NotebookOutputs outputs = ReadNotebook(notebook);
  damage = std::move(outputs.damage);
  ByteSink sink(in_memory_bytes);
  std::vector<Range> ranges;
  for (const NotebookOutput& cell : outputs.cells) {
    if (members.size() == kMaxMembers || Recognise(cell.text).format == nullptr) continue;
    ranges.push_back({sink.size(), sink.size() + cell.text.size()});
    XP_TRY(sink.Append(cell.text.data(), cell.text.size()));
    members.push_back({.name = fmt::format("cell_{}.txt", cell.cell),
                       .bytes = {},
                       .size_bytes = int64_t(cell.text.size()),
                       .damage = {}});
  }
  return Keep(std::move(sink), ranges);
}

absl::Status Archive::Impl::Keep(ByteSink sink, std::span<const Range> ranges) {
  in_memory_bytes = sink.is_in_memory() ? sink.size() : 0;
  XP_TRY(block, std::move(sink).Finish());
  for (size_t i = 0; i < members.size(); ++i)
    members[i].bytes = block.view().substr(ranges[i].begin, ranges[i].end - ranges[i].begin);
  return absl::OkStatus();
}

absl::Status Archive::Impl::ReadData(archive* handle, const Wanted& wanted, ByteSink& sink,
                                     Member& member) {
  static constexpr char kZeros[1 << 12] = {};
  const size_t begin = sink.size();
  std::string head;
  bool asked = false, skips = false;
  auto append = [&](const char* data, size_t size) -> absl::Status {
    if (!asked) {
      const size_t part = std::min(size, kJudgedBytes - head.size());
      head.append(data, part);
      XP_TRY(sink.Append(data, part));
      data += part, size -= part;
      if (head.size() < kJudgedBytes) return absl::OkStatus();
      asked = true;
      skips = !wanted(head);
    }
    return skips || size == 0 ? absl::OkStatus() : sink.Append(data, size);
  };
  while (!skips) {
    const void* data = nullptr;
    size_t size = 0;
    la_int64_t offset = 0;
    const int rc = archive_read_data_block(handle, &data, &size, &offset);
    if (rc == ARCHIVE_EOF) return absl::OkStatus();
    if (rc < ARCHIVE_WARN) {
      const char* text = archive_error_string(handle);
      member.damage = fmt::format("the archive is damaged inside this file: {}",
                                  text != nullptr ? text : "bad data");
      damage = fmt::format("{} is truncated: {}", member.name, text != nullptr ? text : "bad data");
      return absl::OkStatus();
    }
    // The gaps between the blocks of a sparse file are zeros.
    while (!skips && offset > la_int64_t(sink.size() - begin) && !IsBomb(disk_bytes, sink.size())) {
      const size_t gap = size_t(offset) - (sink.size() - begin);
      XP_TRY(append(kZeros, std::min(gap, sizeof kZeros)));
    }
    if (!IsBomb(disk_bytes, sink.size())) XP_TRY(append(static_cast<const char*>(data), size));
    if (IsBomb(disk_bytes, sink.size())) {
      bomb = true;
      member.damage = fmt::format(
          "the archive grew more than {}-fold, so reading it stopped. If you trust it, unpack it first",
          kMaxGrowth);
      damage = member.damage;
      return absl::OkStatus();
    }
  }
  return absl::OkStatus();
}

}  // namespace xlaprof
