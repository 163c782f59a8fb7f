// Suite tokenizers: every kind of vocabulary on short, medium and long English, on code and on many
// languages. The dtype of an id is the kind of tokenizer, the device who does the work: `cpu` is
// ours, `sentencepiece` the library from Debian, which is there when it was found while building.
// Vocabularies and corpora are real files; TRILOBITE_TEST_DATA names the folder that holds them.

#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <optional>

#include "base/file.hpp"
#include "tokenizer/tokenizer.hpp"
#include "tokenizer/unicode_forms.hpp"
#include "trilobite/bench.hpp"
#ifdef TRILOBITE_HAS_SENTENCEPIECE
#include <sentencepiece_processor.h>
#endif

namespace trilobite::benchmarks {
namespace {

struct Kind {
  const char* name;
  const char* file;
};
constexpr std::array kKinds = {Kind{"gpt2-bpe", "ggml-vocab-gpt-2.gguf"},
                               Kind{"llama3-bpe", "ggml-vocab-llama-bpe.gguf"},
                               Kind{"bert-wordpiece", "bert/vocab.txt"},
                               Kind{"sentencepiece-bpe", "llama2/tokenizer.model"},
                               Kind{"sentencepiece-unigram", "sentencepiece/test_model.model"},
                               Kind{"t5-unigram", "t5/tokenizer.json"}};

constexpr std::string_view kCode =
    "template <typename T>\nstd::vector<T> sorted(std::vector<T> values) {\n  for (size_t i = 1; "
    "i < values.size(); ++i) {\n    // insertion: values[0, i) is in order\n    for (size_t k = "
    "i; k > 0 && values[k] < values[k - 1]; --k) std::swap(values[k], values[k - 1]);\n  }\n  "
    "return values;\n}\n";

Path data_folder() {
  const char* named = std::getenv("TRILOBITE_TEST_DATA");
  return named != nullptr ? named : TRILOBITE_TEST_DATA_FOLDER;
}

Result<std::string> corpus(const char* name) { return read_file(data_folder() / "corpora" / name); }

/// The text that a shape names.
Result<std::string> text_for(const std::string& shape) {
  if (shape == "short") return "Hello, world! How are you today?";
  if (shape == "code") {
    std::string text;
    for (int i = 0; i < 100; ++i) text += kCode;
    return text;
  }
  if (shape == "multilingual") return corpus("udhr-multilingual.txt");
  auto english = corpus("tinyshakespeare.txt");
  if (!english || shape == "long") return english;
  return english->substr(0, 1000);  // medium
}

Path vocabulary_of(const std::string& kind) {
  for (const auto& [name, file] : kKinds) {
    if (kind == name) return data_folder() / "tokenizers" / file;
  }
  return {};
}

struct Setup {
  Tokenizer tokenizer;
  std::string text;
};

/// Nothing when the benchmark was skipped or has failed, which is reported.
std::optional<Setup> set_up(Bench& p) {
  if (!std::filesystem::exists(vocabulary_of(p.dtype()))) {
    p.skip(fmt::format("no {}; TRILOBITE_TEST_DATA names the folder that holds vocabularies",
                       vocabulary_of(p.dtype()).string()));
    return std::nullopt;
  }
  auto tokenizer = load_tokenizer(vocabulary_of(p.dtype()));
  auto text = text_for(p.shape());
  if (!tokenizer || !text) {
    p.fail((tokenizer ? text.error() : tokenizer.error()).message());
    return std::nullopt;
  }
  return Setup{*std::move(tokenizer), *std::move(text)};
}

void state_work(Bench& p, const std::string& text, size_t tokens) {
  p.work({.bytes_read = static_cast<double>(text.size()),
          .items = 1,
          .tokens = static_cast<double>(tokens)});
}

/// Without the cache of words, as offsets are made, the ids are the same.
void run_encode(Bench& p, EncodeOptions options) {
  const auto setup = set_up(p);
  if (!setup) return;
  std::vector<TokenId> ids = setup->tokenizer.encode(setup->text, options);
  state_work(p, setup->text, ids.size());
  p.verify([&] { return setup->tokenizer.encode_with_offsets(setup->text, options).ids == ids; });
  p.measure([&] {
    ids.clear();
    setup->tokenizer.encode_to(ids, setup->text, options);
    return ids.data();
  });
}

#ifdef TRILOBITE_HAS_SENTENCEPIECE
void run_sentencepiece(Bench& p) {
  const auto setup = set_up(p);
  if (!setup) return;
  sentencepiece::SentencePieceProcessor peer;
  if (!peer.Load(vocabulary_of(p.dtype()).string()).ok()) return p.fail("the library refuses it");
  std::vector<int> ids;
  const auto encode = [&] { return peer.Encode(setup->text, &ids).ok(); };
  encode();
  state_work(p, setup->text, ids.size());
  p.verify([&] { return setup->tokenizer.encode(setup->text, {.add_special = false}) == ids; });
  p.measure(encode);
}
#else
void run_sentencepiece(Bench& p) {
  p.skip("built without the SentencePiece library; Debian's libsentencepiece-dev has it");
}
#endif

void run_text(Bench& p) {
  if (p.device() == "sentencepiece") return run_sentencepiece(p);
  run_encode(p, {.add_special = false, .parse_special = false});
}

void run_special(Bench& p) {
  const bool on = p.text("special") == "on";
  run_encode(p, {.add_special = on, .parse_special = on});
}

void run_decode(Bench& p) {
  const auto setup = set_up(p);
  if (!setup) return;
  const auto ids = setup->tokenizer.encode(setup->text, {.add_special = false});
  state_work(p, setup->text, ids.size());
  p.verify([&] { return setup->tokenizer.decode(ids) == setup->text; });
  p.measure([&] { return setup->tokenizer.decode(ids).size(); });
}

/// The lines of a corpus, each a text of its own.
void run_batch(Bench& p) {
  const auto setup = set_up(p);
  if (!setup) return;
  std::vector<std::string_view> lines;
  for (std::string_view rest = setup->text; !rest.empty();) {
    const size_t end = std::min(rest.find('\n', 4000), rest.size() - 1) + 1;
    lines.push_back(rest.substr(0, end));
    rest.remove_prefix(end);
  }
  const BatchOptions options{.threads = static_cast<unsigned>(p.number("threads"))};
  const auto batch = setup->tokenizer.encode_batch(lines, options);
  size_t tokens = 0;
  for (const auto& row : batch.ids) tokens += row.size();
  state_work(p, setup->text, tokens);
  p.verify([&] { return setup->tokenizer.encode_batch(lines, {}).ids == batch.ids; });
  p.measure([&] { return setup->tokenizer.encode_batch(lines, options).ids.size(); });
}

void run_load(Bench& p) {
  const auto path = vocabulary_of(p.dtype());
  if (!std::filesystem::exists(path)) return p.skip("no " + path.string());
  const auto load = [&] { return load_tokenizer(path).has_value(); };
  p.work({.items = 1});
  p.verify(load);
  p.measure(load);
}

constexpr std::array kForms = {
    std::pair{"nfc", UnicodeForm::nfc}, std::pair{"nfd", UnicodeForm::nfd},
    std::pair{"nfkc", UnicodeForm::nfkc}, std::pair{"nfkd", UnicodeForm::nfkd}};

void run_normalize(Bench& p) {
  const auto text = text_for(p.shape());
  if (!text) return p.skip(text.error().message());
  for (const auto& [name, form] : kForms) {
    if (p.dtype() != name) continue;
    AlignedText out;
    const auto apply = [&] {
      out.clear(false);
      normalize(form, {.bytes = *text}, out);
      return out.bytes().size();
    };
    p.work({.bytes_read = static_cast<double>(text->size()), .items = 1});
    p.verify([&] {  // a normalised text is its own normal form
      apply();
      return normalize(form, out.bytes()) == out.bytes();
    });
    p.measure(apply);
  }
}

std::vector<std::string> kind_names() {
  std::vector<std::string> names;
  for (const auto& kind : kKinds) names.emplace_back(kind.name);
  return names;
}

const std::vector<std::string> kTexts = {"short", "medium", "long", "code", "multilingual"};

/// An axis of texts: a list of two literals could also be read as one of something else.
Axis texts(const char* name, std::vector<std::string> values) {
  return axis(name, std::move(values));
}

bool register_suite() {
  const auto add = [](const char* operation, std::vector<Case> cases, void (*body)(Bench&)) {
    register_benchmark({.suite = "tokenizers",
                        .operation = operation,
                        .cases = [cases = std::move(cases)] { return cases; },
                        .body = body});
  };
  auto cases = over(axis("dtype", kind_names()), texts("device", {"cpu"}), axis("shape", kTexts));
  const auto peers = over(texts("dtype", {"sentencepiece-bpe", "sentencepiece-unigram"}),
                          texts("device", {"sentencepiece"}), axis("shape", kTexts));
  cases.insert(cases.end(), peers.begin(), peers.end());
  add("encode", cases, run_text);
  add("special",
      over(texts("dtype", {"llama3-bpe", "bert-wordpiece"}), texts("device", {"cpu"}),
           texts("shape", {"medium"}), texts("special", {"on", "off"})),
      run_special);
  add("decode",
      over(texts("dtype", {"gpt2-bpe", "llama3-bpe", "sentencepiece-bpe"}),
           texts("device", {"cpu"}), texts("shape", {"long", "multilingual"})),
      run_decode);
  add("batch",
      over(texts("dtype", {"llama3-bpe", "bert-wordpiece"}), texts("device", {"cpu"}),
           texts("shape", {"long", "multilingual"}), axis("threads", std::vector<int64_t>{1, 2})),
      run_batch);
  add("load", over(axis("dtype", kind_names()), texts("device", {"cpu"})), run_load);
  add("normalize",
      over(texts("dtype", {"nfc", "nfd", "nfkc", "nfkd"}), texts("device", {"cpu"}),
           texts("shape", {"long", "multilingual"})),
      run_normalize);
  return true;
}

[[maybe_unused]] const bool kRegistered = register_suite();

}  // namespace
}  // namespace trilobite::benchmarks
