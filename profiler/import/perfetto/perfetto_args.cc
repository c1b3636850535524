#include "profiler/import/perfetto/perfetto_args.h"

#include <algorithm>
#include <cmath>

#include "base/numbers.h"
#include "profiler/import/trace/trace_text.h"

namespace xlaprof::pftrace {
namespace {

// Values that are nested deeper, and texts of nested values that are longer, are cut.
constexpr int kMaxDepth = 16;
constexpr size_t kMaxJsonBytes = size_t(64) << 10;

// Writes nested values as JSON, up to a depth and a length.
class JsonOf {
 public:
  JsonOf(const Sequence& sequence, const Store& store) : sequence_(sequence), store_(store) {}

  std::string Text(const Annotation& annotation) {
    Value(annotation, 0);
    return std::move(out_);
  }
  bool cut() const { return cut_; }

 private:
  bool IsFull(int depth) {
    cut_ |= depth > kMaxDepth || out_.size() > kMaxJsonBytes;
    return cut_;
  }

  void Quote(std::string_view text) {
    out_ += '"';
    for (const char c : text.substr(0, kMaxJsonBytes)) {
      if (c == '"' || c == '\\') out_ += '\\';
      if (uint8_t(c) < 0x20) {
        out_ += fmt::format("\\u{:04x}", uint8_t(c));
      } else {
        out_ += c;
      }
    }
    out_ += '"';
  }

  void Real(double value) { out_ += std::isfinite(value) ? fmt::format("{}", value) : "null"; }

  // The name of an entry of a dictionary.
  void Key(std::string_view name, bool* first) {
    if (!std::exchange(*first, false)) out_ += ',';
    Quote(name);
    out_ += ':';
  }

  std::string_view NameOf(const Annotation& annotation) const {
    if (annotation.name_iid == 0) return annotation.name;
    return store_.Text(sequence_.texts[size_t(Texts::kKeys)].Find(annotation.name_iid));
  }

  void Value(const Annotation& annotation, int depth) {
    if (IsFull(depth)) {
      out_ += "null";
      return;
    }
    switch (annotation.kind) {
      case Annotation::kBool:
        out_ += annotation.number != 0 ? "true" : "false";
        break;
      case Annotation::kUint:
        out_ += fmt::to_string(annotation.number);
        break;
      case Annotation::kInt:
        out_ += fmt::to_string(int64_t(annotation.number));
        break;
      case Annotation::kDouble:
        Real(std::bit_cast<double>(annotation.number));
        break;
      case Annotation::kPointer:
        Quote(fmt::format("{:#x}", annotation.number));
        break;
      case Annotation::kText:
      case Annotation::kJson:
        Quote(annotation.text);
        break;
      case Annotation::kTextIid:
        Quote(store_.Text(sequence_.texts[size_t(Texts::kValues)].Find(annotation.number)));
        break;
      case Annotation::kNested:
        Nested(annotation.text, depth);
        break;
      case Annotation::kDict:
        Entries(annotation.text, 11, depth);
        break;
      case Annotation::kArray:
        Entries(annotation.text, 12, depth);
        break;
      case Annotation::kMessage:
      case Annotation::kNone:
        out_ += "null";
    }
  }

  // DebugAnnotation: 11 dict_entries*, 12 array_values*.
  void Entries(std::string_view message, uint32_t field, int depth) {
    const bool is_dict = field == 11;
    bool first = true;
    out_ += is_dict ? '{' : '[';
    wire::Reader in(message);
    Annotation entry;
    while (in.Next() && !IsFull(depth)) {
      if (!in.Is(field, wire::kBytes)) continue;
      Decode(in.bytes(), &entry);
      if (is_dict) {
        Key(NameOf(entry), &first);
      } else if (!std::exchange(first, false)) {
        out_ += ',';
      }
      Value(entry, depth + 1);
    }
    out_ += is_dict ? '}' : ']';
  }

  // NestedValue: 1 type (1 dict, 2 array), 2 dict_keys*, 3 dict_values*, 4 array_values*, 5 int,
  // 6 double, 7 bool, 8 text.
  void Nested(std::string_view message, int depth) {
    if (IsFull(depth)) {
      out_ += "null";
      return;
    }
    wire::Reader in(message);
    uint64_t type = 0;
    std::vector<std::string_view> keys, values, items;
    std::string simple = "null";
    while (in.Next()) {
      if (in.Is(1, wire::kVarint)) type = in.uint();
      if (in.Is(2, wire::kBytes)) keys.push_back(in.bytes());
      if (in.Is(3, wire::kBytes)) values.push_back(in.bytes());
      if (in.Is(4, wire::kBytes)) items.push_back(in.bytes());
      const size_t before = out_.size();
      if (in.Is(5, wire::kVarint)) out_ += fmt::to_string(in.int64());
      if (in.Is(6, wire::kFixed64)) Real(in.real());
      if (in.Is(7, wire::kVarint)) out_ += in.uint() != 0 ? "true" : "false";
      if (in.Is(8, wire::kBytes)) Quote(in.bytes());
      if (out_.size() == before) continue;
      simple = out_.substr(before);
      out_.resize(before);
    }
    bool first = true;
    if (type == 1) {
      out_ += '{';
      for (size_t i = 0; i < std::min(keys.size(), values.size()) && !IsFull(depth); ++i) {
        Key(keys[i], &first);
        Nested(values[i], depth + 1);
      }
      out_ += '}';
    } else if (type == 2) {
      out_ += '[';
      for (size_t i = 0; i < items.size() && !IsFull(depth); ++i) {
        if (!std::exchange(first, false)) out_ += ',';
        Nested(items[i], depth + 1);
      }
      out_ += ']';
    } else {
      out_ += simple;
    }
  }

  const Sequence& sequence_;
  const Store& store_;
  std::string out_;
  bool cut_ = false;
};

}  // namespace

absl::StatusOr<StringId> TraceTexts::Of(std::string_view text, int64_t offset) {
  if (const StringId known = cache_.Find(text); known != 0) [[likely]]
    return known;
  XP_TRY(const StringId id, InternTraceText(store_, text, offset, odd_));
  // A text that had to be changed is counted each time that it is seen.
  if (const std::string_view kept = store_.Text(id); kept == text && id != 0) cache_.Put(kept, id);
  return id;
}

const ArgValue* ArgList::Find(std::string_view key) const {
  for (const Argument& arg : args_) {
    if (store_.Text(arg.key) == key) return &arg.value;
  }
  return nullptr;
}

OptInt ArgList::Int(std::string_view key) const {
  const ArgValue* value = Find(key);
  if (value == nullptr) return {};
  if (const auto* number = std::get_if<int64_t>(value)) return *number;
  if (const auto* number = std::get_if<uint64_t>(value))
    return *number <= uint64_t(INT64_MAX) ? OptInt(int64_t(*number)) : OptInt();
  if (const auto* text = std::get_if<xlaprof::Text>(value))
    return ParseInteger(store_.Text(text->id));
  return {};
}

std::optional<uint64_t> ArgList::Id(std::string_view key) const {
  const ArgValue* value = Find(key);
  if (value == nullptr) return {};
  if (const auto* number = std::get_if<int64_t>(value))
    return *number >= 0 ? std::optional<uint64_t>(*number) : std::nullopt;
  if (const auto* number = std::get_if<uint64_t>(value)) return *number;
  const auto* id = std::get_if<xlaprof::Text>(value);
  if (id == nullptr) return {};
  std::string_view text = store_.Text(id->id);
  const bool is_hex = text.starts_with("0x");
  if (is_hex) text.remove_prefix(2);
  return ParseInteger<uint64_t>(text, is_hex ? 16 : 10);
}

OptText ArgList::Text(std::string_view key) const {
  const ArgValue* value = Find(key);
  if (value == nullptr) return {};
  if (const auto* text = std::get_if<xlaprof::Text>(value))
    return std::string(store_.Text(text->id));
  if (const auto* number = std::get_if<int64_t>(value)) return fmt::to_string(*number);
  if (const auto* number = std::get_if<uint64_t>(value)) return fmt::to_string(*number);
  if (const auto* number = std::get_if<double>(value)) return fmt::to_string(*number);
  return {};
}

absl::Status AddArgument(std::string_view message, const Sequence& sequence, int64_t offset,
                         const Store& store, TraceTexts& texts, OddInput& odd,
                         std::vector<Argument>& args) {
  Annotation annotation;
  const bool is_whole = Decode(message, &annotation);
  StringId key = 0;
  if (annotation.name_iid != 0) {
    key = sequence.texts[size_t(Texts::kKeys)].Find(annotation.name_iid);
  } else if (!annotation.name.empty()) {
    XP_TRY(key, texts.Of(annotation.name, offset));
  }
  if (!is_whole || key == 0 || annotation.kind == Annotation::kMessage) {
    odd.Count(
        "argument_not_read", Severity::kInfo,
        "Arguments of events have no name, are damaged, or are messages of a type that only their writer knows. They were left out.",
        offset);
    return absl::OkStatus();
  }
  if (std::ranges::any_of(args, [&](const Argument& arg) { return arg.key == key; })) {
    odd.Count("repeated_argument", Severity::kInfo,
              "Events have several arguments of the same name. The first was kept.", offset);
    return absl::OkStatus();
  }
  std::string made;
  std::string_view text = annotation.text;
  switch (annotation.kind) {
    case Annotation::kUint:
      args.push_back({key, annotation.number});
      return absl::OkStatus();
    case Annotation::kInt:
      args.push_back({key, int64_t(annotation.number)});
      return absl::OkStatus();
    case Annotation::kDouble:
      args.push_back({key, std::bit_cast<double>(annotation.number)});
      return absl::OkStatus();
    case Annotation::kTextIid: {
      const StringId id = sequence.texts[size_t(Texts::kValues)].Find(annotation.number);
      if (id != 0) args.push_back({key, xlaprof::Text{id}});
      return absl::OkStatus();
    }
    case Annotation::kBool:
      text = annotation.number != 0 ? "true" : "false";
      break;
    case Annotation::kPointer:
      text = made = fmt::format("{:#x}", annotation.number);
      break;
    case Annotation::kNested:
    case Annotation::kDict:
    case Annotation::kArray: {
      JsonOf json(sequence, store);
      text = made = json.Text(annotation);
      if (json.cut()) {
        odd.Count(
            "deep_argument", Severity::kWarning,
            fmt::format(
                "Arguments have values inside values that are deeper than {} or longer than {} KiB. What is beyond that was left out.",
                kMaxDepth, kMaxJsonBytes >> 10),
            offset);
      }
      break;
    }
    case Annotation::kNone:
      return absl::OkStatus();
    default:
      break;
  }
  XP_TRY(const StringId id, texts.Of(text, offset));
  args.push_back({key, xlaprof::Text{id}});
  return absl::OkStatus();
}

}  // namespace xlaprof::pftrace
