#!/bin/bash
# NumPy for Pyodide, built from source where its distribution is not reached: bash tests/tab/numpy.sh FOLDER
#
# For trying the labs in a tab, not for publishing. As root on Debian, with its packages and the registries of Python and
# npm: 7 to 15 minutes on two cores, 1.8 GB. `make lite` takes the wheel that it prints from build/lite/distribution/.
set -e
folder=$(mkdir -p "$1" && cd "$1" && pwd)
root=$(cd "$(dirname "$0")/../.." && pwd)
chroot=$folder/sid
python=${PYTHON:-$root/.venv/bin/python}
unset PIP_FIND_LINKS

# Debian's Emscripten, and Python 3.14 with its headers
if [ ! -d "$chroot/b" ]; then
	debootstrap --variant=minbase --no-merged-usr sid "$chroot" http://deb.debian.org/debian
	cp /etc/resolv.conf "$chroot/etc/"
	chroot "$chroot" apt-get install -y --no-install-recommends emscripten python3.14-dev python3.14-venv ninja-build patch \
		xz-utils ca-certificates
	cp /etc/ssl/certs/ca-certificates.crt "$chroot/etc/ssl/certs/"
	mkdir -p "$chroot/b/bin"
	chroot "$chroot" python3.14 -m venv /b/venv
	chroot "$chroot" /b/venv/bin/pip install -q meson-python==0.22.1 cython==3.3.1
	cp "$chroot/usr/include/x86_64-linux-gnu/python3.14/pyconfig.h" "$chroot/b/here.h"
fi
mountpoint -q "$chroot/proc" || mount -t proc proc "$chroot/proc"
mountpoint -q "$chroot/dev" || mount --bind /dev "$chroot/dev"

# pyconfig.h of WebAssembly, from what Pyodide's Python says about its own build
"$python" - "$root" "$chroot" <<-'END'
	import re, sys
	from pathlib import Path
	from zipfile import ZipFile
	sys.path.insert(0, f"{sys.argv[1]}/assets/lite")
	from build import ROOT, get_pyodide, read_lock
	chroot, name = Path(sys.argv[2]), "_sysconfigdata__emscripten_wasm32-emscripten.py"
	core = get_pyodide(ROOT / "build" / "lite")
	(chroot / "b" / "version").write_text(read_lock(core / "pyodide-lock.json")["packages"]["numpy"]["version"])
	said = ZipFile(core / "python_stdlib.zip").read(name)
	(chroot / "b" / name).write_bytes(said)
	exec(said)
	lines = []
	for line in (chroot / "b" / "here.h").read_text().splitlines():
	    found = re.match(r"\s*(?:/\*\s*#\s*undef|#\s*define)\s+(\w+)", line)
	    if found and found[1] in build_time_vars and found[1] != "Py_PYCONFIG_H":
	        value, kept = build_time_vars[found[1]], found[1].startswith(("HAVE_DECL_", "SIZEOF_"))
	        line = f"#define {found[1]} {value}" if value not in (0, "") or kept else f"/* #undef {found[1]} */"
	    lines.append(line)
	(chroot / "usr/include/python3.14/pyconfig.h").write_text("\n".join(lines) + "\n")
END

# the compiler with Pyodide's flags; a link gives a side module that exports only how it is initialised
cat > "$chroot/b/bin/emcc" <<-'END'
	#!/bin/bash
	tool=/usr/bin/$(basename "$0") out= kept=()
	[ -x "$tool" ] || tool=/usr/share/emscripten/$(basename "$0")
	while [ $# -gt 0 ]; do
		case $1 in
			-shared | -pthread | -Wl,*) ;;
			-o) out=$2; kept+=(-o "$2"); shift ;;
			*) kept+=("$1") ;;
		esac
		shift
	done
	kept+=(-fPIC -fwasm-exceptions -sSUPPORT_LONGJMP=wasm -sWASM_LEGACY_EXCEPTIONS=1)
	name=$(basename "${out%%.*}")
	case $out in
		*.cpython-*.so) kept+=(-O2 -g0 -sWASM_BIGINT -sSIDE_MODULE=2 "-sEXPORTED_FUNCTIONS=_PyInit_$name") ;;
	esac
	exec "$tool" "${kept[@]}"
END
chmod +x "$chroot/b/bin/emcc"
ln -sf emcc "$chroot/b/bin/em++"
cat > "$chroot/b/cross.ini" <<-'END'
	[binaries]
	c = '/b/bin/emcc'
	cpp = '/b/bin/em++'
	ar = 'emar'
	ranlib = 'emranlib'
	strip = 'true'
	exe_wrapper = 'node'
	[built-in options]
	c_args = ['-O2', '-g0', '-Wno-return-type']
	cpp_args = ['-O2', '-g0', '-Wno-return-type']
	[properties]
	needs_exe_wrapper = true
	skip_sanity_check = true
	longdouble_format = 'IEEE_QUAD_LE'
	[host_machine]
	system = 'emscripten'
	cpu_family = 'wasm32'
	cpu = 'wasm'
	endian = 'little'
END

chroot "$chroot" env PATH=/b/venv/bin:/usr/bin:/bin PYTHONPATH=/b \
	_PYTHON_SYSCONFIGDATA_NAME=_sysconfigdata__emscripten_wasm32-emscripten \
	_PYTHON_HOST_PLATFORM=pyemscripten-2026_0-wasm32 \
	pip wheel --no-build-isolation --no-deps --no-binary numpy --wheel-dir /b/dist "numpy==$(cat "$chroot/b/version")" \
	-C setup-args=--cross-file=/b/cross.ini -C setup-args=-Dblas=none -C setup-args=-Dlapack=none \
	-C setup-args=-Dbuildtype=release -C compile-args=-j2 -C install-args=--tags=runtime,python-runtime,devel
cp "$chroot"/b/dist/numpy-*.whl "$folder"
ls "$folder"/numpy-*.whl
