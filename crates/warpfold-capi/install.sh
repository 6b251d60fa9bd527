#!/bin/sh
# Installs warpfold for C and C++: headers, the shared and the static library, pkg-config and CMake files.
#     install.sh PREFIX            builds for release first
#     install.sh PREFIX DIRECTORY  takes the libraries that lie there
# DESTDIR is put before PREFIX where files are written, as packagers expect.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
prefix=${1:?"usage: install.sh PREFIX [DIRECTORY of libwarpfold_c]"}
case $prefix in /*) ;; *) echo "install.sh: PREFIX must be absolute, and is $prefix" >&2; exit 2 ;; esac
version=$(sed -n '/^\[workspace.package\]/,/^\[[^w]/s/^version = "\(.*\)"$/\1/p' "$here/../../Cargo.toml")
if [ $# -ge 2 ]; then
    libraries=$2
else
    (cd "$here" && cargo build --release --locked --package warpfold-capi)
    libraries=${CARGO_TARGET_DIR:-$here/../../target}/release
fi
to=${DESTDIR:-}$prefix
mkdir -p "$to/include" "$to/lib/pkgconfig" "$to/lib/cmake/warpfold"
install -m 644 "$here/include/warpfold.h" "$here/include/warpfold.hpp" "$to/include"
install -m 755 "$libraries/libwarpfold_c.so" "$to/lib"
install -m 644 "$libraries/libwarpfold_c.a" "$to/lib"

cat > "$to/lib/pkgconfig/warpfold.pc" <<PC
prefix=$prefix
libdir=\${prefix}/lib
includedir=\${prefix}/include

Name: warpfold
Description: Correctly rounded, reproducible reductions
Version: $version
Libs: -L\${libdir} -lwarpfold_c
Libs.private: -lpthread -ldl -lm -lgcc_s -lrt -lutil
Cflags: -I\${includedir}
PC

cat > "$to/lib/cmake/warpfold/warpfold-config.cmake" <<'CMAKE'
# warpfold::warpfold is the shared library, warpfold::static the static one.
get_filename_component(_warpfold "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(NOT TARGET warpfold::warpfold)
    add_library(warpfold::warpfold SHARED IMPORTED)
    # The library has no soname: programs record its name, and not where it lay.
    set_target_properties(warpfold::warpfold PROPERTIES
        IMPORTED_LOCATION "${_warpfold}/lib/libwarpfold_c.so"
        IMPORTED_NO_SONAME TRUE
        INTERFACE_INCLUDE_DIRECTORIES "${_warpfold}/include")
    add_library(warpfold::static STATIC IMPORTED)
    set_target_properties(warpfold::static PROPERTIES
        IMPORTED_LOCATION "${_warpfold}/lib/libwarpfold_c.a"
        INTERFACE_INCLUDE_DIRECTORIES "${_warpfold}/include"
        INTERFACE_LINK_LIBRARIES "pthread;dl;m;gcc_s;rt;util")
endif()
unset(_warpfold)
CMAKE

cat > "$to/lib/cmake/warpfold/warpfold-config-version.cmake" <<CMAKE
set(PACKAGE_VERSION "$version")
# Before 1.0 a minor version may change the interface.
string(REGEX MATCH "^[0-9]+\\\\.[0-9]+" _warpfold_has "$version")
string(REGEX MATCH "^[0-9]+\\\\.[0-9]+" _warpfold_wanted "\${PACKAGE_FIND_VERSION}")
if(PACKAGE_FIND_VERSION VERSION_LESS_EQUAL PACKAGE_VERSION AND
   (NOT _warpfold_wanted OR _warpfold_wanted STREQUAL _warpfold_has))
    set(PACKAGE_VERSION_COMPATIBLE TRUE)
endif()
if(PACKAGE_FIND_VERSION VERSION_EQUAL PACKAGE_VERSION)
    set(PACKAGE_VERSION_EXACT TRUE)
endif()
CMAKE
echo "installed warpfold $version to $to"
