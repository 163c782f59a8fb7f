#pragma once
// The product of a weight matrix as the engine does it for a quantisation scheme: where the weights
// lie, or in the tiles that loading makes of them. Quantising the activations is part of it.

#include <memory>
#include <string>
#include <vector>

#include "lowbit_inputs.hpp"
#include "model/linear.hpp"

namespace trilobite::benchmarks {

struct ProductRequest {
  std::string scheme;  // quant/scheme.hpp
  MatrixShape shape;   // rows: a multiple of 64
  size_t tokens = 1;
  uint64_t seed = 42;
  /// Copies of the weights, used in turn, that together are four times the last-level cache.
  bool from_memory = false;
};

class EngineProduct {
 public:
  /// An error of kind `environment` when no kernel multiplies weights of that scheme.
  static Result<EngineProduct> create(const ProductRequest& request, ThreadPool& pool);

  /// By the next copy.
  void run();
  /// The next product beside plain loops in f64 over the weights as the scheme restores them and
  /// the activations as the kernel sees them.
  Verification verify();
  Work work() const;

  std::string_view kernel() const { return linears_.front().kernel(); }
  size_t weight_bytes() const { return linears_.front().bytes(); }
  const std::vector<float>& output() const { return out_; }

 private:
  EngineProduct(const ProductRequest& request, PackedTensor tensor, ThreadPool& pool);
  Result<model::Weights> load_copy();
  Result<void> add_copies();
  std::vector<float> activations_seen();

  ProductRequest request_;
  std::unique_ptr<PackedTensor> tensor_;
  std::vector<std::vector<uint8_t>> copies_;
  std::vector<model::Linear> linears_;
  size_t turn_ = 0;
  ThreadPool* pool_;
  std::unique_ptr<kernels::Gemm> gemm_;
  std::unique_ptr<model::ProjectionInput> input_;
  std::vector<float> x_;
  std::vector<float> out_;
};

}  // namespace trilobite::benchmarks
