#include "exporters/xspace/xspace_tables.h"

#include <algorithm>

namespace xlaprof {
namespace {

// Field numbers of XStat, XEventMetadata and XStatMetadata.
constexpr uint32_t kStatKey = 1, kDouble = 2, kUint = 3, kInt = 4, kString = 5, kBytes = 6,
                   kRef = 7;
constexpr uint32_t kId = 1, kText = 2, kDescription = 3, kDisplayName = 4, kNameStat = 5;
constexpr uint32_t kNameTable = 4, kKeyTable = 5, kMapKey = 1, kMapValue = 2;

// Returns whether `long_name` is the text of instruction `name`: "%fusion.1 = f32[8] fusion(...)"
// is that of fusion.1.
bool IsTextOf(std::string_view long_name, std::string_view name) {
  return long_name.size() > name.size() + 4 && long_name[0] == '%' &&
         long_name.substr(1).starts_with(name) &&
         long_name.substr(1 + name.size()).starts_with(" = ");
}

// Returns whether readers would parse this name. As a display name it stays whole.
bool IsTakenApart(std::string_view name) {
  return (name.find('#') != name.npos && name.ends_with('#')) ||
         (name.starts_with('%') && name.find(" = ") != name.npos);
}

}  // namespace

int64_t XSpaceTables::KeyNumber(StringId id) {
  auto [found, is_new] = keys_.try_emplace(id, last_key_ + 1);
  last_key_ += is_new;
  return found->second;
}

int64_t XSpaceTables::Added(std::string_view key) {
  auto [found, is_new] = added_.try_emplace(std::string(key), last_key_ + 1);
  last_key_ += is_new;
  return found->second;
}

void XSpaceTables::Put(uint32_t field, const Argument& argument, ProtoText& to) {
  stat_.Clear();
  stat_.Varint(kStatKey, uint64_t(KeyNumber(argument.key)));
  switch (argument.value.index()) {
    case 0:
      stat_.Varint(kInt, uint64_t(std::get<0>(argument.value)));
      break;
    case 1:
      stat_.Varint(kUint, std::get<1>(argument.value));
      break;
    case 2:
      stat_.Double(kDouble, std::get<2>(argument.value));
      break;
    case 3:
      stat_.Varint(kRef, uint64_t(KeyNumber(std::get<Text>(argument.value).id)));
      break;
    default:
      stat_.Bytes(kBytes, store_.Text(std::get<Bytes>(argument.value).id));
  }
  to.Bytes(field, stat_.bytes());
}

void XSpaceTables::PutInt(uint32_t field, int64_t key, int64_t value, ProtoText& to) {
  stat_.Clear();
  stat_.Varint(kStatKey, uint64_t(key));
  stat_.Varint(kInt, uint64_t(value));
  to.Bytes(field, stat_.bytes());
}

void XSpaceTables::PutUint(uint32_t field, int64_t key, uint64_t value, ProtoText& to) {
  stat_.Clear();
  stat_.Varint(kStatKey, uint64_t(key));
  stat_.Varint(kUint, value);
  to.Bytes(field, stat_.bytes());
}

void XSpaceTables::PutText(uint32_t field, int64_t key, StringId text, ProtoText& to) {
  stat_.Clear();
  stat_.Varint(kStatKey, uint64_t(key));
  stat_.Varint(kRef, uint64_t(KeyNumber(text)));
  to.Bytes(field, stat_.bytes());
}

void XSpaceTables::PutString(uint32_t field, int64_t key, std::string_view text, ProtoText& to) {
  stat_.Clear();
  stat_.Varint(kStatKey, uint64_t(key));
  stat_.Bytes(kString, ProtoString(text));
  to.Bytes(field, stat_.bytes());
}

int64_t XSpaceTables::NameNumber(std::string_view fields) {
  return names_.try_emplace(std::string(fields), int64_t(names_.size()) + 1).first->second;
}

int64_t XSpaceTables::Name(StringId name, StringId category, std::span<const Argument> shared) {
  const std::string_view text = store_.Text(name);
  std::string_view long_name;
  for (const Argument& argument : shared) {
    if (store_.Text(argument.key) != "long_name" || argument.value.index() != 3) continue;
    long_name = store_.Text(std::get<Text>(argument.value).id);
    if (!IsTextOf(long_name, text)) long_name = {};
  }
  ProtoText fields;
  if (!long_name.empty()) {
    // As on TPUs, the name is the instruction's text, and its short name is the display name.
    fields.Bytes(kText, ProtoString(long_name));
    fields.Bytes(kDisplayName, ProtoString(text));
  } else {
    fields.Bytes(IsTakenApart(text) ? kDisplayName : kText, ProtoString(text));
  }
  for (const Argument& argument : shared) {
    const bool is_name = !long_name.empty() && store_.Text(argument.key) == "long_name";
    if (!is_name) Put(kNameStat, argument, fields);
  }
  PutText(kNameStat, Added("xlaprof_category"), category, fields);
  return NameNumber(fields.bytes());
}

int64_t XSpaceTables::Name(std::string_view name) {
  ProtoText fields;
  fields.Bytes(kText, ProtoString(name));
  return NameNumber(fields.bytes());
}

void XSpaceTables::Write(ProtoFile& file) const {
  ProtoText entry, value;
  auto write = [&](uint32_t table, int64_t number, std::string_view rest) {
    value.Clear();
    value.Varint(kId, uint64_t(number));
    entry.Clear();
    entry.Varint(kMapKey, uint64_t(number));
    entry.Bytes(kMapValue, std::string(value.bytes()).append(rest));
    ProtoText field;
    field.Bytes(table, entry.bytes());
    file.Write(field);
  };
  // Sorts entries by number, so that equal stores give equal files.
  auto in_order = [](const auto& table) {
    std::vector<typename std::decay_t<decltype(table)>::const_pointer> entries(table.size());
    size_t i = 0;
    for (const auto& each : table) entries[i++] = &each;
    std::sort(entries.begin(), entries.end(),
              [](auto* a, auto* b) { return a->second < b->second; });
    return entries;
  };
  for (const auto* name : in_order(names_)) write(kNameTable, name->second, name->first);
  ProtoText rest;
  for (const auto* key : in_order(keys_)) {
    rest.Clear();
    rest.Bytes(kText, ProtoString(store_.Text(key->first)));
    write(kKeyTable, key->second, rest.bytes());
  }
  for (const auto* key : in_order(added_)) {
    rest.Clear();
    rest.Bytes(kText, key->first);
    rest.Bytes(kDescription, kAddedStat);
    write(kKeyTable, key->second, rest.bytes());
  }
}

}  // namespace xlaprof
