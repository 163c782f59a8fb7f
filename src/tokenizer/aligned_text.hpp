#pragma once
// AlignedText: text on its way through normalisers, with where each of its bytes comes from when
// somebody wants offsets.

#include <string>
#include <string_view>
#include <vector>

#include "trilobite/tokenizer.hpp"

namespace trilobite {

/// A view of AlignedText, or of the input itself (`origins` empty, `begin` its place there).
struct AlignedView {
  std::string_view bytes;
  std::span<const ByteRange> origins;  // one per byte, or none
  uint32_t begin = 0;                  // of bytes[0] in the input, when there are no origins

  AlignedView part(size_t from, size_t to) const {
    return {bytes.substr(from, to - from),
            origins.empty() ? origins : origins.subspan(from, to - from),
            begin + static_cast<uint32_t>(from)};
  }
  /// Where bytes [from, to) come from. An empty part lies before the byte at `from`.
  ByteRange origin(size_t from, size_t to) const {
    if (origins.empty()) {
      return {begin + static_cast<uint32_t>(from), begin + static_cast<uint32_t>(to)};
    }
    if (from < to) return {origins[from].begin, origins[to - 1].end};
    const uint32_t at = from < origins.size() ? origins[from].begin : origins.back().end;
    return {at, at};
  }
};

class AlignedText {
 public:
  void clear(bool with_origins) {
    bytes_.clear();
    origins_.clear();
    has_origins_ = with_origins;
  }
  /// Bytes that all come from `origin`.
  void append(std::string_view bytes, ByteRange origin) {
    bytes_.append(bytes);
    if (has_origins_) origins_.insert(origins_.end(), bytes.size(), origin);
  }
  /// Bytes [from, to) of `text`, unchanged.
  void copy(const AlignedView& text, size_t from, size_t to) {
    bytes_.append(text.bytes.substr(from, to - from));
    if (!has_origins_) return;
    for (size_t i = from; i < to; ++i) origins_.push_back(text.origin(i, i + 1));
  }
  void truncate(size_t size) {
    bytes_.resize(size);
    if (has_origins_) origins_.resize(size);
  }
  const std::string& bytes() const { return bytes_; }
  /// For writing many bytes at once when nobody wants origins.
  std::string& raw_bytes() { return bytes_; }
  bool has_origins() const { return has_origins_; }
  AlignedView view() const { return {bytes_, origins_, 0}; }

 private:
  std::string bytes_;
  std::vector<ByteRange> origins_;
  bool has_origins_ = false;
};

}  // namespace trilobite
