#!/usr/bin/env bash
# Runs the tests on a GPU, on a machine that has neither Rust nor a CUDA toolkit: the test binaries were built elsewhere.
#
#   tests/gpu.sh --collect FOLDER             builds the binaries and puts them into FOLDER (needs cargo)
#   tests/gpu.sh --cubins FOLDER SM [SECONDS] fills FOLDER/cache with machine code for an architecture such as sm_90 (needs NVRTC, no GPU)
#   tests/gpu.sh FOLDER [STEP..]              runs them, from the root of the repository (needs a GPU with its driver, and NVRTC)
#
# STEP is one of these, or several that run at the same time, joined by `+`; a step may say its limit in seconds: `bench=40`.
#
#   doctor    what there is, without NVRTC and without a driver too
#   errors    faults of programs end with the typed error, and the next program runs
#   check     cuda_check: small programs, cancel, watchdog
#   corpus    every program of the corpus on every engine, as many as are compiled in its time; MILLSTREAM_CONTAINS='#[parallel]': those with that in their source
#   graphs    small graphs of channels, by one kernel and by the host thread
#   tiers     code that is compiled quickly runs first, and what is compiled in full takes its place
#   examples  every example on every engine
#   deep      recursions of a million levels in 64 MiB, what a level takes in a program of several tasks, and how much memory is taken if nobody says
#   stress    programs at budgets from little to plenty: results, tasks of each level, and every decision
#   random    random programs, by a process for each core, as `corpus`; MILLSTREAM_CASES says how many (2000), MILLSTREAM_SEED the first
#   compile   machine code for bench, corpus, examples and random on all cores, into the cache
#   programs  the same for stress, whose ten minutes are then for runs alone
#   sanitize  compute-sanitizer's four tools on small programs by each aggregator and inside the blocks, on parallel loops and graphs; several at once
#   bench     the table, and its records as bench.json; BENCH adds options
#   paper     the papers' figures, in $OUT/paper or beside the logs; PAPER adds options
#   profile   Nsight Compute on four programs by each aggregator, a few lines each
#
# Without a step: doctor check corpus examples random. MILLSTREAM_NVRTC says where NVRTC is, AGGREGATORS which there are (auto persistent host),
# MILLSTREAM_TEST_ENGINES which of the tests' engines (host,inside), MILLSTREAM_LIMIT after how many seconds all is to be over. Machine code is kept in FOLDER/cache; FOLDER may also hold bin.tar.xz and
# cache.tar.xz with what belongs there. Logs lie in a new folder under /tmp, and as logs.tgz in $OUT if that is set. Exits with 1 if a step failed.
set -uo pipefail
cd "$(dirname "$0")/.."
root=$PWD
: "${AGGREGATORS:=auto persistent host}"

if [ "${1:-}" = --collect ]; then
    to=${2:?a folder}
    mkdir -p "$to"
    built=$(cargo build --release -p millstream-tests -p millstream -p millstream-aggregator --test all \
        --bin millstream --example cuda_check --example cuda_time --message-format json) || exit 1
    for name in all millstream cuda_check cuda_time; do
        path=$(grep "\"name\":\"$name\"" <<< "$built" | grep -o '"executable":"[^"]*"' | tail -n 1 | cut -d '"' -f 4)
        [ -n "$path" ] || { echo "cargo built no $name" >&2; exit 1; }
        cp "$path" "$to/$name" && strip "$to/$name"
    done
    du -sh "$to"
    exit
fi

# Paths of programs stand in their machine code's source lines, so they are named in the same way everywhere.
export MILLSTREAM_ROOT=. RUST_BACKTRACE=1

# Tests whose names begin so.
tests() { # NAME [OPTION..]
    local name=$1
    shift
    "$from/all" "$name" --nocapture --skip emulate:: --skip emulated_gpu "$@"
}

# The same by a process for each core, each with a part of the work: NVRTC reads one text at a time in a process.
shared() { # NAME [OPTION..]
    local all gpus i failed=0 pids=()
    all=$(nproc) gpus=$(nvidia-smi --query-gpu=index --format=csv,noheader | wc -l)
    for ((i = 1; i <= all; i++)); do
        MILLSTREAM_PART=$i/$all CUDA_VISIBLE_DEVICES=$((i % gpus)) taskset -c $((i - 1)) bash "$root/tests/gpu.sh" --tests "$from" "$@" > "$logs/$1.$i.log" 2>&1 &
        pids+=($!)
    done
    for i in "${pids[@]}"; do wait "$i" || failed=1; done
    cat "$logs/$1".*.log
    return $failed
}
# Adds up what the processes of a step say: two numbers in lines of this pattern.
sums() { # PATTERN FORMAT
    sed -n "s/^.*$1/\1 \2/p" "$logs"/*::every_*.log | awk -v format="$2" '{ a += $1; b += $2 } END { printf format, a, b }'
}

# Fills the cache with what the steps will need, the most wanted first.
compile() { # SM SECONDS
    local start=$SECONDS
    for name in fib queens sort strassen; do # as `bench` names them
        (cd examples && timeout "$2" "$from/millstream" lower "$name.rs" --emit cubin --arch "$1" -o /dev/null) &
    done
    wait
    export MILLSTREAM_TEST_DEVICE=$1
    local left=$(($2 - SECONDS + start))
    timeout "$left" bash "$root/tests/gpu.sh" --tests "$from" corpus::every_
    timeout "$left" bash "$root/tests/gpu.sh" --tests "$from" examples::fib_queens
    left=$(($2 - SECONDS + start))
    [ "$left" -gt 5 ] && MILLSTREAM_SECONDS=$((left - 4)) tests random::every_engine
}

if [ "${1:-}" = --cubins ]; then
    from=$(cd "${2:?a folder}" && pwd) || exit 1
    export MILLSTREAM_CACHE=$from/cache
    compile "${3:?an architecture: sm_90}" "${4:-3600}"
    find "$from/cache" -name '*.cubin' | wc -l
    exit
fi

tool() { # NAME: prints where it is
    command -v "$1" || ls -d "/usr/local/cuda/bin/$1" "/opt/cuda/bin/$1" /opt/nvidia/nsight-compute/*/"$1" 2> /dev/null | tail -n 1 | grep .
}

# The programs that are looked at closely: arguments of `run`, and what the result has to be, where the RON file does not say it.
small() { # NAME
    case $1 in
        fib) echo "./examples/fib.rs --entry fib(20) --memory 64MiB" "6765" ;;
        queens) echo "./examples/queens.rs --entry queens(8) --memory 64MiB" "92" ;;
        sort) echo "./examples/sort.ron --set n=100000 --memory 64MiB" ;;
        strassen) echo "./examples/strassen.ron --set n=128 --memory 64MiB" ;;
        unbalanced) echo "./examples/unbalanced.rs --entry tree(1,60) --memory 16MiB" ;;
        quickhull) echo "./examples/quickhull.ron --set n=5000" ;;
        floyd) echo "./examples/floyd.ron --set n=40" ;;
        mergesort | prefix_sum | histogram) echo "./examples/$1.ron --set n=20000" ;;
        kmeans) echo "./examples/kmeans.ron --set n=5000 --set rounds=2" ;;
        heat) echo "./examples/heat.ron --set width=40 --set height=30 --set pairs=2" ;;
        backprop) echo "./examples/backprop.ron --set rounds=3" ;;
        tracer) echo "./examples/tracer.ron --set width=16 --set height=10 --set samples=1" ;;
        *) echo "./examples/$1.ron" ;;
    esac
}
large() { # NAME
    case $1 in
        fib) echo "./examples/fib.rs --entry fib(40) --memory 2GiB" ;;
        queens) echo "./examples/queens.rs --entry queens(16) --memory 4GiB" ;;
        sort) echo "./examples/sort.ron --set n=10000000 --memory 1GiB" ;;
        strassen) echo "./examples/strassen.ron --set n=1024 --memory 1GiB" ;;
    esac
}

# One run under a tool of compute-sanitizer: one line.
sanitize_one() { # TOOL AGGREGATOR PROGRAM
    local log="$logs/sanitize-$1-$2-$3.log" start=$SECONDS rc=0 args expected summary by=(--aggregator "$2")
    read -r -a args <<< "$(small "$3")"
    [ "$2" != block ] || by=(--policy block)
    expected=${args[-1]}
    [[ $expected =~ ^[0-9]+$ ]] && unset 'args[-1]' || expected=
    timeout -k 2 "${SANITIZE_EACH:-45}" "$(tool compute-sanitizer)" --tool "$1" --print-limit 3 --error-exitcode 99 \
        "$from/millstream" run -q "${args[@]}" --device cuda:0 "${by[@]}" > "$log" 2>&1 || rc=$?
    summary=$(grep -E 'SUMMARY' "$log" | sed 's/^=* *//' | tail -n 1)
    if [ -n "$expected" ] && ! grep -qx "$expected" "$log"; then summary+=", but the result is not $expected"; fi
    echo "sanitized $1 $2 $3: rc $rc, ${summary:-no summary}, $((SECONDS - start)) s"
    [ "$rc" -eq 0 ] || grep -m 4 -E '=========|error|Error' "$log" | cut -c1-200
    sed -i 400q "$log"
    return "$rc"
}

# What Nsight Compute says of the dispatches of a run: their time and bytes in all, and the longest one closely.
profile_one() { # AGGREGATOR PROGRAM
    local csv="$logs/profile-$1-$2.csv" start=$SECONDS rc=0 args skip=0 sections metrics
    read -r -a args <<< "$(large "$2")"
    [ "$1" = persistent ] || skip=12
    sections="--section SpeedOfLight --section MemoryWorkloadAnalysis --section Occupancy --section WarpStateStats --section LaunchStats"
    metrics="--metrics dram__bytes_read.sum,dram__bytes_write.sum,l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum,l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum,smsp__thread_inst_executed_per_inst_executed.ratio"
    # Without what it does not know, if it knows not all.
    for more in "$metrics" ""; do
        rc=0
        # shellcheck disable=SC2086
        timeout -k 2 "${PROFILE_EACH:-25}" "$(tool ncu)" --csv --page raw --print-units base --clock-control none --cache-control none $sections \
            $more --launch-skip "$skip" --launch-count 24 --log-file "$csv" "$from/millstream" run -q "${args[@]}" --device cuda:0 \
            --aggregator "$1" > "$csv.out" 2>&1 || rc=$?
        [ "$(grep -c '^"' "$csv")" -lt 3 ] && [ "$rc" -ne 124 ] || break
    done
    echo "== $2 by $1: rc $rc, $((SECONDS - start)) s"
    python3 - "$csv" << 'PYTHON' || { tail -n 3 "$csv"; tail -n 3 "$csv.out"; }
import csv, re, sys
rows = list(csv.DictReader(l for l in open(sys.argv[1], errors="replace") if l.startswith('"')))
rows = [r for r in rows if r.get("ID", "").isdigit()]
def number(row, key):
    try: return float((row.get(key) or "").replace(",", ""))
    except ValueError: return 0.0
ms = lambda r: number(r, "gpu__time_duration.sum") / 1e6
mb = lambda r: sum(number(r, f"dram__bytes_{d}.sum") for d in ("read", "write")) / 1e6
rows.sort(key=lambda r: -ms(r))
top = rows[0]
print(f"{len(rows)} launches, {sum(map(ms, rows)):.3f} ms, {sum(map(mb, rows)):.1f} MB of DRAM; longest: {top['Kernel Name'][:40]}, "
      f"grid {top.get('Grid Size', '?')}, {ms(top):.3f} ms, {mb(top):.1f} MB")
shown = {"warps_active.avg.pct": "warps active %", "maximum_warps": "most warps %", "registers_per_thread$": "registers",
         "block_static": "shared bytes", "l1tex__t_sector_hit_rate.pct": "L1 hit %", "lts__t_sector_hit_rate.pct": "L2 hit %",
         "mem_local_op_ld": "local loads", "mem_local_op_st": "local stores", "inst_executed_per_inst": "lanes an instruction",
         "sm__throughput.*pct": "SM %", "dram_throughput.*pct|dram__throughput.*pct": "DRAM %", "issue_active.avg.pct|inst_issued.*pct": "issue %"}
print(", ".join(f"{name} {number(top, k):.6g}" for pattern, name in shown.items() for k in [k for k in top if re.search(pattern, k)][:1]))
stalls = {re.sub(r".*issue_stalled_|_per_.*", "", k): number(top, k) for k in top
          if re.search(r"issue_stalled_\w+_per_issue_active", k) and "not_issued" not in k}
print("stalls, cycles an instruction:", ", ".join(f"{k} {v:.2f}" for k, v in sorted(stalls.items(), key=lambda s: -s[1])[:6]))
PYTHON
    return "$rc"
}

step() { # NAME SECONDS
    local failed=0
    case $1 in
        doctor)
            "$from/millstream" doctor || failed=1
            for without in MILLSTREAM_NVRTC=/nowhere/libnvrtc.so MILLSTREAM_CUDA=off; do
                echo "-- $without"
                env "$without" "$from/millstream" doctor | grep -A 8 '^CUDA device'
                echo "exit code ${PIPESTATUS[0]}"
                env "$without" "$from/millstream" run ./examples/fib.rs --entry 'fib(10)' --device cuda:0
                echo "exit code $?"
            done
            ;;
        errors) tests corpus::every_fault || failed=1 ;;
        check) "$from/cuda_check" quick || failed=1 ;;
        # What is being compiled when the time is over is waited for, a minute or more of large programs.
        corpus)
            MILLSTREAM_SECONDS=${MILLSTREAM_SECONDS:-$(($2 * 3 / 5))} shared corpus::every_program || failed=1
            sums 'Seen: \([0-9]*\) of \([0-9]*\) programs.*' 'Seen: %d of %d programs in all\n'
            ;;
        graphs) MILLSTREAM_TEST_DEVICE=cuda tests flows:: || failed=1 ;;
        tiers) tests tiers:: --test-threads 1 || failed=1 ;;
        examples) tests examples:: --skip _examples:: || failed=1 ;;
        deep)
            tests deep:: --test-threads 1 || failed=1
            tests budget::what_runs_inside || failed=1
            ;;
        stress) MILLSTREAM_SECONDS=${MILLSTREAM_SECONDS:-$(($2 - 50))} tests stress:: || failed=1 ;;
        random)
            MILLSTREAM_CASES=${MILLSTREAM_CASES:-2000} MILLSTREAM_SECONDS=${MILLSTREAM_SECONDS:-$(($2 * 4 / 5))} shared random::every_engine || failed=1
            sums 'Counts.*agreed: \([0-9]*\),.*too_long: \([0-9]*\),.*' 'Counts of all: %d agreed, %d too long\n'
            ;;
        compile)
            local sm
            sm=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2> /dev/null | head -n 1 | tr -d '. ')
            compile "sm_${sm:-90}" $(($2 - 3))
            ;;
        programs)
            local sm
            sm=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2> /dev/null | head -n 1 | tr -d '. ')
            MILLSTREAM_TEST_DEVICE=sm_${sm:-90} MILLSTREAM_SECONDS=$(($2 - 60)) tests stress::tight || failed=1
            ;;
        # shellcheck disable=SC2086
        bench) "$from/millstream" bench --device cuda:0 --json "$logs/bench.json" ${BENCH:---rounds 5} || failed=1 ;;
        # shellcheck disable=SC2086
        paper) "$from/millstream" bench paper --device cuda:0 --out "${OUT:-$logs}/paper" ${PAPER:-} || failed=1 ;;
        sanitize)
            tool compute-sanitizer > /dev/null || { echo "SKIPPED: there is no compute-sanitizer"; return 0; }
            for t in memcheck racecheck synccheck initcheck; do
                for a in $AGGREGATORS block; do
                    for p in fib queens sort strassen unbalanced; do echo "$t $a $p"; done
                done
                for p in quickhull floyd mergesort prefix_sum histogram kmeans heat backprop; do echo "$t auto $p"; done
                # initcheck was never tried on graphs.
                for p in fib_channel bfs shortest words mandelbrot tracer; do [ "$t" = initcheck ] || echo "$t auto $p"; done
            done | xargs -P "${SANITIZE_JOBS:-6}" -L 1 bash "$root/tests/gpu.sh" --sanitize-one "$from" "$logs" || failed=1
            ;;
        profile)
            tool ncu > /dev/null || { echo "SKIPPED: there is no ncu"; return 0; }
            for p in fib queens sort strassen; do
                for a in $AGGREGATORS; do profile_one "$a" "$p" || failed=1; done
            done
            ;;
        *) echo "there is no step $1" >&2 && return 2 ;;
    esac
    return $failed
}

case ${1:-} in
    --sanitize-one) from=$2 logs=$3; sanitize_one "$4" "$5" "$6"; exit ;;
    --step) from=$2 logs=$3; step "$4" "$5"; exit ;;
    --tests) from=$2; tests "${@:3}"; exit ;;
esac

if ! [ -d "${1:?the folder with the binaries, or --collect FOLDER}" ]; then
    echo "there is no folder $1: \`tests/gpu.sh --collect $1\` makes it, and puts the binaries there" >&2
    exit 1
fi
from=$(cd "$1" && pwd) || exit 1
shift
[ $# -gt 0 ] || set -- doctor check corpus examples random
logs=$(mktemp -d)
# 200 random programs are over a gibibyte of machine code.
export MILLSTREAM_TEST_DEVICE=cuda MILLSTREAM_CACHE=$from/cache MILLSTREAM_CACHE_MIB=4096
begin=$SECONDS failed=0 summary=
declare -A limits=([doctor]=15 [errors]=60 [check]=60 [corpus]=150 [graphs]=60 [tiers]=200 [examples]=120 [random]=600 [stress]=600 [deep]=120 [compile]=300 [programs]=590 [sanitize]=400 [bench]=240 [paper]=580 [profile]=200)

unpack() { # NAME: of FOLDER/NAME.tar.xz into FOLDER; without xz where there is none
    [ ! -e "$from/$1.tar.xz" ] || python3 -c 'import sys, tarfile; tarfile.open(sys.argv[1]).extractall(sys.argv[2])' "$from/$1.tar.xz" "$from"
}
unpack bin
unpack cache &
unpacking=$!

keep() { [ -z "${OUT:-}" ] || tar czf "$OUT/logs.tgz" -C "$logs" .; }

# Waits for a step and says how it went.
finish() { # NAME PID
    local name=$1 log="$logs/$1.log" rc took said
    wait "$2"
    read -r rc took < "$logs/$1.rc"
    said=$(grep -E '^test result|SKIPPED|all good|SOMETHING|^Counts [{o]|Seen|programs compiled' "$log" | sort | uniq -c | sed 's/^ *1 //; s/^ *//' | tr '\n' ';')
    summary+=$(printf '%-10s %-6s %4d s  %s' "$name" "$([ $rc -eq 0 ] && echo ok || echo "rc $rc")" "$took" "${said:0:400}")$'\n'
    case $name in
        doctor | bench | paper | profile | deep) cat "$log" ;;
        sanitize) grep -E -A 4 '^sanitized' "$log" | grep -v '^--' ;;
    esac
    if [ $rc -ne 0 ] && [ "$name" != compile ]; then
        failed=1
        case $name in doctor | bench | paper | profile | sanitize) ;; *) printf '== %s failed (rc %s); the end of its log:\n' "$name" "$rc" && tail -n 25 "$log" | cut -c1-300 ;; esac
    fi
}

for one in ${*//+/ }; do
    [ -n "${limits[${one%%=*}]:-}" ] || { echo "there is no step ${one%%=*}" >&2; exit 2; }
done
for group in "$@"; do
    IFS=+ read -r -a steps <<< "$group"
    names=() pids=()
    # What is carried is in its place before anything is compiled.
    case $group in doctor) ;; *) wait "$unpacking" 2> /dev/null ;; esac
    for one in "${steps[@]}"; do
        name=${one%%=*} limit=${limits[${one%%=*}]:-60}
        [ "$name" = "$one" ] || limit=${one#*=}
        if [ -n "${MILLSTREAM_LIMIT:-}" ]; then
            left=$((MILLSTREAM_LIMIT - SECONDS + begin))
            [ "$limit" -le "$left" ] || limit=$left
            [ "$limit" -gt 3 ] || { summary+="$name: no time was left for it"$'\n'; failed=1; continue; }
        fi
        (
            rc=0 start=$SECONDS
            timeout -k 3 "$limit" bash "$root/tests/gpu.sh" --step "$from" "$logs" "$name" "$limit" > "$logs/$name.log" 2>&1 < /dev/null || rc=$?
            echo "$rc $((SECONDS - start))" > "$logs/$name.rc"
        ) &
        names+=("$name") pids+=($!)
    done
    for i in "${!names[@]}"; do finish "${names[i]}" "${pids[i]}"; done
    keep
done
printf '\n== summary, %d s (logs in %s)\n%s' $((SECONDS - begin)) "$logs" "$summary"
exit $failed
