#include "tokenizer/unicode_forms.hpp"

#include <algorithm>
#include <vector>

#include "tokenizer/utf8.hpp"

namespace trilobite {
namespace {

using namespace detail;

/// A character of the result and where it comes from.
struct Part {
  uint32_t code_point;
  uint8_t combining_class;
  ByteRange origin;
};
using Parts = std::vector<Part>;

/// Runs of combining marks in the order of their classes; equal classes keep their order.
void order_marks(Parts& parts) {
  for (size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].combining_class == 0) continue;
    size_t end = i;
    while (end < parts.size() && parts[end].combining_class != 0) ++end;
    std::stable_sort(
        parts.begin() + static_cast<ptrdiff_t>(i), parts.begin() + static_cast<ptrdiff_t>(end),
        [](const Part& a, const Part& b) { return a.combining_class < b.combining_class; });
    i = end;
  }
}

uint32_t compose_hangul(uint32_t first, uint32_t second) {
  const uint32_t lead = first - kLeadBase;
  const uint32_t vowel = second - kVowelBase;
  if (lead < 19 && vowel < kVowels) return kHangulBase + (lead * kVowels + vowel) * kTrails;
  const uint32_t syllable = first - kHangulBase;
  const uint32_t trail = second - kTrailBase;
  const bool joins = syllable < kHangulCount && syllable % kTrails == 0 && trail - 1 < kTrails - 1;
  return joins ? first + trail : 0;
}

/// 0 when the two do not compose.
uint32_t compose_pair(uint32_t first, uint32_t second) {
  if (const uint32_t hangul = compose_hangul(first, second)) return hangul;
  const auto& all = unicode::tables::kCompositions;
  const auto key = [](const unicode::tables::Composition& c) {
    return std::pair(c.first, c.second);
  };
  const auto found = std::ranges::lower_bound(all, std::pair(first, second), {}, key);
  return found != all.end() && key(*found) == std::pair(first, second) ? found->composed : 0;
}

void compose(Parts& parts) {
  size_t starter = SIZE_MAX;
  size_t count = 0;
  int last_class = -1;  // of the character kept last after the starter
  for (const Part part : parts) {
    if (starter != SIZE_MAX && last_class < static_cast<int>(part.combining_class)) {
      if (const uint32_t c = compose_pair(parts[starter].code_point, part.code_point)) {
        parts[starter].code_point = c;
        parts[starter].origin.end = std::max(parts[starter].origin.end, part.origin.end);
        continue;
      }
    }
    if (part.combining_class == 0) {
      starter = count;
      last_class = -1;
    } else {
      last_class = part.combining_class;
    }
    parts[count++] = part;
  }
  parts.resize(count);
}

class FormNormalizer {
 public:
  FormNormalizer(UnicodeForm form, const AlignedView& text, AlignedText& out)
      : composes_(form == UnicodeForm::nfc || form == UnicodeForm::nfkc),
        compatible_(form == UnicodeForm::nfkc || form == UnicodeForm::nfkd),
        text_(text),
        out_(out) {}

  /// ASCII is the same in all forms, but its last character may take marks that follow it.
  void run() {
    const auto& bytes = text_.bytes;
    for (size_t i = 0; i < bytes.size();) {
      size_t end = i;
      while (end < bytes.size() && is_ascii(bytes[end])) ++end;
      if (end == bytes.size()) return out_.copy(text_, i, end);
      if (end > i) out_.copy(text_, i, --end);
      i = end + (is_ascii(bytes[end]) ? 1 : 0);
      while (i < bytes.size() && !is_ascii(bytes[i])) ++i;
      normalize_part(end, i);
    }
  }

 private:
  static bool is_ascii(char byte) { return static_cast<signed char>(byte) >= 0; }
  void normalize_part(size_t begin, size_t end) {
    parts_.clear();
    while (begin < end) {
      const auto c = utf8::decode(text_.bytes.substr(begin, end - begin));
      add(c.code_point, text_.origin(begin, begin + c.length));
      begin += c.length;
    }
    order_marks(parts_);
    if (composes_) compose(parts_);
    for (const auto& part : parts_) {
      char bytes[4];
      out_.append({bytes, utf8::encode(part.code_point, bytes)}, part.origin);
    }
  }
  void add(uint32_t code_point, ByteRange origin) {
    const auto& offsets =
        compatible_ ? unicode::tables::kCompatibilityOffsets : unicode::tables::kCanonicalOffsets;
    decompose(code_point, offsets[code_point], [&](uint32_t part) {
      parts_.push_back({part, unicode::combining_class(part), origin});
    });
  }

  bool composes_;
  bool compatible_;
  const AlignedView& text_;
  AlignedText& out_;
  Parts parts_;
};

}  // namespace

void normalize(UnicodeForm form, const AlignedView& text, AlignedText& out) {
  FormNormalizer(form, text, out).run();
}

std::string normalize(UnicodeForm form, std::string_view text) {
  AlignedText out;
  normalize(form, {.bytes = text}, out);
  return out.bytes();
}

}  // namespace trilobite
