// Reads the pages of an SQLite 3 file without SQLite, for files that SQLite refuses: cut, partly
// overwritten, or with broken trees. The bytes are hostile: nothing here trusts a length, loops
// endlessly, or allocates more than what it has read.
#pragma once

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.h"

namespace xlaprof {

// The newest readable version of each page: that of the last frame of the write-ahead log
// (PATH-wal) that is sound and committed, or else that of the file.
class PageFile {
 public:
  // Returns NotFound if the file cannot be opened. A damaged header is not an error:
  // `fallback_page_size` is used then.
  static absl::StatusOr<PageFile> Open(const std::filesystem::path& path,
                                       uint32_t fallback_page_size);
  uint32_t page_size() const { return page_size_; }
  uint32_t usable() const { return usable_; }  // page_size less the bytes reserved at its end
  // Numbers of all readable pages, ascending.
  const std::vector<uint32_t>& pages() const { return pages_; }
  bool header_intact() const { return header_intact_; }
  // These come from the header; 0 if it is damaged.
  uint32_t user_version() const { return user_version_; }
  uint32_t first_free_trunk() const { return first_free_trunk_; }
  // The number of pages that the file had, as far as the header and the log say; at least
  // pages().size().
  uint64_t expected_pages() const { return expected_pages_; }
  int64_t bad_wal_frames() const { return bad_wal_frames_; }

  // Returns false if the page is not there.
  bool Read(uint32_t page, std::vector<uint8_t>* out) const;

 private:
  // A file descriptor that closes itself.
  class File {
   public:
    explicit File(int fd = -1) : fd_(fd) {}
    File(File&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    File& operator=(File&& other) noexcept { return std::swap(fd_, other.fd_), *this; }
    ~File();
    bool open() const { return fd_ >= 0; }
    uint64_t Bytes() const;  // 0 if it is not a regular file
    bool Read(uint64_t offset, void* to, size_t bytes) const;

   private:
    int fd_;
  };

  PageFile() = default;
  void ReadHeader(uint32_t fallback_page_size);
  void ReadLog();

  File file_, log_;
  uint64_t file_pages_ = 0, expected_pages_ = 0;
  uint32_t page_size_ = 0, usable_ = 0, user_version_ = 0, first_free_trunk_ = 0;
  bool header_intact_ = false;
  int64_t bad_wal_frames_ = 0;
  std::vector<uint32_t> pages_;
  absl::flat_hash_map<uint32_t, uint64_t> in_log_;  // page: offset of its newest version in the log
};

// One page of a b-tree. Table trees have rows in their leaves; index trees (and tables WITHOUT
// ROWID) have them in all pages.
struct TreePage {
  enum Kind : uint8_t { kIndexInterior = 2, kTableInterior = 5, kIndexLeaf = 10, kTableLeaf = 13 };
  struct Cell {
    int64_t rowid = 0;           // set in table leaves
    uint64_t payload_bytes = 0;  // 0 in table interiors, which have no payload
    std::string_view local;      // the part of the payload that is on the page
    uint32_t overflow = 0;       // page on which the payload continues; 0: none
  };
  Kind kind = kTableLeaf;
  std::vector<uint32_t> children;  // set in interior pages
  std::vector<Cell> cells;
  int64_t bad_cells = 0;  // cells that point outside the page
  bool interior() const { return kind == kIndexInterior || kind == kTableInterior; }
  bool index() const { return kind == kIndexInterior || kind == kIndexLeaf; }
};

// Returns nothing if the page is not a b-tree page. Cells view `bytes`.
std::optional<TreePage> ParseTreePage(const PageFile& file, uint32_t page,
                                      const std::vector<uint8_t>& bytes);

// One value of a record; `bytes` views the record.
struct RecordValue {
  enum Type : uint8_t { kNull, kInt, kReal, kText, kBlob };
  Type type = kNull;
  int64_t integer = 0;
  double real = 0;
  std::string_view bytes;
};
// Reads the values of a record, or only their types if the record continues elsewhere (`whole` is
// false). Returns false if it is not a record.
bool ParseRecord(std::string_view record, uint64_t record_bytes, bool whole,
                 std::vector<RecordValue>* out);

// Puts payloads together from overflow pages. Each page is given to one payload only, so that
// chains which meet or loop cost no more than the file's size.
class OverflowReader {
 public:
  explicit OverflowReader(const PageFile& file);
  // Returns false if the chain is broken. While retries are left, its pages are then free for
  // another chain.
  bool Read(const TreePage::Cell& cell, std::string* out);
  bool Used(uint32_t page) const { return used_.contains(page); }

 private:
  const PageFile& file_;
  absl::flat_hash_set<uint32_t> used_;
  uint64_t retries_left_;  // pages that may be read again after a broken chain
  std::vector<uint8_t> page_;
};

}  // namespace xlaprof
