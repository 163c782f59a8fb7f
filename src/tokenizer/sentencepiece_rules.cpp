// SentencePiece's own normalisation: rules and user-defined pieces first, then the handling of
// blanks.

#include "tokenizer/normalizer.hpp"
#include "tokenizer/utf8.hpp"

namespace trilobite {
namespace {

constexpr std::string_view kMarker = "\xE2\x96\x81";
constexpr std::string_view kReplacementText = "\xEF\xBF\xBD";

bool is_ascii(char byte) { return static_cast<signed char>(byte) >= 0; }

class SentencePieceNormalizer {
 public:
  SentencePieceNormalizer(const SentencePieceRules& step, const AlignedView& in, AlignedText& out)
      : step_(step),
        in_(in),
        out_(out),
        space_(step.escape_whitespaces ? kMarker : std::string_view(" ")) {
    has_fast_path_ = step.user_defined.is_empty() && !out.has_origins();
  }

  void run() {
    const size_t begin = step_.remove_extra_whitespaces ? skip_leading_space() : 0;
    if (begin == in_.bytes.size()) return;
    if (step_.add_dummy_prefix && !step_.prefix_is_suffix) add_space(begin);
    convert(begin);
    if (step_.remove_extra_whitespaces) drop_trailing_space();
    if (step_.add_dummy_prefix && step_.prefix_is_suffix) add_space(in_.bytes.size());
  }

 private:
  struct Prefix {
    std::string_view text;  // what the beginning becomes
    size_t length;          // of the beginning
  };
  Prefix next(size_t i) const {
    const auto rest = in_.bytes.substr(i);
    if (const auto match = step_.user_defined.longest(rest); match.length > 0)
      return {rest.substr(0, match.length), match.length};
    if (const auto match = step_.rules.longest(rest); match.length > 0)
      return {match.replacement, match.length};
    const auto c = utf8::decode(rest);
    if (c.is_invalid()) return {kReplacementText, 1};
    return {rest.substr(0, c.length), c.length};
  }

  size_t skip_leading_space() const {
    size_t i = 0;
    while (i < in_.bytes.size()) {
      const auto prefix = next(i);
      if (prefix.text != " ") break;
      i += prefix.length;
    }
    return i;
  }
  void add_space(size_t at) { out_.append(space_, in_.origin(at, at)); }

  void convert(size_t i) {
    bool after_space = step_.remove_extra_whitespaces;
    while (i < in_.bytes.size()) {
      if (has_fast_path_ && is_plain(i)) {
        i = plain_run(i);
        after_space = false;
        continue;
      }
      auto [text, length] = next(i);
      while (after_space && text.starts_with(' ')) text.remove_prefix(1);
      if (!text.empty()) {
        write(text, in_.origin(i, i + length));
        after_space = step_.remove_extra_whitespaces && text.ends_with(' ');
      }
      i += length;
    }
  }
  void write(std::string_view text, ByteRange origin) {
    for (size_t blank; (blank = text.find(' ')) != std::string_view::npos;) {
      out_.append(text.substr(0, blank), origin);
      out_.append(space_, origin);
      text.remove_prefix(blank + 1);
    }
    out_.append(text, origin);
  }

  /// An ASCII character, not a blank, that no rule touches, whatever the next is.
  bool is_plain(size_t i) const {
    const auto& bytes = in_.bytes;
    if (!is_ascii(bytes[i]) || bytes[i] == ' ') return false;
    if (step_.rules.is_empty()) return true;
    if (i + 1 == bytes.size()) return step_.rules.keeps(bytes[i]);
    return is_ascii(bytes[i + 1]) && step_.rules.keeps(bytes[i], bytes[i + 1]);
  }
  size_t plain_run(size_t begin) {
    size_t end = begin + 1;
    while (end < in_.bytes.size() && is_plain(end)) ++end;
    out_.raw_bytes().append(in_.bytes.substr(begin, end - begin));
    return end;
  }
  void drop_trailing_space() {
    while (out_.bytes().ends_with(space_)) out_.truncate(out_.bytes().size() - space_.size());
  }

  const SentencePieceRules& step_;
  const AlignedView& in_;
  AlignedText& out_;
  std::string_view space_;
  bool has_fast_path_ = false;
};

}  // namespace

void apply(const SentencePieceRules& step, const AlignedView& in, AlignedText& out) {
  SentencePieceNormalizer(step, in, out).run();
}

}  // namespace trilobite
