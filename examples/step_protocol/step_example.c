/* A program that `trilobite ab` can compare with another build of itself: the step protocol of
 * docs/step-protocol.md in plain C, for one benchmark. `./step_example 2` does 2 % more work. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kNumbers = 4096 };
static double numbers[kNumbers];
static volatile double kept;

static void one_iteration(int count) {
  double sum = 0;
  for (int i = 0; i < count; ++i) sum = sum * 0.5 + numbers[i % kNumbers];
  kept = sum; /* so that the compiler cannot leave it out */
}

static long long now_ns(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void step(long iterations, int count) {
  const long long cpu = now_ns(CLOCK_PROCESS_CPUTIME_ID);
  const long long wall = now_ns(CLOCK_MONOTONIC);
  for (long i = 0; i < iterations; ++i) one_iteration(count);
  const long long wall_ns = now_ns(CLOCK_MONOTONIC) - wall;
  printf("ok %lld %lld\n", wall_ns > 0 ? wall_ns : 1, now_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu);
}

int main(int argc, char** argv) {
  const double extra_percent = argc > 1 ? atof(argv[1]) : 0;
  const int count = (int)(kNumbers * (1 + extra_percent / 100));
  char line[1024];
  for (int i = 0; i < kNumbers; ++i) numbers[i] = i;
  while (fgets(line, sizeof line, stdin)) {
    line[strcspn(line, "\n")] = 0;
    if (strcmp(line, "quit") == 0) break;
    if (strcmp(line, "list") == 0) {
      puts("ok\n- example/sum\n.");
    } else if (strncmp(line, "step ", 5) == 0 && atol(line + 5) > 0) {
      step(atol(line + 5), count);
    } else if (strcmp(line, "trilobite-step 1") == 0 || strcmp(line, "close") == 0 ||
               (strncmp(line, "open ", 5) == 0 && strstr(line, " example/sum"))) {
      puts("ok");
    } else {
      printf("error '%s' is not a request of the step protocol\n", line);
    }
    fflush(stdout);
  }
  return 0;
}
