#include "gguf/writer.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <type_traits>
#include <utility>

namespace trilobite::gguf {
namespace {

template <typename T>
void put(std::string& out, T value) {
  static_assert(std::is_trivially_copyable_v<T>);
  out.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

void put_text(std::string& out, std::string_view text) {
  put(out, static_cast<uint64_t>(text.size()));
  out.append(text);
}

void put_array(std::string& out, const Array& array) {
  put(out, static_cast<uint32_t>(array.type));
  put(out, static_cast<uint64_t>(array.count));
  out.append(reinterpret_cast<const char*>(array.numbers.data()), array.numbers.size());
  for (const auto& text : array.texts) put_text(out, text);
  for (const auto& inner : array.arrays) put_array(out, inner);
}

void put_value(std::string& out, const Value& value) {
  std::visit(
      [&](const auto& held) {
        using T = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<T, std::string_view>) {
          put_text(out, held);
        } else if constexpr (std::is_same_v<T, Array>) {
          put_array(out, held);
        } else {
          put(out, held);
        }
      },
      value);
}

uint64_t aligned(uint64_t offset) {
  return (offset + kDefaultAlignment - 1) / kDefaultAlignment * kDefaultAlignment;
}

}  // namespace

size_t TensorSpec::rows() const {
  size_t rows = 1;
  for (size_t i = 1; i < dimensions.size(); ++i) rows *= dimensions[i];
  return rows;
}

Writer::~Writer() {
  if (temporary_.empty()) return;
  file_.close();
  std::error_code ignored;
  std::filesystem::remove(temporary_, ignored);
}

void Writer::set(std::string_view key, const Value& value) {
  // The data is always aligned to the default; a copied key must not say otherwise.
  if (key == "general.alignment") return;
  put_text(metadata_, key);
  put(metadata_, static_cast<uint32_t>(type_of(value)));
  put_value(metadata_, value);
  ++metadata_count_;
}

void Writer::set_array(std::string_view key, Array array) { set(key, Value(std::move(array))); }

void Writer::set_texts(std::string_view key, std::span<const std::string> texts) {
  set_array(key, {.type = ValueType::text,
                  .count = texts.size(),
                  .texts = std::vector<std::string_view>(texts.begin(), texts.end())});
}

void Writer::set_floats(std::string_view key, std::span<const float> numbers) {
  set_array(key,
            {.type = ValueType::f32, .count = numbers.size(), .numbers = std::as_bytes(numbers)});
}

void Writer::set_i32s(std::string_view key, std::span<const int32_t> numbers) {
  set_array(key,
            {.type = ValueType::i32, .count = numbers.size(), .numbers = std::as_bytes(numbers)});
}

Result<void> Writer::declare(TensorSpec spec) {
  const auto bytes = tensor_bytes(facts_of(spec.type), spec.rows(), spec.columns());
  if (!bytes) return fail_from(bytes, fmt::format("tensor '{}'", spec.name));
  tensors_.push_back({std::move(spec), *bytes, data_bytes_});
  data_bytes_ = aligned(data_bytes_ + *bytes);
  return {};
}

Result<void> Writer::write(std::string_view bytes) {
  file_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!file_) return fail(fmt::format("cannot write {}: {}", path_.string(), std::strerror(errno)));
  written_ += bytes.size();
  return {};
}

Result<void> Writer::pad() { return write(std::string(aligned(written_) - written_, '\0')); }

Result<void> Writer::start(const Path& path) {
  if (auto possible = check_writable(path); !possible) return possible;
  path_ = path;
  temporary_ = path;
  temporary_ += fmt::format(".tmp{}", ::getpid());
  file_.open(temporary_, std::ios::binary | std::ios::trunc);
  std::string header = "GGUF";
  put(header, uint32_t{3});
  put(header, static_cast<uint64_t>(tensors_.size()));
  put(header, metadata_count_);
  header += metadata_;
  for (const auto& tensor : tensors_) {
    put_text(header, tensor.spec.name);
    put(header, static_cast<uint32_t>(tensor.spec.dimensions.size()));
    for (const uint64_t dimension : tensor.spec.dimensions) put(header, dimension);
    put(header, static_cast<uint32_t>(tensor.spec.type));
    put(header, tensor.offset);
  }
  if (auto done = write(header); !done) return done;
  return pad();
}

Result<void> Writer::append(std::span<const std::byte> data) {
  TRILOBITE_CHECK(next_tensor_ < tensors_.size() && data.size() == tensors_[next_tensor_].bytes);
  ++next_tensor_;
  if (auto done = write({reinterpret_cast<const char*>(data.data()), data.size()}); !done)
    return done;
  return pad();
}

Result<void> Writer::finish() {
  TRILOBITE_CHECK(next_tensor_ == tensors_.size());
  file_.close();
  if (!file_ || ::rename(temporary_.c_str(), path_.c_str()) != 0)
    return fail(fmt::format("cannot write {}: {}", path_.string(), std::strerror(errno)));
  temporary_.clear();
  return {};
}

}  // namespace trilobite::gguf
