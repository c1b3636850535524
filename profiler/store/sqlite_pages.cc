#include "profiler/store/sqlite_pages.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstring>

// The format (sqlite.org/fileformat2.html), as far as it is read here. All integers are big-endian.
//
// File: pages of one size, numbered from 1. Page 1 begins with a header of 100 bytes: magic, page
// size (u16 at 16; 1 means 65536), bytes reserved at each page's end (u8 at 20), number of pages
// (u32 at 28), first trunk of the list of free pages (u32 at 32), user_version (u32 at 60). B-tree
// page: u8 kind, u16 first free block, u16 number of cells, u16 start of cells, u8 fragmented
// bytes. Interior pages then have the u32 right-most child. An array of u16 cell offsets follows.
// Cell: interior pages begin with a u32 child. Tables continue with a varint payload size (leaves
// only) and a varint row id, indexes with a varint payload size. Then come the payload's first
// bytes and, if it does not fit, the u32 first overflow page. Overflow page: u32 next (0: last),
// then payload. Record: varint size of the header, a varint type per value, then the values.
// Write-ahead log: header of 32 bytes (magic, version, page size, sequence, two salts, two
// checksums), then frames. A frame is a u32 page number, u32 pages in the file after this commit
// (0: no commit), two salts, two checksums that continue those of the frame before, and the page.

namespace xlaprof {
namespace {

constexpr std::string_view kMagic("SQLite format 3\0", 16);
constexpr uint64_t kLogHeader = 32, kFrameHeader = 24;
// SQLite's default limit of the bytes of a row (SQLITE_MAX_LENGTH).
constexpr uint64_t kMaxPayload = 1'000'000'000;
// SQLite's default limit of the columns of a table (SQLITE_MAX_COLUMN).
constexpr size_t kMaxColumns = 2000;

uint32_t Be16(const uint8_t* p) { return uint32_t(p[0]) << 8 | p[1]; }
uint32_t Be32(const uint8_t* p) { return Be16(p) << 16 | Be16(p + 2); }

bool ValidPageSize(uint64_t size) {
  return size >= 512 && size <= 65536 && std::has_single_bit(size);
}

// Reads SQLite's varint: 7 bits per byte, highest first; a ninth byte has 8.
bool Varint(const uint8_t*& p, const uint8_t* end, uint64_t* out) {
  uint64_t v = 0;
  for (int i = 0; i < 9; ++i) {
    if (p == end) return false;
    uint8_t b = *p++;
    if (i == 8) {
      *out = v << 8 | b;
      return true;
    }
    v = v << 7 | (b & 0x7f);
    if (b < 0x80) {
      *out = v;
      return true;
    }
  }
  return false;
}

struct LogChecksum {
  bool big_endian = false;
  uint32_t a = 0, b = 0;
  void Add(const uint8_t* p, size_t bytes) {
    for (size_t i = 0; i + 8 <= bytes; i += 8) {
      uint32_t x = Be32(p + i), y = Be32(p + i + 4);
      if (!big_endian) x = __builtin_bswap32(x), y = __builtin_bswap32(y);
      a += x + b;
      b += y + a;
    }
  }
};

}  // namespace

PageFile::File::~File() {
  if (fd_ >= 0) close(fd_);
}

uint64_t PageFile::File::Bytes() const {
  struct stat info {};
  return fstat(fd_, &info) == 0 && S_ISREG(info.st_mode) ? uint64_t(info.st_size) : 0;
}

bool PageFile::File::Read(uint64_t offset, void* to, size_t bytes) const {
  auto* p = static_cast<char*>(to);
  while (bytes > 0) {
    ssize_t got = pread(fd_, p, bytes, off_t(offset));
    if (got <= 0) return false;
    p += got;
    offset += uint64_t(got);
    bytes -= size_t(got);
  }
  return true;
}

absl::StatusOr<PageFile> PageFile::Open(const std::filesystem::path& path,
                                        uint32_t fallback_page_size) {
  PageFile out;
  out.file_ = File(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!out.file_.open()) return NotFound("{}: {}", path.string(), std::strerror(errno));
  std::filesystem::path log = path;
  log += "-wal";
  out.log_ = File(open(log.c_str(), O_RDONLY | O_CLOEXEC));
  out.ReadHeader(fallback_page_size);
  out.file_pages_ = out.file_.Bytes() / out.page_size_;
  out.ReadLog();
  for (uint64_t page = 1; page <= std::min<uint64_t>(out.file_pages_, UINT32_MAX); ++page) {
    out.pages_.push_back(uint32_t(page));
  }
  for (const auto& [page, offset] : out.in_log_) {
    if (page > out.file_pages_) out.pages_.push_back(page);
  }
  std::sort(out.pages_.begin(), out.pages_.end());
  // Page 1 may be in the log only.
  std::vector<uint8_t> first;
  if (out.Read(1, &first) && std::memcmp(first.data(), kMagic.data(), kMagic.size()) == 0) {
    out.header_intact_ = true;
    out.usable_ = out.page_size_ - std::min<uint32_t>(first[20], out.page_size_ - 480);
    out.user_version_ = Be32(&first[60]);
    out.first_free_trunk_ = Be32(&first[32]);
    out.expected_pages_ = std::max<uint64_t>(out.expected_pages_, Be32(&first[28]));
  }
  out.expected_pages_ = std::max<uint64_t>(out.expected_pages_, out.pages_.size());
  return out;
}

void PageFile::ReadHeader(uint32_t fallback_page_size) {
  page_size_ = fallback_page_size;
  uint8_t head[100];
  if (file_.Read(0, head, sizeof(head)) && std::memcmp(head, kMagic.data(), kMagic.size()) == 0) {
    uint32_t size = Be16(head + 16) == 1 ? 65536 : Be16(head + 16);
    if (ValidPageSize(size)) page_size_ = size;
  } else if (log_.open() && log_.Read(0, head, kLogHeader) && (Be32(head) & ~1u) == 0x377f0682 &&
             ValidPageSize(Be32(head + 8))) {
    page_size_ = Be32(head + 8);
  }
  usable_ = page_size_;
}

// A frame's checksum continues that of the frame before, so one broken frame hides all that follow
// from SQLite. Here each frame is checked against the checksum that its predecessor states, so that
// frames after a broken one are still found. Frames after the last commit are left out. If the
// log's header is broken, the first frame's salts are believed.
void PageFile::ReadLog() {
  uint8_t head[kLogHeader];
  uint8_t first_frame[kFrameHeader];
  if (!log_.open() || !log_.Read(0, head, sizeof(head)) ||
      !log_.Read(kLogHeader, first_frame, sizeof(first_frame)))
    return;
  uint32_t magic = Be32(head);
  LogChecksum sum{(magic & 1) != 0};
  sum.Add(head, 24);
  const bool sound_header = (magic & ~1u) == 0x377f0682 && Be32(head + 8) == page_size_ &&
                            sum.a == Be32(head + 24) && sum.b == Be32(head + 28);
  if (!sound_header) {
    sum = LogChecksum{false};  // the byte order of x86 and ARM
    std::memcpy(head + 16, first_frame + 8, 8);
  }
  std::vector<uint8_t> frame(kFrameHeader + page_size_);
  std::vector<std::pair<uint32_t, uint64_t>> uncommitted;
  int64_t bad = 0;
  for (uint64_t at = kLogHeader; log_.Read(at, frame.data(), frame.size()); at += frame.size()) {
    const uint8_t* p = frame.data();
    // Another salt: the frame is left over from an earlier round of the log.
    if (std::memcmp(p + 8, head + 16, 8) != 0) {
      sum.a = Be32(p + 16);
      sum.b = Be32(p + 20);
      ++bad;
      continue;
    }
    sum.Add(p, 8);
    sum.Add(p + kFrameHeader, page_size_);
    bool sound = sum.a == Be32(p + 16) && sum.b == Be32(p + 20) && Be32(p) != 0;
    sum.a = Be32(p + 16);
    sum.b = Be32(p + 20);
    if (!sound) {
      ++bad;
      continue;
    }
    uncommitted.emplace_back(Be32(p), at + kFrameHeader);
    if (Be32(p + 4) == 0) continue;
    for (auto [page, offset] : uncommitted) in_log_[page] = offset;
    uncommitted.clear();
    expected_pages_ = Be32(p + 4);
    bad_wal_frames_ = bad;  // frames after the last commit were never part of the store
  }
}

bool PageFile::Read(uint32_t page, std::vector<uint8_t>* out) const {
  out->resize(page_size_);
  if (auto found = in_log_.find(page); found != in_log_.end())
    return log_.Read(found->second, out->data(), page_size_);
  return page >= 1 && page <= file_pages_ &&
         file_.Read(uint64_t(page - 1) * page_size_, out->data(), page_size_);
}

std::optional<TreePage> ParseTreePage(const PageFile& file, uint32_t page,
                                      const std::vector<uint8_t>& bytes) {
  const uint8_t* const base = bytes.data();
  const uint32_t usable = file.usable();
  const uint32_t start = page == 1 ? 100 : 0;
  TreePage out;
  out.kind = TreePage::Kind(base[start]);
  if (out.kind != TreePage::kIndexInterior && out.kind != TreePage::kTableInterior &&
      out.kind != TreePage::kIndexLeaf && out.kind != TreePage::kTableLeaf) {
    return std::nullopt;
  }
  const uint32_t array = start + (out.interior() ? 12 : 8);
  const uint32_t count = Be16(base + start + 3);
  if (array + 2 * count > usable) return std::nullopt;
  // The most and the least bytes of a payload that stay on the page.
  const uint32_t most =
      out.kind == TreePage::kTableLeaf ? usable - 35 : (usable - 12) * 64 / 255 - 23;
  const uint32_t least = (usable - 12) * 32 / 255 - 23;
  uint64_t cell_bytes = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t offset = Be16(base + array + 2 * i);
    if (offset < array + 2 * count || offset >= usable) {
      ++out.bad_cells;
      continue;
    }
    const uint8_t* p = base + offset;
    const uint8_t* const end = base + usable;
    TreePage::Cell cell;
    if (out.interior()) {
      if (end - p < 4) {
        ++out.bad_cells;
        continue;
      }
      out.children.push_back(Be32(p));
      p += 4;
    }
    uint64_t rowid = 0;
    bool good = out.kind == TreePage::kTableInterior || Varint(p, end, &cell.payload_bytes);
    if (good && !out.index()) good = Varint(p, end, &rowid);
    cell.rowid = int64_t(rowid);
    if (good && cell.payload_bytes > kMaxPayload) good = false;
    if (good && out.kind != TreePage::kTableInterior) {
      uint64_t local = cell.payload_bytes;
      if (local > most) {
        uint64_t fitting = least + (cell.payload_bytes - least) % (usable - 4);
        local = fitting <= most ? fitting : least;
      }
      const bool overflows = local < cell.payload_bytes;
      good = uint64_t(end - p) >= local + (overflows ? 4 : 0);
      if (good) {
        cell.local = {reinterpret_cast<const char*>(p), size_t(local)};
        p += local;
        if (overflows) {
          cell.overflow = Be32(p);
          p += 4;
        }
      }
    }
    cell_bytes += uint64_t(p - (base + offset));
    // Sound cells do not overlap. A page whose cells do is made to waste time.
    if (!good || cell_bytes > usable) {
      ++out.bad_cells;
      if (cell_bytes > usable) break;
      continue;
    }
    out.cells.push_back(cell);
  }
  if (out.interior()) out.children.push_back(Be32(base + start + 8));
  return out;
}

bool ParseRecord(std::string_view record, uint64_t record_bytes, bool whole,
                 std::vector<RecordValue>* out) {
  out->clear();
  const auto* p = reinterpret_cast<const uint8_t*>(record.data());
  const uint8_t* const begin = p;
  uint64_t header;
  if (!Varint(p, p + record.size(), &header) || header > record.size() ||
      header < uint64_t(p - begin))
    return false;
  const uint8_t* const header_end = begin + header;
  const uint8_t* body = header_end;
  uint64_t left = record_bytes - header;
  while (p < header_end) {
    uint64_t type;
    if (!Varint(p, header_end, &type)) return false;
    RecordValue value;
    uint64_t bytes = 0;
    if (type == 0) {
      value.type = RecordValue::kNull;
    } else if (type <= 6 || type == 8 || type == 9) {
      value.type = RecordValue::kInt;
      constexpr uint8_t kBytes[] = {0, 1, 2, 3, 4, 6, 8, 8, 0, 0};
      bytes = kBytes[type];
    } else if (type == 7) {
      value.type = RecordValue::kReal;
      bytes = 8;
    } else if (type >= 12) {
      value.type = type % 2 == 0 ? RecordValue::kBlob : RecordValue::kText;
      bytes = (type - 12) / 2;
    } else {
      return false;
    }
    if (bytes > left || out->size() == kMaxColumns) return false;
    left -= bytes;
    if (whole) {
      if (value.type == RecordValue::kInt) {
        uint64_t v = bytes > 0 && (body[0] & 0x80) ? UINT64_MAX : 0;
        for (uint64_t i = 0; i < bytes; ++i) v = v << 8 | body[i];
        value.integer = type == 9 ? 1 : int64_t(v);
      } else if (value.type == RecordValue::kReal) {
        uint64_t v = 0;
        for (int i = 0; i < 8; ++i) v = v << 8 | body[i];
        value.real = std::bit_cast<double>(v);
      } else if (value.type != RecordValue::kNull) {
        value.bytes = {reinterpret_cast<const char*>(body), size_t(bytes)};
      }
      body += bytes;
    }
    out->push_back(value);
  }
  return left == 0;
}

OverflowReader::OverflowReader(const PageFile& file)
    : file_(file), retries_left_(8 * uint64_t(file.pages().size()) + 1024) {}

bool OverflowReader::Read(const TreePage::Cell& cell, std::string* out) {
  out->assign(cell.local);
  std::vector<uint32_t> mine;
  uint32_t page = cell.overflow;
  bool good = true;
  while (good && out->size() < cell.payload_bytes) {
    good = page != 0 && !used_.contains(page) && file_.Read(page, &page_);
    if (!good) break;
    used_.insert(page);
    mine.push_back(page);
    size_t take = std::min<uint64_t>(cell.payload_bytes - out->size(), file_.usable() - 4);
    // A page that was zeroed links nowhere. The last page of a chain does not either, but has other
    // bytes than 0.
    good = std::any_of(page_.begin(), page_.end(), [](uint8_t b) { return b != 0; });
    out->append(reinterpret_cast<const char*>(page_.data()) + 4, take);
    page = Be32(page_.data());
  }
  if (good && page != 0 && !mine.empty()) good = false;  // a chain ends where its payload does
  if (good) return true;
  if (mine.size() <= retries_left_) {
    retries_left_ -= mine.size();
    for (uint32_t p : mine) used_.erase(p);
  }
  return false;
}

}  // namespace xlaprof
