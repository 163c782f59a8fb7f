#pragma once
// Reads protocol buffers field by field, without a schema.

#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

namespace trilobite {

class ProtobufReader {
 public:
  struct Field {
    uint32_t number = 0;
    uint64_t integer = 0;    // of varints and fixed numbers
    std::string_view bytes;  // of texts and messages

    float as_float() const {
      const auto bits = static_cast<uint32_t>(integer);
      float value;
      std::memcpy(&value, &bits, sizeof(value));
      return value;
    }
  };

  explicit ProtobufReader(std::string_view message) : left_(message) {}

  /// Nothing at the end and at the first malformed field; `is_sound` tells them apart.
  std::optional<Field> next() {
    if (left_.empty()) return std::nullopt;
    const auto tag = varint();
    Field field{.number = static_cast<uint32_t>(tag >> 3)};
    switch (tag & 7) {
      case 0: field.integer = varint(); break;
      case 1: field.integer = fixed(8); break;
      case 2: field.bytes = take(varint()); break;
      case 5: field.integer = fixed(4); break;
      default: is_sound_ = false;
    }
    is_sound_ = is_sound_ && field.number != 0;
    return is_sound_ ? std::optional(field) : std::nullopt;
  }
  bool is_sound() const { return is_sound_; }

 private:
  std::string_view take(uint64_t count) {
    if (count > left_.size()) {
      is_sound_ = false;
      return {};
    }
    const auto taken = left_.substr(0, static_cast<size_t>(count));
    left_.remove_prefix(taken.size());
    return taken;
  }
  uint64_t varint() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto byte = take(1);
      if (byte.empty()) return 0;
      value |= uint64_t{static_cast<uint8_t>(byte[0]) & 0x7Fu} << shift;
      if ((static_cast<uint8_t>(byte[0]) & 0x80) == 0) return value;
    }
    is_sound_ = false;
    return 0;
  }
  uint64_t fixed(size_t size) {
    uint64_t value = 0;
    const auto bytes = take(size);
    if (!bytes.empty()) std::memcpy(&value, bytes.data(), bytes.size());
    return value;
  }
  std::string_view left_;
  bool is_sound_ = true;
};

}  // namespace trilobite
