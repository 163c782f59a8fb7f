#pragma once
// One loader per source. Each gives the parts of a tokenizer or says, in one sentence, what is
// wrong with the file or not supported.

#include <string_view>

#include "base/error.hpp"
#include "base/file.hpp"
#include "gguf/gguf_file.hpp"
#include "tokenizer/tokenizer_parts.hpp"

namespace trilobite {

Result<TokenizerParts> tokenizer_from_gguf(const gguf::Gguf& file);
/// Hugging Face's tokenizer.json.
Result<TokenizerParts> tokenizer_from_json(std::string_view text);
/// A SentencePiece model: the protocol buffer in a .model file.
Result<TokenizerParts> tokenizer_from_sentencepiece(std::string_view bytes);
/// GPT-2's vocab.json (encoder.json) and merges.txt (vocab.bpe).
Result<TokenizerParts> tokenizer_from_gpt2_files(std::string_view vocabulary,
                                                 std::string_view merges);
/// Lines of a base64 token and its rank. The rules and special tokens that such files leave out are
/// those of LLaMA-3, or of GPT-2 when there are GPT-2's 50,256 ranks.
Result<TokenizerParts> tokenizer_from_tiktoken(std::string_view text);
/// BERT's vocab.txt: one piece per line. Lower-cases when no piece has a capital letter.
Result<TokenizerParts> tokenizer_from_wordpiece_vocabulary(std::string_view text);
/// llama2.c's tokenizer.bin.
Result<TokenizerParts> tokenizer_from_llama2c(std::string_view bytes);

}  // namespace trilobite
