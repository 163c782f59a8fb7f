#include "tokenizer/normalizer.hpp"

#include <algorithm>

#include "tokenizer/utf8.hpp"

namespace trilobite {
namespace {

/// Calls each(character, position) for every character of the text.
template <typename Each>
void for_each_character(std::string_view text, Each&& each) {
  for (size_t i = 0; i < text.size();) {
    const auto c = utf8::decode(text.substr(i));
    each(c, i);
    i += c.length;
  }
}

void append_code_point(AlignedText& out, uint32_t code_point, ByteRange origin) {
  char bytes[4];
  out.append({bytes, utf8::encode(code_point, bytes)}, origin);
}

bool is_space(const utf8::Character& c) {
  return (unicode::class_of(c.code_point) & unicode::kSpace) != 0;
}

struct Applier {
  const AlignedView& in;
  AlignedText& out;

  void operator()(UnicodeForm form) const { normalize(form, in, out); }
  void operator()(const Lowercase&) const {
    constexpr uint32_t kDottedCapitalI = 0x130;  // the only one with two characters: i and a dot
    for_each_character(in.bytes, [&](const utf8::Character& c, size_t i) {
      const auto origin = in.origin(i, i + c.length);
      if (c.is_invalid()) return out.copy(in, i, i + 1);
      if (c.code_point == kDottedCapitalI) return out.append("i\xCC\x87", origin);
      append_code_point(out, unicode::to_lower(c.code_point), origin);
    });
  }
  void operator()(const StripAccents&) const {
    for_each_character(in.bytes, [&](const utf8::Character& c, size_t i) {
      if ((unicode::class_of(c.code_point) & unicode::kMark) == 0) out.copy(in, i, i + c.length);
    });
  }
  void operator()(const StripSpace& step) const {
    size_t begin = 0;
    size_t end = in.bytes.size();
    while (step.left && begin < end && is_space(utf8::decode(in.bytes.substr(begin))))
      begin += utf8::decode(in.bytes.substr(begin)).length;
    while (step.right && begin < end && is_space(utf8::decode_last(in.bytes.substr(0, end))))
      end -= utf8::decode_last(in.bytes.substr(0, end)).length;
    out.copy(in, begin, end);
  }
  void operator()(const ReplaceText& step) const {
    for (size_t i = 0; i < in.bytes.size();) {
      const size_t found = std::min(in.bytes.find(step.from, i), in.bytes.size());
      out.copy(in, i, found);
      if (found == in.bytes.size()) return;
      i = found + step.from.size();
      out.append(step.to, in.origin(found, i));
    }
  }
  void operator()(const ReplaceSpaceRuns& step) const {
    for (size_t i = 0; i < in.bytes.size();) {
      const size_t run = std::min(in.bytes.find("  ", i), in.bytes.size());
      out.copy(in, i, run);
      i = std::min(in.bytes.find_first_not_of(' ', run), in.bytes.size());
      if (run < i) out.append(step.to, in.origin(run, i));
    }
  }
  void operator()(const PrependText& step) const {
    if (in.bytes.empty()) return;
    out.append(step.text, in.origin(0, 0));
    out.copy(in, 0, in.bytes.size());
  }
  void operator()(const PrefixSpace&) const {
    if (!in.bytes.starts_with(' ')) out.append(" ", in.origin(0, 0));
    out.copy(in, 0, in.bytes.size());
  }
  void operator()(const Metaspace& step) const {
    if (step.each_word) return mark_words(step);
    const bool prepends = step.prepend == Metaspace::Prepend::always ||
                          (step.prepend == Metaspace::Prepend::first_only && !in.bytes.empty() &&
                           in.origin(0, 0).begin == 0);
    if (prepends && !in.bytes.starts_with(' ') && !in.bytes.starts_with(step.marker))
      out.append(step.marker, in.origin(0, 0));
    (*this)(ReplaceText{" ", step.marker});
  }
  void mark_words(const Metaspace& step) const {
    size_t begin = 0;  // of a word
    const auto end_word = [&](size_t end) {
      if (begin == end) return;
      if (step.prepend != Metaspace::Prepend::never &&
          !in.bytes.substr(begin).starts_with(step.marker)) {
        out.append(step.marker, in.origin(begin, begin));
      }
      out.copy(in, begin, end);
    };
    for_each_character(in.bytes, [&](const utf8::Character& c, size_t i) {
      if (!is_space(c)) return;
      end_word(i);
      begin = i + c.length;
    });
    end_word(in.bytes.size());
  }
  template <typename Step>
  void operator()(const Step& step) const {
    apply(step, in, out);
  }
};

}  // namespace

AlignedView normalize(const std::vector<NormalizeStep>& steps, AlignedView text, bool with_origins,
                      NormalizeBuffers& buffers) {
  size_t target = 0;
  for (const auto& step : steps) {
    auto& out = buffers.text[target];
    out.clear(with_origins);
    std::visit(Applier{text, out}, step);
    text = out.view();
    target = 1 - target;
  }
  return text;
}

}  // namespace trilobite
