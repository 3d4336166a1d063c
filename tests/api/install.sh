#!/bin/sh
# install.sh BUILD SOURCE CC - what `make install` installs, used as a stranger would: the
# examples built in an empty folder with pkg-config, shared and static, and with CMake; the
# header in several languages; nothing exported but what the header declares.
set -u
build=$1 source=$2 cc=$3
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
prefix=$work/prefix
failed=0

fault()
{
    echo "FAILED: $1"
    failed=1
}

# try WHAT COMMAND...: it must work; what it says is shown if not
try()
{
    what=$1
    shift
    "$@" >out 2>&1 || fault "$what: $(cat out)"
}

# The path of an installed file, which may be below lib/x86_64-linux-gnu.
find_file()
{
    find "$prefix" -name "$1" | head -n 1
}

try 'install' cmake --install "$build" --prefix "$prefix"
try 'staged install' env DESTDIR="$work/stage" cmake --install "$build" --prefix /usr
[ -x stage/usr/bin/sebays ] || fault 'DESTDIR is ignored'
for name in sebays sebays.h libsebays.so libsebays.a sebays.pc sebays-config.cmake \
    sebays-config-version.cmake quickstart.ini LICENSE README.md cluster.md predict.c; do
    [ -n "$(find_file "$name")" ] || fault "$name is not installed"
done
shared=$(find_file libsebays.so) static=$(find_file libsebays.a) header=$(find_file sebays.h)
PKG_CONFIG_PATH=$(dirname "$(find_file sebays.pc)")
LD_LIBRARY_PATH=$(dirname "$shared")
export PKG_CONFIG_PATH LD_LIBRARY_PATH

# ---- names and versions ----

sed -n 's/^[a-z].*[ *]\(sebays_[a-z_0-9]*\)(.*/\1/p; s/^\(sebays_[a-z_0-9]*\)(.*/\1/p' "$header" |
    grep -v '_fn$' | sort -u >declared
nm -D --defined-only "$shared" | awk '{ print $3 }' | sort -u >exported
cmp -s declared exported ||
    fault "declared and exported names differ: $(diff declared exported | grep '^[<>]')"
nm -g --defined-only "$static" | awk 'NF == 3 { print $3 }' | sort -u >exported
cmp -s declared exported ||
    fault "the static library has other names: $(diff declared exported | grep '^[<>]')"
[ "$(wc -l <declared)" -gt 30 ] || fault 'the header declares hardly anything'

version=$(pkg-config --modversion sebays)
[ "$("$prefix/bin/sebays" --version)" = "sebays $version" ] || fault "the program is not $version"
case "$(objdump -p "$shared" | awk '$1 == "SONAME" { print $2 }')" in
libsebays.so.[0-9]*) ;;
*) fault 'the shared library has no versioned soname' ;;
esac

# ---- the header ----

echo '#include <sebays.h>' >header.c
cp header.c header.cc
for std in c99 c11 c17; do
    # shellcheck disable=SC2046 # flags are words
    try "header as $std" "$cc" -std=$std -Wall -Wextra -pedantic -Werror -fsyntax-only \
        $(pkg-config --cflags sebays) header.c
done
if command -v g++ >/dev/null; then
    for std in c++11 c++17; do
        # shellcheck disable=SC2046
        try "header as $std" g++ -std=$std -Wall -Wextra -pedantic -Werror -fsyntax-only \
            $(pkg-config --cflags sebays) header.cc
    done
else
    echo 'NOT TESTED: the header in C++ (needs g++)'
fi

# ---- pkg-config ----

mkdir empty && cd empty || exit 1
cp "$source/examples/predict.c" "$source/examples/train.c" .
for name in train predict; do
    # shellcheck disable=SC2046
    try "pkg-config: $name" "$cc" -std=c17 -Wall -Wextra -pedantic -Werror $name.c \
        $(pkg-config --cflags --libs sebays) -o $name
done
cat >iris.ini <<END
[data]
set = $source/tests/tables/iris.csv
split = stratified
[model]
arch = mlp-64-32
[method]
name = sebays
members = 2
sparsity = 0.5
explore_epochs = 10
exploit_epochs = 10
[train]
batch = 16
END
try 'train' ./train iris.ini run
grep -q '^2 members, 5[0-9.]* % of the weights: accuracy' out || fault "train said: $(cat out)"
./predict run <<END >shared.txt 2>err || fault "predict: $(cat err)"
5.1 3.5 1.4 0.2
6.3 3.3 6.0 2.5
END
[ "$(awk '{ print $2 }' shared.txt | tr '\n' ' ')" = 'Iris-setosa Iris-virginica ' ] ||
    fault "predict said: $(cat shared.txt)"
echo '1 inf 2 3' | ./predict run >out 2>err && fault 'predict took what is not a number'
grep -q '^predict: run: example 0 has a number that is not finite' err ||
    fault "of a number that is not finite predict said: $(cat err)"

# ---- static; the program may have names that the library has inside ----

cat >own.c <<'END'
void *sb_malloc(void);
void *sb_malloc(void) { return 0; }
END
# shellcheck disable=SC2046
try 'static' "$cc" predict.c own.c $(pkg-config --cflags sebays) "$static" \
    $(pkg-config --static --libs sebays | sed 's/-lsebays//') -o predict_static
echo '5.1 3.5 1.4 0.2 6.3 3.3 6.0 2.5' | ./predict_static run >static.txt 2>err ||
    fault "static: $(cat err)"
cmp -s shared.txt static.txt || fault 'the static library predicts differently'

# ---- CMake ----

cat >CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.21)
project(stranger C)
find_package(sebays 0.1 REQUIRED)
add_executable(by_cmake predict.c)
target_link_libraries(by_cmake sebays::sebays)
add_executable(by_cmake_static predict.c)
target_link_libraries(by_cmake_static sebays::sebays_static)
END
try 'find_package' cmake -B by -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$cc"
try 'build by CMake' cmake --build by
for name in by_cmake by_cmake_static; do
    echo '5.1 3.5 1.4 0.2 6.3 3.3 6.0 2.5' | by/$name run >cmake.txt 2>err ||
        fault "$name: $(cat err)"
    cmp -s shared.txt cmake.txt || fault "$name predicts differently"
done
exit $failed
