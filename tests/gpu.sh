#!/usr/bin/env bash
# Runs the tests on a GPU, on a machine that has neither Rust nor a CUDA toolkit: the test binaries were built elsewhere.
#
#   tests/gpu.sh --collect FOLDER      builds the binaries and puts them into FOLDER (needs cargo)
#   tests/gpu.sh FOLDER [TEST..]       runs them, from the root of the repository (needs a GPU with its driver, and NVRTC)
#
# TEST is any of: doctor check corpus examples random; all of them if none is given. And bench: the table, and its records as bench.json. MILLSTREAM_CASES says how many random programs there are
# (2000), MILLSTREAM_NVRTC where NVRTC is. A log of each test lies in $OUT if that is set, else in a new folder under /tmp. Exits with 1 if a
# test failed.
set -uo pipefail
cd "$(dirname "$0")/.."

if [ "${1:-}" = --collect ]; then
    to=${2:?a folder}
    mkdir -p "$to"
    built=$(cargo test --release -p millstream-tests --test corpus --test examples --test random --no-run --message-format json &&
        cargo build --release -p millstream --bin millstream --message-format json &&
        cargo build --release -p millstream-aggregator --example cuda_check --message-format json) || exit 1
    for name in corpus examples random millstream cuda_check; do
        path=$(grep "\"name\":\"$name\"" <<< "$built" | grep -o '"executable":"[^"]*"' | tail -n 1 | cut -d '"' -f 4)
        [ -n "$path" ] || { echo "cargo built no $name" >&2; exit 1; }
        cp "$path" "$to/$name" && strip "$to/$name"
    done
    du -sh "$to"
    exit
fi

from=${1:?the folder with the binaries, or --collect FOLDER}
shift
[ $# -gt 0 ] || set -- doctor check corpus examples random
logs=${OUT:-$(mktemp -d)}
export MILLSTREAM_TEST_DEVICE=cuda MILLSTREAM_ROOT=$PWD RUST_BACKTRACE=1
failed=0
summary=

try() { # NAME COMMAND..
    local name=$1 start=$SECONDS rc=0 log="$logs/$1.log" said
    shift
    "$@" > "$log" 2>&1 < /dev/null || rc=$?
    said=$(grep -E '^test result|SKIPPED|all good|SOMETHING' "$log" | sort | uniq -c | sed 's/^ *1 //; s/^ *//' | tr '\n' ';')
    summary+=$(printf '%-10s %-6s %4d s  %s' "$name" "$([ $rc -eq 0 ] && echo ok || echo "rc $rc")" $((SECONDS - start)) "$said")$'\n'
    if [ $rc -ne 0 ]; then
        failed=1
        printf '== %s failed; the end of %s:\n' "$name" "$log"
        tail -n 60 "$log"
    fi
}

for test in "$@"; do
    case $test in
        doctor)
            try doctor "$from/millstream" doctor
            cat "$logs/doctor.log"
            try no-nvrtc env MILLSTREAM_NVRTC=/nowhere/libnvrtc.so "$from/millstream" doctor
            try no-driver env MILLSTREAM_CUDA=off "$from/millstream" doctor
            ;;
        check) try check "$from/cuda_check" quick ;;
        corpus | examples | random) try "$test" "$from/$test" --nocapture --test-threads 1 ;;
        bench)
            try bench "$from/millstream" bench --device cuda:0 --json "$logs/bench.json"
            cat "$logs/bench.log"
            ;;
        *) echo "there is no test $test" >&2 && exit 2 ;;
    esac
done
printf '\n== summary (logs in %s)\n%s' "$logs" "$summary"
exit $failed
