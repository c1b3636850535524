#include "python/extension/arrow.h"

#include <array>
#include <string>
#include <utility>
#include <vector>

namespace xlaprof::python {
namespace {

constexpr int64_t kNullable = 2;

// The format codes of Arrow. Texts have offsets of 64 bits.
const char* FormatOf(ColumnType type) {
  switch (type) {
    case ColumnType::kNull:
      return "n";
    case ColumnType::kInt:
      return "l";
    case ColumnType::kDouble:
      return "g";
    case ColumnType::kText:
      return "U";
    case ColumnType::kBytes:
      break;
  }
  return "Z";
}

// Owns what the structures of a schema or an array point to. The parent's is deleted last.
template <class Structure>
struct Parts {
  std::vector<Structure> children;
  std::vector<Structure*> pointers;
  explicit Parts(size_t count) : children(count) {
    for (Structure& child : children) pointers.push_back(&child);
  }
  // A consumer may have moved a child elsewhere, and then it has no `release` here.
  void ReleaseChildren() {
    for (Structure& child : children)
      if (child.release != nullptr) child.release(&child);
  }
};

struct SchemaParts : Parts<ArrowSchema> {
  using Parts::Parts;
};

void ReleaseColumnSchema(ArrowSchema* schema) {
  delete static_cast<std::string*>(schema->private_data);
  schema->release = nullptr;
}

void ReleaseSchema(ArrowSchema* schema) {
  auto* parts = static_cast<SchemaParts*>(schema->private_data);
  parts->ReleaseChildren();
  delete parts;
  schema->release = nullptr;
}

struct ArrayParts : Parts<ArrowArray> {
  using Parts::Parts;
  const void* no_bits = nullptr;
};

// One column's array, which may outlive the others.
struct ColumnParts {
  std::shared_ptr<const Columns> columns;
  std::array<const void*, 3> buffers{};
};

void ReleaseColumn(ArrowArray* array) {
  delete static_cast<ColumnParts*>(array->private_data);
  array->release = nullptr;
}

void ReleaseArray(ArrowArray* array) {
  auto* parts = static_cast<ArrayParts*>(array->private_data);
  parts->ReleaseChildren();
  delete parts;
  array->release = nullptr;
}

// Readers ask for the address even of no bytes.
template <class T>
const void* Buffer(const T& values) {
  static constexpr int64_t none = 0;
  return values.empty() ? static_cast<const void*>(&none) : values.data();
}

void ExportColumn(const std::shared_ptr<const Columns>& columns, const Column& column,
                  ArrowArray* out) {
  auto parts = std::make_unique<ColumnParts>();
  parts->columns = columns;
  auto& buffers = parts->buffers;
  int64_t count = 2;
  buffers[0] = column.nulls > 0 ? Buffer(column.valid) : nullptr;
  switch (column.type) {
    case ColumnType::kNull:
      count = 0;
      break;
    case ColumnType::kInt:
      buffers[1] = Buffer(column.ints);
      break;
    case ColumnType::kDouble:
      buffers[1] = Buffer(column.doubles);
      break;
    case ColumnType::kText:
    case ColumnType::kBytes:
      count = 3;
      buffers[1] = Buffer(column.ends);
      buffers[2] = Buffer(column.bytes);
  }
  *out = {.length = column.rows,
          .null_count = column.nulls,
          .offset = 0,
          .n_buffers = count,
          .n_children = 0,
          .buffers = buffers.data(),
          .children = nullptr,
          .dictionary = nullptr,
          .release = ReleaseColumn,
          .private_data = parts.release()};
}

struct StreamParts {
  std::shared_ptr<const Columns> columns;
  bool is_done = false;
};

StreamParts* PartsOf(ArrowArrayStream* stream) {
  return static_cast<StreamParts*>(stream->private_data);
}

}  // namespace

void ExportSchema(const Columns& columns, ArrowSchema* out) {
  const auto format = [](const char* code, const char* name, int64_t flags) {
    ArrowSchema schema{};
    schema.format = code, schema.name = name, schema.flags = flags;
    return schema;
  };
  auto parts = std::make_unique<SchemaParts>(columns.columns.size());
  for (size_t i = 0; i < columns.columns.size(); ++i) {
    auto name = std::make_unique<std::string>(columns.columns[i].name);
    ArrowSchema& child = parts->children[i];
    child = format(FormatOf(columns.columns[i].type), name->c_str(), kNullable);
    child.release = ReleaseColumnSchema;
    child.private_data = name.release();
  }
  *out = format("+s", "", 0);
  out->n_children = int64_t(parts->children.size());
  out->children = parts->pointers.data();
  out->release = ReleaseSchema;
  out->private_data = parts.release();
}

void ExportArray(std::shared_ptr<const Columns> columns, ArrowArray* out) {
  auto parts = std::make_unique<ArrayParts>(columns->columns.size());
  for (size_t i = 0; i < columns->columns.size(); ++i)
    ExportColumn(columns, columns->columns[i], &parts->children[i]);
  *out = {.length = columns->rows,
          .null_count = 0,
          .offset = 0,
          .n_buffers = 1,
          .n_children = int64_t(parts->children.size()),
          .buffers = &parts->no_bits,
          .children = parts->pointers.data(),
          .dictionary = nullptr,
          .release = ReleaseArray,
          .private_data = parts.get()};
  parts.release();
}

void ExportStream(std::shared_ptr<const Columns> columns, ArrowArrayStream* out) {
  *out = {.get_schema =
              [](ArrowArrayStream* stream, ArrowSchema* schema) {
                ExportSchema(*PartsOf(stream)->columns, schema);
                return 0;
              },
          .get_next =
              [](ArrowArrayStream* stream, ArrowArray* array) {
                if (std::exchange(PartsOf(stream)->is_done, true)) {
                  *array = {};
                } else {
                  ExportArray(PartsOf(stream)->columns, array);
                }
                return 0;
              },
          .get_last_error = [](ArrowArrayStream*) -> const char* { return nullptr; },
          .release =
              [](ArrowArrayStream* stream) {
                delete PartsOf(stream);
                stream->release = nullptr;
              },
          .private_data = new StreamParts{std::move(columns)}};
}

}  // namespace xlaprof::python
