#include "gguf/parser.hpp"

#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <utility>

namespace trilobite::gguf {
namespace {

constexpr std::string_view kMagic = "GGUF";
// Deeper nesting has no use; a limit keeps hostile files from exhausting the stack.
constexpr int kDeepestArray = 4;
// A key (8-byte length), a type and a value; a name, a dimension count, a type and an offset.
constexpr size_t kLeastEntryBytes = 8 + 4 + 1;
constexpr size_t kLeastTensorBytes = 8 + 4 + 4 + 8;

}  // namespace

bool looks_like_gguf(std::span<const std::byte> bytes) {
  return bytes.size() >= kMagic.size() &&
         std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) == 0;
}

std::string Parser::at() const { return fmt::format("at byte {}", position_); }

template <typename T>
Result<T> Parser::number() {
  if (bytes_.size() - position_ < sizeof(T)) {
    return fail(
        fmt::format("the file ends {} where {} more bytes are needed; the download may be "
                    "incomplete",
                    at(), sizeof(T) - (bytes_.size() - position_)));
  }
  T value;
  std::memcpy(&value, bytes_.data() + position_, sizeof(T));
  position_ += sizeof(T);
  return value;
}

Result<void> Parser::expect(uint64_t count, size_t least_bytes, std::string_view what) const {
  if (count <= (bytes_.size() - position_) / least_bytes) return {};
  return fail(
      fmt::format("the file announces {} {} {}, but only {} bytes follow; it is damaged or "
                  "incomplete",
                  count, what, at(), bytes_.size() - position_));
}

Result<std::string_view> Parser::text() {
  const auto length = number<uint64_t>();
  if (!length) return fail_from(length);
  if (auto enough = expect(*length, 1, "bytes of text"); !enough) return fail_from(enough);
  const auto* start = reinterpret_cast<const char*>(bytes_.data()) + position_;
  position_ += *length;
  return std::string_view(start, *length);
}

Result<ValueType> Parser::value_type() {
  const auto type = number<uint32_t>();
  if (!type) return fail_from(type);
  if (*type > static_cast<uint32_t>(ValueType::f64))
    return fail(fmt::format("value type {} {} does not exist", *type, at()));
  return static_cast<ValueType>(*type);
}

Result<Array> Parser::array(int depth) {
  if (depth > kDeepestArray)
    return fail(fmt::format("arrays are nested deeper than {} {}", kDeepestArray, at()));
  const auto type = value_type();
  if (!type) return fail_from(type);
  const auto count = number<uint64_t>();
  if (!count) return fail_from(count);
  Array array{.type = *type, .count = *count};
  if (const size_t size = size_of(*type); size > 0) {
    if (auto enough = expect(*count, size, "array elements"); !enough) return fail_from(enough);
    array.numbers = bytes_.subspan(position_, *count * size);
    position_ += array.numbers.size();
    return array;
  }
  // A text has at least its length, an array its type and count.
  if (auto enough = expect(*count, 8, "array elements"); !enough) return fail_from(enough);
  if (*type == ValueType::text) {
    array.texts.reserve(*count);
    for (uint64_t i = 0; i < *count; ++i) {
      auto element = text();
      if (!element) return fail_from(element);
      array.texts.push_back(*element);
    }
    return array;
  }
  for (uint64_t i = 0; i < *count; ++i) {
    auto element = this->array(depth + 1);
    if (!element) return fail_from(element);
    array.arrays.push_back(*std::move(element));
  }
  return array;
}

namespace {

template <typename T>
Result<Value> wrapped(Result<T> result) {
  if (!result) return fail_from(result);
  return Value(std::in_place_type<T>, *std::move(result));
}

}  // namespace

Result<Value> Parser::value(ValueType type) {
  switch (type) {
    case ValueType::u8: return wrapped(number<uint8_t>());
    case ValueType::i8: return wrapped(number<int8_t>());
    case ValueType::u16: return wrapped(number<uint16_t>());
    case ValueType::i16: return wrapped(number<int16_t>());
    case ValueType::u32: return wrapped(number<uint32_t>());
    case ValueType::i32: return wrapped(number<int32_t>());
    case ValueType::f32: return wrapped(number<float>());
    case ValueType::u64: return wrapped(number<uint64_t>());
    case ValueType::i64: return wrapped(number<int64_t>());
    case ValueType::f64: return wrapped(number<double>());
    case ValueType::text: return wrapped(text());
    case ValueType::array: return wrapped(array(1));
    case ValueType::boolean: break;
  }
  const auto byte = number<uint8_t>();
  if (!byte) return fail_from(byte);
  if (*byte > 1) return fail(fmt::format("a boolean is {} {}; it should be 0 or 1", *byte, at()));
  return Value(std::in_place_type<bool>, *byte == 1);
}

Result<Parser::Header> Parser::header() {
  if (!looks_like_gguf(bytes_))
    return fail("this is not a GGUF file: it does not begin with 'GGUF'");
  position_ = kMagic.size();
  const auto version = number<uint32_t>();
  if (!version) return fail_from(version);
  if (*version == std::byteswap(uint32_t{2}) || *version == std::byteswap(uint32_t{3}))
    return fail("the file is big-endian; convert it to little-endian first");
  if (*version != 2 && *version != 3)
    return fail(fmt::format("GGUF version {} is not supported; versions 2 and 3 are", *version));
  result_.version_ = *version;
  const auto tensors = number<uint64_t>();
  if (!tensors) return fail_from(tensors);
  const auto entries = number<uint64_t>();
  if (!entries) return fail_from(entries);
  return Header{*tensors, *entries};
}

Result<void> Parser::entries(uint64_t count) {
  if (auto enough = expect(count, kLeastEntryBytes, "metadata entries"); !enough) return enough;
  result_.metadata_.reserve(count);
  for (uint64_t i = 0; i < count; ++i) {
    const auto key = text();
    if (!key) return fail_from(key);
    if (key->empty() || key->size() > kLongestKey)
      return fail(fmt::format("a metadata key has {} bytes {}", key->size(), at()));
    const auto type = value_type();
    if (!type) return fail_from(type, fmt::format("metadata '{}'", *key));
    auto read = value(*type);
    if (!read) return fail_from(read, fmt::format("metadata '{}'", *key));
    if (!result_.metadata_index_.emplace(*key, result_.metadata_.size()).second)
      return fail(fmt::format("the metadata key '{}' is there twice", *key));
    result_.metadata_.push_back({*key, *std::move(read)});
  }
  return {};
}

Result<void> Parser::choose_alignment() {
  if (result_.find("general.alignment") == nullptr) return {};
  const auto alignment = result_.unsigned_integer("general.alignment");
  if (!alignment) return fail_from(alignment);
  if (!std::has_single_bit(*alignment) || *alignment > (uint64_t{1} << 20)) {
    return fail(fmt::format("general.alignment is {}; it should be a power of two", *alignment));
  }
  result_.alignment_ = *alignment;
  return {};
}

Result<void> Parser::dimensions(TensorInfo& tensor) {
  const auto count = number<uint32_t>();
  if (!count) return fail_from(count);
  if (*count == 0 || *count > kMaxDimensions)
    return fail(fmt::format("it has {} dimensions; 1 to {} are possible", *count, kMaxDimensions));
  tensor.dimension_count = *count;
  uint64_t elements = 1;
  for (size_t i = 0; i < *count; ++i) {
    const auto dimension = number<uint64_t>();
    if (!dimension) return fail_from(dimension);
    if (*dimension == 0) return fail("it has a dimension of 0");
    if (__builtin_mul_overflow(elements, *dimension, &elements) || elements > (uint64_t{1} << 48))
      return fail("it has more elements than any file holds");
    tensor.dimensions[i] = *dimension;
  }
  return {};
}

Result<TensorInfo> Parser::tensor_info(uint64_t& offset) {
  const auto name = text();
  if (!name) return fail_from(name);
  const auto doing = [&] { return fmt::format("tensor '{}'", *name); };
  TensorInfo tensor{.name = *name};
  if (auto read = dimensions(tensor); !read) return fail_from(read, doing());
  const auto type = number<uint32_t>();
  if (!type) return fail_from(type, doing());
  tensor.type = find_type(*type);
  if (tensor.type == nullptr) {
    return fail(fmt::format("tensor '{}' has type number {}, which this version does not know",
                            *name, *type));
  }
  const auto read = number<uint64_t>();
  if (!read) return fail_from(read, doing());
  offset = *read;
  return tensor;
}

Result<void> Parser::tensor_infos(uint64_t count) {
  if (auto enough = expect(count, kLeastTensorBytes, "tensors"); !enough) return enough;
  result_.tensors_.reserve(count);
  offsets_.resize(count);
  for (uint64_t i = 0; i < count; ++i) {
    auto tensor = tensor_info(offsets_[i]);
    if (!tensor) return fail_from(tensor);
    if (!result_.tensor_index_.emplace(tensor->name, i).second)
      return fail(fmt::format("the tensor '{}' is there twice", tensor->name));
    result_.tensors_.push_back(*tensor);
  }
  return {};
}

Result<void> Parser::place_tensors() {
  const uint64_t alignment = result_.alignment_;
  const uint64_t start = (position_ + alignment - 1) / alignment * alignment;
  const uint64_t available = bytes_.size() > start ? bytes_.size() - start : 0;
  for (size_t i = 0; i < result_.tensors_.size(); ++i) {
    auto& tensor = result_.tensors_[i];
    const auto bytes = tensor_bytes(*tensor.type, tensor.rows(), tensor.columns());
    if (!bytes) return fail_from(bytes, fmt::format("tensor '{}'", tensor.name));
    const uint64_t offset = offsets_[i];
    if (offset % alignment != 0) {
      return fail(fmt::format("tensor '{}' lies at offset {}, which is no multiple of {}",
                              tensor.name, offset, alignment));
    }
    if (offset > available || *bytes > available - offset) {
      return fail(
          fmt::format("tensor '{}' needs {} bytes at offset {} of the data, but the file "
                      "has {} there; the download may be incomplete",
                      tensor.name, *bytes, offset, offset > available ? 0 : available - offset));
    }
    tensor.data = bytes_.subspan(start + offset, *bytes);
  }
  return {};
}

Result<Gguf> Parser::run() {
  const auto counts = header();
  if (!counts) return fail_from(counts);
  if (auto read = entries(counts->metadata_count); !read) return fail_from(read);
  if (auto chosen = choose_alignment(); !chosen) return fail_from(chosen);
  if (auto read = tensor_infos(counts->tensor_count); !read) return fail_from(read);
  if (auto placed = place_tensors(); !placed) return fail_from(placed);
  return std::move(result_);
}

}  // namespace trilobite::gguf
