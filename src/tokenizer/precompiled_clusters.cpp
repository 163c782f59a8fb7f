// Hugging Face's reading of SentencePiece's rules: a short cluster is replaced as a whole by the
// rule for its shortest beginning, if there is one; otherwise each of its characters is.

#include "tokenizer/graphemes.hpp"
#include "tokenizer/normalizer.hpp"
#include "tokenizer/utf8.hpp"

namespace trilobite {
namespace {

constexpr size_t kShortCluster = 6;  // bytes; clusters below are tried as a whole

void apply_to_cluster(const Charsmap& rules, const AlignedView& in, size_t begin, size_t end,
                      AlignedText& out) {
  const auto cluster = in.bytes.substr(begin, end - begin);
  if (cluster.size() < kShortCluster) {
    if (const auto match = rules.shortest(cluster); match.length > 0)
      return out.append(match.replacement, in.origin(begin, end));
  }
  while (begin < end) {
    const size_t length = utf8::decode(in.bytes.substr(begin)).length;
    const auto match = rules.shortest(in.bytes.substr(begin, length));
    if (match.length > 0) {
      out.append(match.replacement, in.origin(begin, begin + length));
    } else {
      out.copy(in, begin, begin + length);
    }
    begin += length;
  }
}

}  // namespace

void apply(const PrecompiledClusters& step, const AlignedView& in, AlignedText& out) {
  if (step.rules.is_empty()) return out.copy(in, 0, in.bytes.size());
  const auto is_ascii = [](char c) { return static_cast<signed char>(c) >= 0; };
  const auto& bytes = in.bytes;
  for (size_t i = 0; i < bytes.size();) {
    // An ASCII character before another is a cluster by itself, but for CR LF, which has a rule.
    size_t end = i;
    while (end + 1 < bytes.size() && is_ascii(bytes[end]) && is_ascii(bytes[end + 1]) &&
           step.rules.keeps(bytes[end])) {
      ++end;
    }
    out.copy(in, i, end);
    i = end;
    const size_t length = first_grapheme(bytes.substr(i));
    apply_to_cluster(step.rules, in, i, i + length, out);
    i += length;
  }
}

}  // namespace trilobite
