#!/usr/bin/env bash
# Measures this program beside plain C, BlackJAX, SGMCMCJax, NumPyro, ArviZ and lme4, in turn, and prints Markdown tables:
# medians over rounds, and medians of the ratios within rounds, which a change of the processor's clock leaves alone.
#
#   bash benches/beside.sh                               # everything, about half an hour with the downloads
#   bash benches/beside.sh --only full,sgld --rounds 9
#
#   --only GROUPS    full, families, sgld, sgld-cv, sghmc, osgfs, runs, summary, mixed; separated by commas
#   --rounds N       rounds of short rows (5)
#   --long-rounds N  rounds of `runs` and `mixed` (1)
#   --folder DIR     where the Python environment and the C program are built and kept (a temporary folder, removed at the end)
#   --peers NAMES    c, blackjax, sgmcmcjax, numpyro, arviz, lme4; separated by commas, all of them by default
#   --raw FILE       also keep every answer: group, request, round, program, answer
#
# Needs cargo; a C compiler (CC), python3 with pip, and R with lme4 for the rows of each. What is missing is said and left out.
set -euo pipefail

only=full,families,sgld,sgld-cv,sghmc,osgfs,runs,summary,mixed
peers=c,blackjax,sgmcmcjax,numpyro,arviz,lme4
rounds=5 long_rounds=1 folder='' raw=''
while [ $# -gt 0 ]; do
  case $1 in
    --only) only=$2 ;;
    --rounds) rounds=$2 ;;
    --long-rounds) long_rounds=$2 ;;
    --folder) folder=$2 ;;
    --peers) peers=$2 ;;
    --raw) raw=$2 ;;
    *) sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0" >&2; exit 2 ;;
  esac
  shift 2
done
cd "$(dirname "$0")/.."
here=benches/beside

said() { printf '%s\n' "$*" >&2; }
among() { case ",$2," in *",$1,"*) ;; *) return 1 ;; esac; }

scratch=$(mktemp -d)
folder=${folder:-$scratch}
mkdir -p "$folder"
raw=${raw:-$scratch/raw}
: > "$raw"
started=()
declare -A to from titles
end() {
  local fd pid
  for fd in "${to[@]}"; do exec {fd}>&-; done
  for pid in "${started[@]}"; do kill "$pid" 2> /dev/null || true; done
  rm -rf "$scratch"
}
trap end EXIT
# Who asks a program that has ended goes on with the others.
trap '' PIPE

# Programs that answer requests, line by line; `titles` are of those that run.
programs=()
start() { # name command…
  local name=$1 answer
  shift
  mkfifo "$scratch/$name.in" "$scratch/$name.out"
  "$@" < "$scratch/$name.in" > "$scratch/$name.out" 2> "$scratch/$name.err" &
  started+=($!)
  exec {to[$name]}> "$scratch/$name.in" {from[$name]}< "$scratch/$name.out"
  answer=$(ask "$name" hello)
  if [ "$answer" = - ]; then
    said "$name is not available: $(tail -n 1 "$scratch/$name.err")"
    return
  fi
  titles[$name]=$answer
  programs+=("$name")
}
ask() { # name request
  local answer
  { printf '%s\n' "$2" >&"${to[$1]}"; } 2> /dev/null || { echo -; return; }
  read -r -u "${from[$1]}" answer || answer=-
  printf '%s\n' "$answer"
}

said 'building'
cargo bench --quiet --bench beside --no-run
start ergodic cargo bench --quiet --bench beside
if among c "$peers"; then
  if "${CC:-cc}" -O3 -march=native -ffast-math -fopenmp-simd "$here/bound.c" -o "$folder/bound" -lm 2> "$scratch/cc"; then
    start c "$folder/bound"
  else
    said "c is not available: $(tail -n 1 "$scratch/cc")"
  fi
fi
python=$folder/venv/bin/python
for package in blackjax sgmcmcjax numpyro arviz; do
  among $package "$peers" || continue
  if [ ! -x "$python" ] && ! python3 -m venv "$folder/venv" > "$scratch/venv" 2>&1; then
    said "$package is not available: $(tail -n 1 "$scratch/venv")"
    continue
  fi
  # ArviZ also says how many draws NumPyro's are worth; from 1.0 on its summary is another package's.
  needs=$package
  [ $package = numpyro ] && needs='numpyro arviz<1'
  [ $package = arviz ] && needs='arviz<1'
  IFS=' ' read -r -a needs <<< "$needs"
  if "$python" -m pip install --quiet --disable-pip-version-check "${needs[@]}" > "$scratch/pip" 2>&1; then
    start $package "$python" "$here/peers.py" $package
  else
    said "$package is not available: $(tail -n 1 "$scratch/pip")"
  fi
done
if among lme4 "$peers"; then
  if command -v Rscript > /dev/null; then
    start lme4 Rscript "$here/peers.R"
  else
    said 'lme4 is not available: there is no R'
  fi
fi

measure() { # group rounds request [what the memory must give for it, as a request to the C program]
  local round program answer
  among "$1" "$only" || return 0
  keep() { printf '%s\t%s\t%s\t%s\t%s\n' "$1" "$2" "$3" "$4" "$5" >> "$raw"; }
  for round in $(seq "$2"); do
    for program in "${programs[@]}"; do
      answer=$(ask "$program" "$3")
      keep "$1" "$3" "$round" "$program" "$answer"
    done
    if [ $# -gt 3 ] && [ -n "${titles[c]:-}" ]; then
      answer=$(ask c "$4")
      keep "$1" "$3" "$round" memory "$answer"
    fi
  done
  said "$3"
}

bytes() { echo $((100000 * $1 * 8)); } # of a table with so many numbers per row
for d in 4 10 20 54 200; do measure full "$rounds" "full logistic $d" "stream $(bytes "$d")"; done
# Sums of squares say all of normal rows: the memory has no part in that.
measure families "$rounds" 'full linear 10'
# Ten covariates and the response; of counts the logarithm of their factorial, too.
measure families "$rounds" 'full student 10' "stream $(bytes 11)"
for family in poisson negative-binomial; do measure families "$rounds" "full $family 10" "stream $(bytes 12)"; done
for sampler in sgld sgld-cv sghmc; do
  for batch in 100 1000 10000; do
    measure $sampler "$rounds" "$sampler 10 $batch iid" "gather 100000 10 $batch"
    measure $sampler "$rounds" "$sampler 10 $batch blocks" "gather 12500 80 $((batch / 8))"
  done
done
for d in 4 20 54 200; do measure sgld "$rounds" "sgld $d 1000 iid" "gather 100000 $d 1000"; done
for batch in 100 1000; do measure osgfs "$rounds" "osgfs 10 $batch iid" "gather 100000 10 $batch"; done
measure summary "$rounds" summary
# Short runs, whose preparation counts, and runs as long as the tails of an interval need.
for run in 'nuts 4 1000' 'hmc-ecs 1 1000' 'hmc-ecs 1 20000' 'nuts-ecs 1 1000' 'nuts-ecs 1 20000'; do measure runs "$long_rounds" "run $run"; done
for fit in 'normal intercepts' 'normal slopes' 'binary intercepts'; do measure mixed "$long_rounds" "mixed $fit"; done

cpu=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo 2> /dev/null | head -n 1 || true)
processors=$(nproc 2> /dev/null || echo ?)
commit=$(git rev-parse --short HEAD 2> /dev/null || echo unknown)
printf '%s, %s processors, commit %s. ' "${cpu:-unknown processor}" "$processors" "$commit"
for program in "${programs[@]}"; do printf '%s: %s. ' "$program" "${titles[$program]}"; done
printf '\n\n'
awk -f "$here/table.awk" "$raw"
