// Debian's libhwy measures how fine the clock is whenever it is loaded, for benchmarks of its own
// that nothing here uses: 5 of the 14 ms from start to end of `trilobite --version`, and as much of
// every program that `ab` starts. A symbol of the program precedes that of a library.

#include <hwy/nanobenchmark.h>

uint64_t hwy::platform::TimerResolution() { return 1; }
