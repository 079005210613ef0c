#!/usr/bin/env bash
# Everything that only a machine with a GPU can tell, in one call.
#
#   tools/gpu_check.sh                    all stages
#   tools/gpu_check.sh build tests        some of them: build tests examples programs bench suite host
#                                         sanitizer
#
# build      compile with all cores into build-gpu/, with the present Python and without a network
# tests      the whole test suite, every test with a target fixture on cuda and on cpu
# examples   every script in examples/ on the GPU
# programs   random programs of every kind through kernels on the GPU, and the differential report
# bench      benchmarks/run.py
# suite      benchmarks/suite.py: the usual fusions beside a copy, with the time of the kernels alone
# host       host costs: calls beside a bare launch, definitions found again, and the first call of a
#            later process
# sanitizer  the tests marked `sanitize` under compute-sanitizer: memcheck, racecheck, synccheck
#
# The output of a stage goes to build-gpu/logs/<stage>.log (or $OUT/<stage>.log); of a failed one the
# end is printed. A table comes last; the exit status is 1 if a stage failed. A tool or a folder that
# is not there makes its stage "skipped".
#
# PYTHON      interpreter (python3)
# JOBS        processes of the test suite (as many as there are cores)
# TESTS       folders and files of the stage `tests` (tests): the suite can be run in several calls
# NVFUSER_TEST_TARGETS  targets of the stage `tests` (cuda,cpu)
# SEED        the first seed of `programs` (0), whose numbers COUNT (100) stands for
# TIMEOUT_<STAGE>       seconds, as in TIMEOUT_TESTS
# PYTEST_ARGS, BENCH_ARGS, SUITE_ARGS  appended to the commands of those stages
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1

readonly ALL_STAGES=(build tests examples programs bench suite host sanitizer)
readonly SKIPPED=77 # exit status of a stage that has nothing to run
readonly NO_TESTS=5 # pytest's
readonly BUILD_DIR=build-gpu

PYTHON=${PYTHON:-python3}
CORES=$(nproc)
JOBS=${JOBS:-$CORES}
LOGS=${OUT:-$BUILD_DIR/logs}
export PYTHONPATH="$PWD/python${PYTHONPATH:+:$PYTHONPATH}" PYTHONUNBUFFERED=1

skip() {
  echo "skipped: $*"
  exit $SKIPPED
}

run_build() {
  set -e
  # Only the extension is copied into python/: the committed stubs stay as they are.
  cmake -S . -B $BUILD_DIR -G Ninja -DNVFUSER_DEV=ON -DNVFUSER_WERROR=OFF \
    -DPython_EXECUTABLE="$(command -v "$PYTHON")"
  cmake --build $BUILD_DIR --target dev_extension --parallel "$CORES"
}

run_tests() {
  # Verbose: the log names each test when it ends, so that a stage that is stopped tells what failed.
  # shellcheck disable=SC2086 # several arguments are meant
  NVFUSER_TEST_TARGETS=${NVFUSER_TEST_TARGETS:-cuda,cpu} "$PYTHON" -m pytest -v --tb=short -rf \
    -n "$JOBS" --dist worksteal ${TESTS:-tests} ${PYTEST_ARGS:-}
}

run_examples() {
  local failed=0 example
  compgen -G 'examples/*.py' >/dev/null || skip "no examples"
  for example in examples/*.py; do
    echo "=== $example --target cuda"
    "$PYTHON" "$example" --target cuda || {
      echo "FAILED $example"
      failed=1
    }
  done
  return $failed
}

run_programs() {
  local count=${COUNT:-100} seed=${SEED:-0} failed=0 program
  for program in tests/property/{random,scheduled,optimized}_programs.py \
    tests/property/automatic_schedules.py tests/segment/executed_plans.py; do
    echo "=== $program --target cuda --count $count --seed $seed"
    "$PYTHON" "$program" --target cuda --count "$count" --seed "$seed" || {
      echo "FAILED $program"
      failed=1
    }
  done
  echo "=== tests/differential/report.py --targets cuda"
  "$PYTHON" tests/differential/report.py --targets cuda || {
    echo "FAILED tests/differential/report.py"
    failed=1
  }
  return $failed
}

run_suite() {
  # shellcheck disable=SC2086
  "$PYTHON" benchmarks/suite.py --target cuda --kernels --json "$LOGS/suite.json" \
    ${SUITE_ARGS:---quick}
}

run_host() {
  "$PYTHON" benchmarks/host_costs.py --target cuda &&
    "$PYTHON" benchmarks/frontend_host_costs.py --target cuda &&
    "$PYTHON" benchmarks/second_process.py --target cuda
}

run_bench() {
  [ -f benchmarks/run.py ] || skip "no benchmarks/run.py"
  # shellcheck disable=SC2086
  "$PYTHON" benchmarks/run.py --target cuda ${BENCH_ARGS:-}
}

# In clusters of more than 8 blocks, synccheck takes the barriers of ranks 8 and above for never
# initialized, although those blocks run the same instructions as the others. Where a lane hands a stage
# back for its warp, racecheck reports the reads of the 31 other lanes: it does not see that __syncwarp
# orders them before that lane arrives at the barrier (docs/debugging.md).
marks_for() {
  case $1 in
    racecheck) echo 'sanitize and not lanes_hand_back' ;;
    synccheck) echo 'sanitize and not wide_cluster' ;;
    *) echo sanitize ;;
  esac
}

run_sanitizer() {
  local sanitizer tool failed=0 status
  sanitizer=$(PATH=$PATH:/usr/local/cuda/bin command -v compute-sanitizer) ||
    skip "no compute-sanitizer"
  for tool in memcheck racecheck synccheck; do
    echo "=== $tool"
    # Without the caching allocator every tensor has bounds that memcheck knows.
    PYTORCH_NO_CUDA_MEMORY_CACHING=1 NVFUSER_TEST_TARGETS=cuda \
      "$sanitizer" --tool $tool --target-processes all --error-exitcode 1 \
      --kernel-name kernel_substring=nvfuser_ \
      "$PYTHON" -m pytest -q -m "$(marks_for $tool)" tests
    status=$?
    [ $status -eq $NO_TESTS ] && skip "no test is marked sanitize"
    [ $status -eq 0 ] || {
      echo "FAILED $tool"
      failed=1
    }
  done
  return $failed
}

timeout_of() {
  case $1 in
    build) echo "${TIMEOUT_BUILD:-580}" ;;
    tests) echo "${TIMEOUT_TESTS:-570}" ;;
    examples) echo "${TIMEOUT_EXAMPLES:-200}" ;;
    programs) echo "${TIMEOUT_PROGRAMS:-400}" ;;
    bench) echo "${TIMEOUT_BENCH:-400}" ;;
    suite) echo "${TIMEOUT_SUITE:-400}" ;;
    host) echo "${TIMEOUT_HOST:-200}" ;;
    sanitizer) echo "${TIMEOUT_SANITIZER:-500}" ;;
  esac
}

# The last line of pytest; of a stage that was stopped, what has ended so far.
tests_summary() {
  grep -E '^=+ .*[0-9]+ (passed|failed|error)' "$1" | tail -n 1 | grep . ||
    grep -oE '\] (PASSED|FAILED|ERROR|SKIPPED|XFAIL) ' "$1" | sort | uniq -c | tr -s ' ]' ' ' |
    paste -sd,
}

# A line of the table: the stage's last words that say how it went.
summary_of() {
  case $1 in
    tests) tests_summary "$2" ;;
    suite) grep -i 'geometric mean' "$2" | tail -n 1 ;;
    sanitizer) grep -E 'ERROR SUMMARY|RACECHECK SUMMARY|^FAILED|^skipped' "$2" | sort | uniq -c |
      tr -s ' ' | tail -n 3 | paste -sd';' ;;
    *) grep -E '^(FAILED|skipped)' "$2" | paste -sd';' ;;
  esac
}

# Runs one stage in a process of its own and adds its line to TABLE.
run_stage() {
  local stage=$1 log=$LOGS/$1.log started=$SECONDS status word limit
  limit=$(timeout_of "$stage")
  echo "--- $stage (at most $limit s)"
  timeout -k 10 "$limit" bash "${BASH_SOURCE[0]}" --stage "$stage" >"$log" 2>&1
  status=$?
  case $status in
    0) word=passed ;;
    "$SKIPPED") word=skipped ;;
    124 | 137) word='timed out' ;;
    *) word=failed ;;
  esac
  if [ "$word" = failed ] || [ "$word" = 'timed out' ]; then
    FAILED=1
    tail -n 40 "$log" | cut -c1-200
    grep -oE '\] (FAILED|ERROR) .*' "$log" | cut -c3- # of tests that had no time for a summary
  fi
  TABLE+=$(printf '%-10s %-10s %5d s  %s' "$stage" "$word" $((SECONDS - started)) \
    "$(summary_of "$stage" "$log" | cut -c1-110)")$'\n'
}

if [ "${1:-}" = --stage ]; then # how run_stage calls back, so that `timeout` has a command to end
  "run_$2"
  exit
fi

STAGES=("$@")
[ ${#STAGES[@]} -gt 0 ] || STAGES=("${ALL_STAGES[@]}")
for stage in "${STAGES[@]}"; do
  [[ " ${ALL_STAGES[*]} " == *" $stage "* ]] || {
    echo "unknown stage '$stage'; known: ${ALL_STAGES[*]}" >&2
    exit 2
  }
done

mkdir -p "$LOGS"
TABLE=''
FAILED=0
for stage in "${STAGES[@]}"; do
  run_stage "$stage"
done
printf '\n%s' "$TABLE"
exit $FAILED
