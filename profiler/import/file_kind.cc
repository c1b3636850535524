#include "profiler/import/file_kind.h"

#include <sys/stat.h>
#include <sys/vfs.h>

#include <algorithm>

namespace xlaprof {
namespace {

// The file systems whose files the kernel makes while they are read, by f_type of statfs
// (linux/magic.h).
constexpr uint32_t kKernelFileSystems[] = {
    0x9fa0,                  // proc
    0x62656572,              // sysfs
    0x64626720,              // debugfs
    0x74726163,              // tracefs
    0x73636673,              // securityfs
    0x27e0eb,   0x63677270,  // cgroup, cgroup2
    0xcafe4a11,              // bpf
};

bool IsOfTheKernel(const std::filesystem::path& path) {
  struct statfs info {};
  return statfs(path.c_str(), &info) == 0 &&
         std::ranges::find(kKernelFileSystems, uint32_t(info.f_type)) !=
             std::end(kKernelFileSystems);
}

}  // namespace

FileKind KindOf(const std::filesystem::path& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) return FileKind::kNone;
  if (S_ISREG(info.st_mode)) return IsOfTheKernel(path) ? FileKind::kKernel : FileKind::kRegular;
  if (S_ISDIR(info.st_mode)) return FileKind::kDirectory;
  if (S_ISCHR(info.st_mode) || S_ISBLK(info.st_mode)) return FileKind::kDevice;
  if (S_ISFIFO(info.st_mode)) return FileKind::kPipe;
  return S_ISSOCK(info.st_mode) ? FileKind::kSocket : FileKind::kOther;
}

std::string_view TextOf(FileKind kind) {
  switch (kind) {
    case FileKind::kRegular:
      return "a regular file";
    case FileKind::kKernel:
      return "a file of the kernel";
    case FileKind::kDevice:
      return "a device";
    case FileKind::kPipe:
      return "a pipe";
    case FileKind::kSocket:
      return "a socket";
    case FileKind::kDirectory:
      return "a directory";
    case FileKind::kNone:
      return "a file that does not exist";
    case FileKind::kOther:
      return "a special file";
  }
  return "";
}

Look LookOf(std::string_view bytes) {
  if (bytes.empty()) return Look::kEmpty;
  if (bytes.starts_with("SQLite format 3")) return Look::kSqlite;
  if (bytes.starts_with("\x89PNG")) return Look::kPng;
  if (bytes.starts_with("PK\x03\x04")) return Look::kZip;
  if (bytes.starts_with("\x7f"
                        "ELF"))
    return Look::kProgram;
  const size_t first = bytes.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && (bytes[first] == '{' || bytes[first] == '['))
    return Look::kJson;
  const bool is_text = std::ranges::all_of(bytes.substr(0, 4096), [](unsigned char c) {
    return c >= 0x20 || c == '\n' || c == '\r' || c == '\t';
  });
  return is_text ? Look::kText : Look::kBinary;
}

std::string_view TextOf(Look look) {
  switch (look) {
    case Look::kEmpty:
      return "an empty file";
    case Look::kText:
      return "text";
    case Look::kJson:
      return "JSON";
    case Look::kSqlite:
      return "an SQLite database";
    case Look::kPng:
      return "a PNG image";
    case Look::kZip:
      return "a zip archive";
    case Look::kProgram:
      return "a program";
    case Look::kBinary:
      return "binary";
  }
  return "";
}

}  // namespace xlaprof
