#pragma once
// All weights of a transformer, whatever its architecture: what an architecture does not have is
// empty.

#include <functional>
#include <optional>
#include <vector>

#include "gguf/gguf_file.hpp"
#include "model/config.hpp"
#include "model/linear.hpp"
#include "model/weights.hpp"

namespace trilobite::model {

struct Layer {
  Norm attention_norm;                    // before attention; bert: after it
  std::optional<Linear> query_key_value;  // gpt2: q, k and v below each other
  std::optional<Linear> query, key, value;
  Norm attention_sub_norm;
  std::optional<Linear> attention_output;
  Norm feed_forward_norm;  // before the feed-forward part; bert: after it
  std::optional<Linear> gate, up, down;
  Norm feed_forward_sub_norm;
};

struct TransformerWeights {
  ModelConfig config;
  std::optional<RowReader> token_embedding;
  std::vector<float> position_embedding;  // [context][width]
  std::vector<float> type_embedding;      // [width], of the first type
  Norm embedding_norm;
  std::vector<Layer> layers;
  Norm output_norm;
  std::optional<Linear> head;       // [vocabulary][width]; bert has none
  std::vector<float> rope_factors;  // of the frequencies, one for each pair; empty: all 1
  WeightMemory memory;

  /// Bytes of weights that one token reads.
  size_t bytes_per_token() const;
  void for_each_linear(const std::function<void(const Linear&)>& visit) const;
};

/// The file stays mapped for as long as the weights are used.
Result<TransformerWeights> load_transformer(const gguf::GgufFile& file, ThreadPool& pool,
                                            const WeightOptions& options);

}  // namespace trilobite::model
