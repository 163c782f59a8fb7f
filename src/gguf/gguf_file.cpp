#include "gguf/gguf_file.hpp"

#include <fmt/format.h>

#include <utility>

#include "gguf/parser.hpp"

namespace trilobite::gguf {

std::string TensorInfo::shape_text() const {
  std::string text;
  for (size_t i = 0; i < dimension_count; ++i)
    text += (i == 0 ? "" : "x") + std::to_string(dimensions[i]);
  return text;
}

const Value* Gguf::find(std::string_view key) const {
  const auto found = metadata_index_.find(key);
  return found == metadata_index_.end() ? nullptr : &metadata_[found->second].value;
}

const TensorInfo* Gguf::find_tensor(std::string_view name) const {
  const auto found = tensor_index_.find(name);
  return found == tensor_index_.end() ? nullptr : &tensors_[found->second];
}

namespace {

template <typename T>
Result<T> needed(std::string_view key, const Value* value, std::optional<T> read,
                 std::string_view expected) {
  if (value == nullptr) return fail(fmt::format("the metadata key '{}' is missing", key));
  if (!read) {
    return fail(fmt::format("the metadata key '{}' should be {}, but is of type {}", key, expected,
                            name_of(type_of(*value))));
  }
  return *read;
}

template <typename T>
std::optional<T> held(const Value* value) {
  const T* found = value == nullptr ? nullptr : std::get_if<T>(value);
  return found == nullptr ? std::nullopt : std::optional<T>(*found);
}

}  // namespace

Result<std::string_view> Gguf::text(std::string_view key) const {
  return needed(key, find(key), held<std::string_view>(find(key)), "text");
}

Result<uint64_t> Gguf::unsigned_integer(std::string_view key) const {
  const auto* value = find(key);
  return needed(key, value, value == nullptr ? std::nullopt : as_unsigned(*value),
                "an integer that is not negative");
}

Result<double> Gguf::number(std::string_view key) const {
  const auto* value = find(key);
  return needed(key, value, value == nullptr ? std::nullopt : as_number(*value), "a number");
}

Result<bool> Gguf::boolean(std::string_view key) const {
  return needed(key, find(key), held<bool>(find(key)), "true or false");
}

Result<const Array*> Gguf::array(std::string_view key, ValueType of) const {
  const auto* value = find(key);
  const auto* array = value == nullptr ? nullptr : std::get_if<Array>(value);
  const bool fits = array != nullptr && array->type == of;
  return needed<const Array*>(key, value, fits ? std::optional(array) : std::nullopt,
                              fmt::format("an array of {}", name_of(of)));
}

Result<Gguf> Gguf::parse(std::span<const std::byte> bytes) { return Parser(bytes).run(); }

Result<GgufFile> GgufFile::open(const Path& path) {
  auto file = MappedFile::open(path);
  if (!file) return fail_from(file);
  auto contents = Gguf::parse(file->bytes());
  if (!contents) return fail_from(contents, path.string());
  return GgufFile(*std::move(file), *std::move(contents));
}

}  // namespace trilobite::gguf
