#include "core/trace/safetensors.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>
#include <tuple>

#include "base/escape.h"
#include "base/unfinished_file.h"
#include "core/ir/hash.h"

namespace xlaprof::lazy {
namespace {

static_assert(std::endian::native == std::endian::little, "data is written as it lies in memory");

using Json = nlohmann::json;

// The format's limit.
constexpr uint64_t kMaxHeaderBytes = 100'000'000;
constexpr std::string_view kMetadata = "__metadata__";
constexpr std::string_view kDevice = "xlaprof.device/", kUnset = "00000000000000000000000000000000";
// The beginning of a header with a hash. The hash follows, and is computed with zeros in its place.
constexpr std::string_view kHashBegins = R"({"__metadata__":{"xlaprof.hash":")";

constexpr std::pair<std::string_view, DType> kTypes[] = {
    {"BOOL", DType::kBool}, {"U8", DType::kU8},   {"I8", DType::kI8},     {"I16", DType::kI16},
    {"I32", DType::kI32},   {"I64", DType::kI64}, {"BF16", DType::kBF16}, {"F16", DType::kF16},
    {"F32", DType::kF32},   {"F64", DType::kF64}};

std::string_view NameOf(DType type) {
  return std::find_if(std::begin(kTypes), std::end(kTypes),
                      [type](const auto& known) { return known.second == type; })
      ->first;
}

std::string_view Bytes(const HostTensor& tensor) {
  return {reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size()};
}

// Computes a file's hash over the header, with zeros for the hash, and each tensor's data in the
// order of the file.
class FileHash {
 public:
  explicit FileHash(std::string_view header) { Add(header); }
  void Add(std::string_view bytes) { hash_ = Mix(hash_, bytes); }
  std::string text() const { return fmt::format("{:016x}{:016x}", hash_.high, hash_.low); }

 private:
  Hash hash_;
};

// --- reading ---

// One tensor of a header, which is checked separately.
struct Entry {
  std::string name;
  Shape shape;
  int64_t begin = 0, end = 0;
};

class Reader {
 public:
  explicit Reader(const std::filesystem::path& path) : path_(path) {}

  absl::StatusOr<SavedTensors> Read() {
    std::error_code error;
    if (std::filesystem::is_directory(path_, error))
      return Invalid("{}: a folder, not a safetensors file", path_.string());
    file_.open(path_, std::ios::binary | std::ios::ate);
    if (!file_) return NotFound("{}: cannot be read. Check that the file exists", path_.string());
    size_ = uint64_t(file_.tellg());
    file_.seekg(0);
    XP_TRY(ReadHeader());
    XP_TRY(Json header, ParseHeader());
    XP_TRY(std::vector<Entry> entries, Entries(header));
    XP_TRY(CheckOffsets(entries));
    SavedTensors tensors;
    FileHash hash(unset_);
    for (Entry& entry : entries) {
      SavedTensor& tensor = tensors[entry.name];
      tensor.values.shape = std::move(entry.shape);
      XP_TRY(ReadData(tensor.values));
      hash.Add(Bytes(tensor.values));
      MakeTruthValues(tensor.values);
      if (const auto device = devices_.find(entry.name); device != devices_.end())
        tensor.device = device->second;
    }
    if (hash_ && *hash_ != hash.text()) {
      return DataLoss(
          "{}: its bytes differ from those that were saved (their hash differs). Copy or save it again",
          path_.string());
    }
    return tensors;
  }

 private:
  absl::Status NoSafetensors(std::string_view what) const {
    return Invalid("{}: not a safetensors file: {}", path_.string(), what);
  }

  // Returns what a file is whose byte 8 begins no header. Only then do the first bytes tell the
  // format: a header of 640 bytes has the length 80 02, with which files of torch.save begin, too.
  static std::string OtherFormat(std::string_view seen) {
    if (seen.starts_with("PK\x03\x04") || seen.starts_with("\x80\x02"))
      return "torch.save wrote it. Convert it in Python: safetensors.torch.save_file(torch.load(FILE), \"weights.safetensors\")";
    if (seen.starts_with("\x89HDF")) return "it is an HDF5 file";
    return fmt::format("byte 8 is {:#04x}, but a header begins with {{", uint8_t(seen[8]));
  }

  absl::Status ReadHeader() {
    char begin[9] = {};
    file_.read(begin, sizeof(begin));
    const std::string_view seen(begin, size_t(file_.gcount()));
    if (seen.size() < 9)
      return NoSafetensors(
          fmt::format("it has only {} bytes and may have been cut. Copy it again", size_));
    if (seen[8] != '{') return NoSafetensors(OtherFormat(seen));
    uint64_t length = 0;
    std::memcpy(&length, begin, 8);
    if (length > kMaxHeaderBytes || length > size_ - 8) {
      return DataLoss(
          "{}: bytes 0 to 7 announce a header of {} bytes, but {} follow. The file may have been cut. Copy it again",
          path_.string(), length, size_ - 8);
    }
    header_.resize(length);
    file_.seekg(8);
    file_.read(header_.data(), std::streamsize(length));
    unset_ = header_;
    if (header_.starts_with(kHashBegins) && header_.size() > kHashBegins.size() + kUnset.size()) {
      hash_ = header_.substr(kHashBegins.size(), kUnset.size());
      unset_.replace(kHashBegins.size(), kUnset.size(), kUnset);
    }
    return absl::OkStatus();
  }

  absl::StatusOr<Json> ParseHeader() const {
    try {
      Json header = Json::parse(header_);
      if (!header.is_object()) return NoSafetensors("its header is not a JSON object");
      return header;
    } catch (const nlohmann::json::exception& error) {
      return DataLoss(
          "{}: its header, {} bytes from byte 8 on, is not valid JSON: {}. Copy it again",
          path_.string(), header_.size(), error.what());
    }
  }

  absl::StatusOr<std::vector<Entry>> Entries(const Json& header) {
    std::vector<Entry> entries;
    for (const auto& [name, value] : header.items()) {
      if (name == kMetadata) {
        XP_TRY(TakeMetadata(value));
        continue;
      }
      XP_TRY(Entry entry, ReadEntry(name, value));
      entries.push_back(std::move(entry));
    }
    return entries;
  }

  absl::Status TakeMetadata(const Json& metadata) {
    if (!metadata.is_object()) return NoSafetensors("__metadata__ of its header is not an object");
    for (const auto& [key, value] : metadata.items()) {
      if (key.starts_with(kDevice) && value.is_string())
        devices_[key.substr(kDevice.size())] = value.get<std::string>();
    }
    return absl::OkStatus();
  }

  absl::StatusOr<Entry> ReadEntry(const std::string& name, const Json& value) const {
    auto bad = [&](std::string_view what) {
      return Invalid("{}: tensor {}: {}", path_.string(), Printable(name), what);
    };
    // Json is not copied, because copying recurses for each level of nesting.
    static const Json none;
    const auto part = [&](const char* key) -> const Json& {
      return value.is_object() && value.contains(key) ? value[key] : none;
    };
    const auto are_counts = [](const Json& list) {
      return list.is_array() && std::all_of(list.begin(), list.end(), [](const Json& item) {
               return item.is_number_unsigned() && item.get<uint64_t>() <= INT64_MAX;
             });
    };
    const Json &dtype = part("dtype"), &shape = part("shape"), &offsets = part("data_offsets");
    if (!dtype.is_string() || !are_counts(shape) || !are_counts(offsets) || offsets.size() != 2)
      return bad("dtype, shape or data_offsets is missing or invalid. Copy it again");
    const auto type = std::find_if(std::begin(kTypes), std::end(kTypes), [&](const auto& known) {
      return known.first == dtype.get<std::string>();
    });
    if (type == std::end(kTypes)) {
      return bad(fmt::format(
          "type {} is not supported. Save it as one of BOOL, U8, I8, I16, I32, I64, BF16, F16, F32, F64",
          Printable(dtype.get<std::string>())));
    }
    Entry entry{.name = name,
                .shape = {type->second, {}},
                .begin = offsets[0].get<int64_t>(),
                .end = offsets[1].get<int64_t>()};
    // Sizes of 0 count as 1, so that no partial product overflows.
    int64_t bytes = ByteSize(type->second);
    bool fits = true;
    for (const Json& item : shape) {
      const auto size = item.get<int64_t>();
      entry.shape.dims.push_back(size);
      fits &= !__builtin_mul_overflow(bytes, std::max<int64_t>(size, 1), &bytes);
    }
    if (!fits || entry.shape.bytes() != entry.end - entry.begin) {
      return bad(fmt::format("{} {} does not fill bytes {} to {} of the data. Copy it again",
                             dtype.get<std::string>(), SizesText(entry.shape.dims), entry.begin,
                             entry.end));
    }
    return entry;
  }

  // Sorts the entries by their offset, and checks that their data fill the file without gaps.
  absl::Status CheckOffsets(std::vector<Entry>& entries) const {
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
      return std::tie(a.begin, a.end) < std::tie(b.begin, b.end);
    });
    int64_t end = 0;
    for (const Entry& entry : entries) {
      if (entry.begin != end) {
        return Invalid("{}: tensor {} begins at byte {} of the data instead of byte {}",
                       path_.string(), Printable(entry.name), entry.begin, end);
      }
      end = entry.end;
    }
    const uint64_t there = size_ - 8 - header_.size();
    if (uint64_t(end) == there) return absl::OkStatus();
    return DataLoss("{}: it has {} bytes of data, but its header describes {}. {}Copy it again",
                    path_.string(), there, end,
                    there < uint64_t(end) ? "It may have been cut. " : "");
  }

  absl::Status ReadData(HostTensor& tensor) {
    tensor.bytes.resize(size_t(tensor.shape.bytes()));
    file_.read(reinterpret_cast<char*>(tensor.bytes.data()), std::streamsize(tensor.bytes.size()));
    if (file_) return absl::OkStatus();
    return DataLoss("{}: cannot be read to its end", path_.string());
  }

  // Other programs may write any byte other than 0 for true.
  static void MakeTruthValues(HostTensor& tensor) {
    if (tensor.shape.dtype != DType::kBool) return;
    for (std::byte& byte : tensor.bytes) byte = std::byte(byte != std::byte());
  }

  const std::filesystem::path& path_;
  std::ifstream file_;
  uint64_t size_ = 0;
  std::string header_, unset_;       // as in the file, and with zeros for the hash
  std::optional<std::string> hash_;  // the hash in the file
  std::map<std::string, std::string> devices_;
};

// --- writing ---

using Named = std::pair<const std::string, SavedTensor>;

// Puts wide types first, so that each tensor's data is aligned.
std::vector<const Named*> InOrder(const SavedTensors& tensors) {
  std::vector<const Named*> order;
  for (const Named& tensor : tensors) order.push_back(&tensor);
  std::stable_sort(order.begin(), order.end(), [](const Named* a, const Named* b) {
    return ByteSize(a->second.values.shape.dtype) > ByteSize(b->second.values.shape.dtype);
  });
  return order;
}

// Returns the header with zeros for the hash.
std::string HeaderOf(const std::vector<const Named*>& order) {
  nlohmann::ordered_json header;
  header["__metadata__"]["xlaprof.hash"] = kUnset;
  int64_t at = 0;
  for (const Named* named : order) {
    const auto& [name, tensor] = *named;
    const Shape& shape = tensor.values.shape;
    if (!tensor.device.empty()) header["__metadata__"][std::string(kDevice) + name] = tensor.device;
    header[name] = {{"dtype", NameOf(shape.dtype)},
                    {"shape", std::vector<int64_t>(shape.dims.begin(), shape.dims.end())},
                    {"data_offsets", {at, at + shape.bytes()}}};
    at += shape.bytes();
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  return text;
}

}  // namespace

absl::Status WriteSafetensors(const std::filesystem::path& path, const SavedTensors& tensors) {
  if (tensors.contains(kMetadata)) {
    return Invalid("{}: a tensor cannot be named {}, because the format reserves that name",
                   path.string(), kMetadata);
  }
  const std::vector<const Named*> order = InOrder(tensors);
  std::string header;
  try {
    header = HeaderOf(order);
  } catch (const nlohmann::json::exception& error) {
    return Invalid("{}: a tensor's name is not valid UTF-8: {}", path.string(), error.what());
  }
  FileHash hash(header);
  for (const Named* tensor : order) hash.Add(Bytes(tensor->second.values));
  header.replace(kHashBegins.size(), kUnset.size(), hash.text());

  XP_TRY(UnfinishedFile unfinished, UnfinishedFile::Create(path));
  std::ofstream file(unfinished.path(), std::ios::binary);
  const uint64_t length = header.size();
  file.write(reinterpret_cast<const char*>(&length), 8);
  file << header;
  for (const Named* tensor : order) file << Bytes(tensor->second.values);
  file.close();
  if (!file) {
    return IoError(
        "{}: cannot be written. Check that its folder exists and that the disk is not full",
        path.string());
  }
  return unfinished.Finish();
}

absl::StatusOr<SavedTensors> ReadSafetensors(const std::filesystem::path& path) {
  return Reader(path).Read();
}

}  // namespace xlaprof::lazy
