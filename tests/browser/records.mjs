// Records as the program writes them, made up here so that every test knows what a page must show.

const SIZES = [64, 128, 256, 512];
const DEVICES = {reference: 40, cpu: 2, openblas: 2.5};  // nanoseconds per element

/// Even, not sorted, the same everywhere.
function samplesAround(centre, spread, count = 20) {
  return Array.from({length: count}, (_, i) => centre * (1 + spread * (((i * 7 + 3) % count) / count - 0.5)));
}

export function measured(names, samples, more = {}) {
  const sorted = [...samples].sort((a, b) => a - b);
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
  const median = (sorted[Math.floor((sorted.length - 1) / 2)] + sorted[Math.ceil((sorted.length - 1) / 2)]) / 2;
  return {
    ...identity(names), status: 'ok', iterations_per_sample: 10, samples_ns: samples, samples_per_round: [samples.length],
    statistics_ns: {median, mean: median, sd: 1, mad: 1, min: sorted[0], max: sorted.at(-1), p50: median, p95: at(.95), p99: at(.99),
                    median_ci95: [at(.3), at(.7)], outliers: {low_severe: 0, low_mild: 0, high_mild: 1, high_severe: 0}},
    ...more,
  };
}

export function unmeasured(names, status, reason) {
  return {...identity(names), status, reason, iterations_per_sample: 0, samples_ns: []};
}

function identity({suite, operation, dtype, device, shape}) {
  return {id: [suite, operation, dtype, device, shape].join('/'), suite, operation, dtype, device, shape};
}

export function record(benchmarks, more = {}) {
  return {
    schema: 'trilobite.record/1', id: 'example', started_at: '2026-01-01T00:00:00Z', finished_at: '2026-01-01T00:01:00Z', complete: true,
    command: ['trilobite', 'bench'], version: '0.1.0', git: {commit: '0123456789abcdef', dirty: false}, threads: 2, isa: 'avx2',
    plan: {samples: 20, rounds: 1, warm_up_ns: 1, measurement_ns: 1, timeout_ns: 1},
    environment: {platform: 'linux-x86_64', fingerprint: 'abc', memory_bytes: 8589934592,
                  cpu: {architecture: 'x86_64', model: 'Example CPU', logical_cpus: 2, physical_cores: 2, sockets: 1, numa_nodes: 1}},
    warnings: [{code: 'virtualized', message: 'this is a kvm', advice: 'use a dedicated machine'}],
    benchmarks, ...more,
  };
}

function matrixSuite(factor) {
  const all = [];
  for (const dtype of ['f32', 'f16']) {
    for (const size of SIZES) {
      for (const [device, cost] of Object.entries(DEVICES)) {
        const names = {suite: 'matrix', operation: 'matmul', dtype, device, shape: `${size}x${size}`};
        if (device === 'openblas' && dtype === 'f16') {
          all.push(unmeasured(names, 'skipped', 'openblas has no f16'));
          continue;
        }
        const time = cost * size * size * factor;
        all.push(measured(names, samplesAround(time, 0.1), {
          work: {bytes_read: 8 * size * size, bytes_written: 4 * size * size, flops: 2 * size ** 3},
          throughput: {flops_per_second: 2 * size ** 3 / time * 1e9},
          limit: {limit: 'f32 arithmetic, 2 threads', value: 1e11, unit: 'op/s', share: 0.5 / cost},
          memory: {allocated_bytes: 4 * size * size, peak_bytes: 4 * size * size, allocations: 1},
        }));
      }
    }
  }
  return all;
}

function formatSuite() {
  const formats = {bitnet: [2, 8, 900], 'int4-g32': [4.5, 21, 700], int8: [8, 44, 400], fp16: [16, 70, 300], fp32: [32, null, 100]};
  return Object.entries(formats).map(([dtype, [bits, snr, time]]) =>
      measured({suite: 'formats', operation: 'quantize', dtype, device: 'cpu', shape: '256x256'}, samplesAround(time, 0.02),
               {figures: {bits_per_weight: bits, snr_db: snr, memory_reduction: 32 / bits, gflops: 1 / bits, gflops_at_least: 0.1}}));
}

const LIMITS = {fingerprint: 'abc', measured_at: '2026-01-01T00:00:00Z', isa: 'avx2', by_threads: [{threads: 2,
  bandwidth_bytes_per_second: [
    {level: 'L1', working_set_bytes: 16384, read: 2e11, write: 1e11, copy: 1.5e11, triad: 1.6e11},
    {level: 'memory', working_set_bytes: 1e9, read: 3e10, write: 2e10, copy: 2.5e10, triad: 2.6e10}],
  operations_per_second: {f32: 1e11}}]};

/// Two suites, three devices, sizes, formats, limits, a failure.
export function rich({factor = 1} = {}) {
  const failed = unmeasured({suite: 'matrix', operation: 'softmax', dtype: 'f32', device: 'cpu', shape: '8'}, 'failed', 'wrong output');
  return record([...matrixSuite(factor), ...formatSuite(), failed], {limits: LIMITS});
}

export const HOSTILE = ['<script>window.hacked = 1</script>', '"><img src=x onerror="window.hacked = 1">', "it's \"quoted\" & more", 'x'.repeat(3000),
  '\u05e9\u05dc\u05d5\u05dd\u202e', '</template></style></script><b>', '\u4e2d\u6587'];

export function hostile() {
  return record(HOSTILE.flatMap((name, i) => [
    measured({suite: name, operation: name, dtype: name, device: name, shape: `${8 + i}`}, samplesAround(5000, 0.1)),
    unmeasured({suite: 'hostile', operation: name, dtype: 'f32', device: 'cpu', shape: '8'}, 'failed', name)]),
    {warnings: HOSTILE.map((name) => ({code: name, message: name, advice: name}))});
}

export function large(benchmarks = 5000, samples = 100) {
  const devices = Object.keys(DEVICES);
  return record(Array.from({length: benchmarks}, (_, i) => measured(
      {suite: `suite_${Math.floor(i / 600)}`, operation: `operation_${Math.floor(i / 60) % 10}`, dtype: ['f32', 'f16'][Math.floor(i / 30) % 2],
       device: devices[i % 3], shape: `${8 + Math.floor(i / 3) % 10}x${8 + Math.floor(i / 3) % 10}`},
      samplesAround(1000 + 17.125 * i, 0.07, samples))));
}
