# expect.sh - for tests of the program as people run it, to be sourced: $sebays is the program,
# the current folder is the test's own, and $failed ends as the test's exit code.
# shellcheck shell=sh disable=SC2034,SC2154
failed=0

fault()
{
    echo "FAILED: $1"
    failed=1
}

# refused CODE SENTENCE ARGUMENTS...
refused()
{
    want_code=$1 want=$2
    shift 2
    "$sebays" "$@" >out 2>err
    code=$?
    [ $code -eq "$want_code" ] || fault "sebays $*: exit code $code, want $want_code"
    [ "$(cat err)" = "$want" ] || fault "sebays $*: said '$(cat err)', want '$want'"
    [ -s out ] && fault "sebays $*: wrote to standard output"
}
