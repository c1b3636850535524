// Decodes the viewer's data as docs/formats/view.md describes it, independently of the code that
// writes it.
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace xlaprof {

struct DecodedSlices {
  struct Slice {
    int64_t ts_ns, dur_ns;  // -1 if it never ended
    uint64_t name, category;
    int64_t count, id;
  };
  struct Sample {
    int64_t ts_ns;
    double least, greatest, last;
  };
  struct Lane {
    int64_t id, from_ns, to_ns, resolution_ns;
    std::vector<std::vector<Slice>> rows;
    std::vector<Sample> samples;
  };
  std::vector<Lane> lanes;
  std::map<uint64_t, std::string> names;
};

class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : bytes_(bytes) {}
  uint64_t Unsigned() {
    uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      const auto byte = uint8_t(Take(1)[0]);
      value |= uint64_t(byte & 0x7F) << shift;
      if (byte < 0x80) return value;
    }
  }
  int64_t Signed() {
    const uint64_t value = Unsigned();
    return int64_t(value >> 1) ^ -int64_t(value & 1);
  }
  double Double() {
    double value;
    std::memcpy(&value, Take(8).data(), 8);
    return value;
  }
  std::string Text() { return std::string(Take(Unsigned())); }
  uint8_t Byte() { return uint8_t(Take(1)[0]); }
  bool at_end() const { return bytes_.empty(); }

 private:
  std::string_view Take(size_t count) {
    if (count > bytes_.size()) throw std::out_of_range("the block ends early");
    const std::string_view taken = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    return taken;
  }
  std::string_view bytes_;
};

inline DecodedSlices DecodeSlices(const std::string& bytes) {
  ByteReader reader(bytes);
  DecodedSlices out;
  for (uint64_t lanes = reader.Unsigned(); lanes > 0; --lanes) {
    DecodedSlices::Lane lane{.id = int64_t(reader.Unsigned())};
    const bool is_counter = reader.Unsigned() == 1;
    lane.from_ns = reader.Signed();
    lane.to_ns = reader.Signed();
    lane.resolution_ns = int64_t(reader.Unsigned());
    for (uint64_t rows = reader.Unsigned(); rows > 0; --rows) {
      std::vector<DecodedSlices::Slice> row;
      int64_t ts_ns = lane.from_ns, id = 0;
      const uint64_t count = reader.Unsigned();
      for (uint64_t i = 0; i < count; ++i) {
        ts_ns += i == 0 ? reader.Signed() : int64_t(reader.Unsigned());
        if (is_counter) {
          const double least = reader.Double(), greatest = reader.Double();
          lane.samples.push_back({ts_ns, least, greatest, reader.Double()});
          continue;
        }
        DecodedSlices::Slice slice{.ts_ns = ts_ns, .dur_ns = int64_t(reader.Unsigned()) - 1};
        slice.name = reader.Unsigned();
        slice.category = reader.Unsigned();
        slice.count = int64_t(reader.Unsigned());
        slice.id = id += reader.Signed();
        row.push_back(slice);
      }
      lane.rows.push_back(std::move(row));
    }
    out.lanes.push_back(std::move(lane));
  }
  for (uint64_t names = reader.Unsigned(); names > 0; --names) {
    const uint64_t id = reader.Unsigned();
    out.names[id] = reader.Text();
  }
  if (!reader.at_end()) throw std::out_of_range("bytes behind the block");
  return out;
}

// Maps an event to its arguments "key=value".
using DecodedArguments = std::map<int64_t, std::vector<std::string>>;

inline DecodedArguments DecodeArguments(const std::string& bytes) {
  struct Raw {
    uint64_t key;
    int type;
    std::string value;
    uint64_t text = 0;
  };
  ByteReader reader(bytes);
  std::map<int64_t, std::vector<Raw>> raw;
  for (int64_t id = reader.Signed(); id != 0; id += reader.Signed()) {
    for (uint64_t count = reader.Unsigned(); count > 0; --count) {
      Raw argument{.key = reader.Unsigned(), .type = reader.Byte()};
      if (argument.type == 0) argument.value = std::to_string(reader.Signed());
      if (argument.type == 1) argument.value = std::to_string(reader.Unsigned());
      if (argument.type == 2) argument.value = std::to_string(reader.Double());
      if (argument.type >= 3) argument.text = reader.Unsigned();
      raw[id].push_back(argument);
    }
  }
  std::map<uint64_t, std::string> texts;
  for (uint64_t count = reader.Unsigned(); count > 0; --count) {
    const uint64_t id = reader.Unsigned();
    texts[id] = reader.Text();
  }
  DecodedArguments out;
  for (const auto& [id, arguments] : raw) {
    for (const Raw& argument : arguments)
      out[id].push_back(texts.at(argument.key) + "=" +
                        (argument.type >= 3 ? texts.at(argument.text) : argument.value));
  }
  return out;
}

struct DecodedTotals {
  int64_t count, total_ns, p99_ns, max_ns, self_ns;
  bool operator==(const DecodedTotals&) const = default;
};

// Maps a lane to its totals by name.
inline std::map<int64_t, std::map<std::string, DecodedTotals>> DecodeTotals(
    const std::string& bytes) {
  ByteReader reader(bytes);
  std::map<int64_t, std::map<uint64_t, DecodedTotals>> raw;
  while (const int64_t lane = int64_t(reader.Unsigned())) {
    reader.Unsigned();  // names that were left out
    for (uint64_t count = reader.Unsigned(); count > 0; --count) {
      const uint64_t name = reader.Unsigned();
      reader.Unsigned();  // the category
      DecodedTotals& totals = raw[lane][name];
      for (int64_t* figure : {&totals.count, &totals.total_ns, &totals.p99_ns, &totals.max_ns})
        *figure = int64_t(reader.Unsigned());
      totals.self_ns = reader.Signed();
    }
  }
  std::map<uint64_t, std::string> names;
  for (uint64_t count = reader.Unsigned(); count > 0; --count) {
    const uint64_t id = reader.Unsigned();
    names[id] = reader.Text();
  }
  if (!reader.at_end()) throw std::out_of_range("bytes behind the block");
  std::map<int64_t, std::map<std::string, DecodedTotals>> out;
  for (const auto& [lane, by_name] : raw) {
    for (const auto& [name, totals] : by_name) out[lane][names.at(name)] = totals;
  }
  return out;
}

inline std::vector<std::pair<int64_t, int64_t>> DecodeFlows(const std::string& bytes) {
  ByteReader reader(bytes);
  std::vector<std::pair<int64_t, int64_t>> out;
  int64_t from = 0;
  for (uint64_t count = reader.Unsigned(); count > 0; --count) {
    from += reader.Signed();
    out.emplace_back(from, from + reader.Signed());
  }
  return out;
}

}  // namespace xlaprof
