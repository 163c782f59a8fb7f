// BERT's cleaning in one pass: each character is dropped, made a blank, set apart, taken to pieces
// and lowered before the next is looked at.

#include <algorithm>
#include <array>

#include "tokenizer/normalizer.hpp"
#include "tokenizer/utf8.hpp"

namespace trilobite {
namespace {

bool is_ideograph(uint32_t c) {
  const auto within = [c](uint32_t first, uint32_t last) { return first <= c && c <= last; };
  return within(0x4E00, 0x9FFF) || within(0x3400, 0x4DBF) || within(0x20000, 0x2A6DF) ||
         within(0x2A700, 0x2B73F) || within(0x2B740, 0x2B81F) || within(0x2B920, 0x2CEAF) ||
         within(0xF900, 0xFAFF) || within(0x2F800, 0x2FA1F);
}

bool is_dropped(uint32_t c) {
  if (c == '\t' || c == '\n' || c == '\r') return false;
  return c == 0 || c == unicode::kReplacement || (unicode::class_of(c) & unicode::kOther) != 0;
}

class BertCleaner {
 public:
  BertCleaner(const BertClean& step, const AlignedView& in, AlignedText& out)
      : step_(step), in_(in), out_(out) {
    for (uint32_t c = 0; c < 128; ++c) {
      const bool dropped = step.clean_text && is_dropped(c);
      const bool space = step.clean_text && (unicode::class_of(c) & unicode::kSpace) != 0;
      const uint32_t lowered = step.lowercase ? unicode::to_lower(c) : c;
      ascii_[c] = static_cast<char>(dropped ? kDropped : space ? ' ' : lowered);
    }
  }

  void run() {
    const auto& bytes = in_.bytes;
    for (size_t i = 0; i < bytes.size();) {
      if (static_cast<signed char>(bytes[i]) >= 0) {
        if (held_ > 0) release();
        i = ascii_run(i);
      } else {
        const auto c = utf8::decode(bytes.data() + i, bytes.size() - i);
        character(c.code_point, in_.origin(i, i + c.length));
        i += c.length;
      }
    }
    release();
  }

 private:
  static constexpr char kDropped = '\x7F';  // itself a control character

  size_t ascii_run(size_t i) {
    const auto& bytes = in_.bytes;
    for (; i < bytes.size() && static_cast<signed char>(bytes[i]) >= 0; ++i) {
      const char c = ascii_[static_cast<size_t>(bytes[i])];
      if (c == kDropped && step_.clean_text) continue;
      if (out_.has_origins()) {
        out_.append({&c, 1}, in_.origin(i, i + 1));
      } else {
        out_.raw_bytes().push_back(c);
      }
    }
    return i;
  }

  void character(uint32_t c, ByteRange origin) {
    if (step_.clean_text) {
      if (is_dropped(c)) return;
      if ((unicode::class_of(c) & unicode::kSpace) != 0) c = ' ';
    }
    const bool apart = step_.separate_cjk && is_ideograph(c);
    if (apart) add(' ', origin);
    if (step_.strip_accents) {
      decompose_canonically(c, [&](uint32_t part) {
        if ((unicode::class_of(part) & unicode::kNonspacingMark) == 0) add(part, origin);
      });
    } else {
      add(c, origin);
    }
    if (apart) add(' ', origin);
  }

  /// The few marks that are not nonspacing have to be brought into canonical order.
  void add(uint32_t c, ByteRange origin) {
    const uint8_t order = step_.strip_accents ? unicode::combining_class(c) : uint8_t{0};
    if (order == 0) {
      if (held_ > 0) release();
      return write(c, origin);
    }
    if (held_ == marks_.size()) release();  // 32 in a row: no text
    size_t place = held_++;
    for (; place > 0 && marks_[place - 1].order > order; --place) marks_[place] = marks_[place - 1];
    marks_[place] = {c, order, origin};
  }
  void release() {
    for (size_t i = 0; i < held_; ++i) write(marks_[i].code_point, marks_[i].origin);
    held_ = 0;
  }
  void write(uint32_t c, ByteRange origin) {
    char bytes[4];
    if (step_.lowercase) {
      if (c == 0x130) return out_.append("i\xCC\x87", origin);
      c = unicode::to_lower(c);
    }
    out_.append({bytes, utf8::encode(c, bytes)}, origin);
  }

  struct Mark {
    uint32_t code_point;
    uint8_t order;
    ByteRange origin;
  };
  const BertClean& step_;
  const AlignedView& in_;
  AlignedText& out_;
  std::array<char, 128> ascii_;
  std::array<Mark, 32> marks_;
  size_t held_ = 0;
};

}  // namespace

void apply(const BertClean& step, const AlignedView& in, AlignedText& out) {
  BertCleaner(step, in, out).run();
}

}  // namespace trilobite
