"""Real programs run unmodified in a cell, and say what they say on the host.

Each row is a shell script that runs once on the host, as an ordinary user in an
empty directory, and once in a cell: standard output and exit status are equal.
What a row needs and the host lacks is a skip with its name.
"""
import os
import shutil
import subprocess

import pytest

import karzer

PATH = "/usr/local/bin:/usr/bin:/bin"
ROOM = ("--mem", "1G", "--disk", "512M", "--inodes", "60000", "--pids", "256",
        "--nofile", "4096", "--cpu", "2")

WHEEL = r'''
mkdir -p src/hello && cd src
printf 'def greet(): return "hello from a wheel"\n' > hello/__init__.py
mkdir hello-1.0.dist-info
printf 'Metadata-Version: 2.1\nName: hello\nVersion: 1.0\n' > hello-1.0.dist-info/METADATA
printf 'Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n' > hello-1.0.dist-info/WHEEL
printf 'hello/__init__.py,,\nhello-1.0.dist-info/METADATA,,\nhello-1.0.dist-info/WHEEL,,\nhello-1.0.dist-info/RECORD,,\n' > hello-1.0.dist-info/RECORD
/usr/bin/python3 -m zipfile -c ../hello-1.0-py3-none-any.whl hello hello-1.0.dist-info && cd ..
'''

# (name, what it needs, the script)
ROWS = [
    ("pip installs a wheel from a local file into a venv", ["/usr/bin/python3"],
     WHEEL + "/usr/bin/python3 -m venv v && "
     "v/bin/python -m pip install -q --no-index ./hello-1.0-py3-none-any.whl "
     "2>/dev/null && v/bin/python -c 'import hello; print(hello.greet())' && "
     "v/bin/pip list 2>/dev/null | grep hello"),
    ("pip installs a wheel for the user", ["/usr/bin/python3"],
     WHEEL + "pip install -q --no-index --break-system-packages --target t "
     "./hello-1.0-py3-none-any.whl 2>/dev/null && "
     "PYTHONPATH=t /usr/bin/python3 -c 'import hello; print(hello.greet())'"),
    ("subprocess", ["/usr/bin/python3"],
     "/usr/bin/python3 -c 'import subprocess as s\n"
     "print(s.run([\"tr\", \"a-z\", \"A-Z\"], input=b\"abc\", stdout=s.PIPE).stdout)\n"
     "print(s.check_output(\"echo $((6*7)); exit 0\", shell=True))\n"
     "p = s.Popen([\"sleep\", \"60\"]); p.terminate(); print(p.wait())'"),
    *[(f"multiprocessing by {method}", ["/usr/bin/python3"],
       "cat > m.py <<'END'\n"
       "import multiprocessing as m\n"
       "from multiprocessing import shared_memory\n"
       "def square(x): return x * x\n"
       "def fill(name):\n"
       "    s = shared_memory.SharedMemory(name); s.buf[0] = 42; s.close()\n"
       "if __name__ == '__main__':\n"
       f"    m.set_start_method('{method}')\n"
       "    with m.Pool(3) as p: print(p.map(square, range(10)))\n"
       "    s = shared_memory.SharedMemory(create=True, size=64)\n"
       "    p = m.Process(target=fill, args=(s.name,)); p.start(); p.join()\n"
       "    print(s.buf[0], p.exitcode); s.close(); s.unlink()\n"
       "    q = m.Queue(); q.put([1, 'a']); print(q.get())\n"
       "    v = m.Value('i', 1)\n"
       "    with v.get_lock(): v.value += 1\n"
       "    print(v.value)\n"
       "END\n/usr/bin/python3 m.py") for method in ("fork", "spawn", "forkserver")],
    ("asyncio with a server and a subprocess", ["/usr/bin/python3"],
     "cat > a.py <<'END'\n"
     "import asyncio\n"
     "async def serve(r, w):\n"
     "    w.write((await r.readline()).upper()); await w.drain(); w.close()\n"
     "async def main():\n"
     "    s = await asyncio.start_server(serve, '127.0.0.1', 0)\n"
     "    r, w = await asyncio.open_connection(*s.sockets[0].getsockname())\n"
     "    w.write(b'hello\\n'); print(await r.readline())\n"
     "    p = await asyncio.create_subprocess_exec('echo', 'x', stdout=-1)\n"
     "    print(await p.communicate(), p.returncode)\n"
     "    print(await asyncio.gather(*[asyncio.sleep(0.01, i) for i in range(5)]))\n"
     "asyncio.run(main())\n"
     "END\n/usr/bin/python3 a.py"),
    ("sqlite3 with a journal and WAL", ["/usr/bin/python3"],
     "cat > s.py <<'END'\n"
     "import sqlite3\n"
     "for mode in ('delete', 'wal', 'memory'):\n"
     "    d = sqlite3.connect(mode + '.db'); print(d.execute(f'pragma journal_mode={mode}').fetchall())\n"
     "    d.execute('create table t (a, b)')\n"
     "    with d: d.executemany('insert into t values (?, ?)', [(i, str(i)) for i in range(1000)])\n"
     "    print(d.execute('select count(*), sum(a) from t').fetchall()); d.close()\n"
     "END\n/usr/bin/python3 s.py"),
    ("http.server and urllib on loopback", ["/usr/bin/python3"],
     "cat > h.py <<'END'\n"
     "import http.server, threading, urllib.request\n"
     "s = http.server.ThreadingHTTPServer(('127.0.0.1', 0), http.server.SimpleHTTPRequestHandler)\n"
     "threading.Thread(target=s.serve_forever, daemon=True).start()\n"
     "open('f', 'w').write('served')\n"
     "print(urllib.request.urlopen(f'http://127.0.0.1:{s.server_port}/f').read())\n"
     "s.shutdown()\n"
     "END\n/usr/bin/python3 h.py 2>/dev/null"),
    ("curl against a server in the cell", ["/usr/bin/curl", "/usr/bin/python3"],
     "echo content > f; /usr/bin/python3 -m http.server 8731 --bind 127.0.0.1 "
     ">/dev/null 2>&1 & p=$!; curl -s --retry 20 --retry-connrefused "
     "--retry-delay 1 --retry-all-errors http://127.0.0.1:8731/f; r=$?; kill $p; exit $r"),
    ("git, local", ["/usr/bin/git"],
     "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a "
     "GIT_COMMITTER_EMAIL=a@b GIT_AUTHOR_DATE='2020-01-01T00:00:00Z' "
     "GIT_COMMITTER_DATE='2020-01-01T00:00:00Z' GIT_CONFIG_NOSYSTEM=1; "
     "git init -q -b main r && cd r && echo 1 > f && git add f && "
     "git commit -q -m one && git checkout -q -b b && echo 2 > f && "
     "git commit -q -a -m two && git checkout -q main && git merge -q b && "
     "git log --format='%H %s' && cd .. && git clone -q \"file://$PWD/r\" c && "
     "git -C c log --oneline && git -C c gc -q && git -C c fsck && "
     "git -C c status --short"),
    ("gcc and make", ["/usr/bin/gcc", "/usr/bin/make"],
     "printf '#include <stdio.h>\\nint f(int);\\nint main(void) { printf(\"%%d\\\\n\", f(6)); return 7; }\\n' > m.c; "
     "printf 'int f(int x) { return x * 7; }\\n' > f.c; "
     "printf 'p: m.o f.o\\n\\t$(CC) -o p m.o f.o\\n' > Makefile; "
     "make -s -j4 CFLAGS=-O2 && ./p"),
    ("g++ with threads", ["/usr/bin/g++"],
     "printf '#include <thread>\\n#include <vector>\\n#include <atomic>\\n#include <iostream>\\n"
     "int main() { std::atomic<int> n{0}; std::vector<std::thread> t; "
     "for (int i = 0; i < 8; i++) t.emplace_back([&] { n += i; }); "
     "for (auto &x : t) x.join(); std::cout << n << std::endl; }\\n' "
     "| sed 's/n += i/n += 1/' > t.cc; g++ -O1 -pthread t.cc -o t && ./t"),
    ("node with a worker thread, a timer and a file", ["/usr/bin/node"],
     "cat > n.js <<'END'\n"
     "const { Worker, isMainThread, parentPort } = require('worker_threads');\n"
     "const fs = require('fs'), cp = require('child_process');\n"
     "if (!isMainThread) { parentPort.postMessage([...Array(5).keys()].map(x => x * x)); }\n"
     "else {\n"
     "  new Worker(__filename).on('message', m => { console.log(m);\n"
     "    fs.writeFileSync('f', 'written'); console.log(fs.readFileSync('f', 'utf8'));\n"
     "    console.log(cp.execSync('echo child').toString());\n"
     "    setTimeout(() => console.log('later'), 10); });\n"
     "}\nEND\nnode n.js"),
    ("npm installs a local tarball", ["/usr/bin/npm", "/usr/bin/node"],
     "mkdir p && printf '{\"name\":\"hello\",\"version\":\"1.0.0\",\"main\":\"i.js\"}' > p/package.json && "
     "printf 'module.exports = () => \"hello from npm\"\\n' > p/i.js && "
     "(cd p && npm pack --silent >/dev/null) && mkdir app && cd app && "
     "printf '{\"name\":\"app\",\"version\":\"1.0.0\"}' > package.json && "
     "npm install --silent --offline --no-audit --no-fund ../p/hello-1.0.0.tgz >/dev/null 2>&1 && "
     "node -e 'console.log(require(\"hello\")())'"),
    ("tar, gzip, xz and bzip2", ["/usr/bin/tar", "/usr/bin/xz", "/usr/bin/bzip2"],
     "mkdir d && for i in 1 2 3; do seq $i 1000 > d/$i; done && ln -s 1 d/l && "
     "for z in z J j; do tar -c${z}f a.tar d && mkdir o$z && tar -x${z}f a.tar -C o$z && "
     "diff -r d o$z/d && readlink o$z/d/l; done; tar tf a.tar | sort"),
    ("sed, awk, grep, sort, find and xargs", ["/usr/bin/awk"],
     "seq 1 200 | awk '{ s += $1 } END { print s }'; seq 1 20 | grep -E '1|2$' | "
     "sort -rn | sed 's/^/x/' | head -5; mkdir -p a/b && touch a/1 a/b/2 && "
     "find a -type f | sort | xargs -n1 basename; printf 'b a\\nc d\\n' | sort | cut -d' ' -f2"),
    ("bash with pipes, job control off, traps and arrays", ["/bin/bash"],
     "bash -c 'a=(1 2 3); for i in \"${a[@]}\"; do echo $((i*i)); done | paste -sd+ | tee >(cat >&1) >/dev/null; "
     "trap \"echo bye\" EXIT; (sleep 0.1; exit 3) & wait $!; echo $?; cat <<< here; cat <(echo there)'"),
    ("redis-server in the cell", ["/usr/bin/redis-server", "/usr/bin/redis-cli"],
     "redis-server --port 7391 --bind 127.0.0.1 --save '' --daemonize no "
     ">/dev/null 2>&1 & p=$!; for i in $(seq 100); do redis-cli -p 7391 ping "
     "2>/dev/null | grep -q PONG && break; sleep 0.1; done; "
     "redis-cli -p 7391 set k v; redis-cli -p 7391 get k; "
     "redis-cli -p 7391 shutdown nosave; wait $p; echo ended $?"),
    ("java compiles and runs", ["/usr/bin/java", "/usr/bin/javac"],
     "printf 'import java.util.*; import java.util.stream.*; public class A { public static void main(String[] a) throws Exception { "
     "Thread t = new Thread(() -> System.out.println(IntStream.range(0, 100).parallel().sum())); t.start(); t.join(); "
     "System.out.println(Files()); } static String Files() throws Exception { "
     "java.nio.file.Files.writeString(java.nio.file.Path.of(\"f\"), \"ok\"); return java.nio.file.Files.readString(java.nio.file.Path.of(\"f\")); } }' > A.java; "
     "javac A.java && java -Xmx128m A"),
    ("perl, jq and openssl", ["/usr/bin/perl", "/usr/bin/jq", "/usr/bin/openssl"],
     "perl -e 'print join(\",\", map { $_ ** 2 } 1..5), \"\\n\"'; "
     "echo '{\"a\": [1, 2, {\"b\": 3}]}' | jq -c '.a[2].b, (.a | length)'; "
     "printf abc | openssl dgst -sha256 -r; openssl rand -hex 4 | wc -c"),
    ("lscpu, nproc, id, df and ps", ["/usr/bin/lscpu", "/usr/bin/ps"],
     "lscpu >/dev/null && echo lscpu; [ $(nproc) -ge 1 ] && echo nproc; "
     "id >/dev/null && echo id; df /tmp >/dev/null && echo df; "
     "ps >/dev/null && echo ps; date +%Y >/dev/null && echo date; hostname >/dev/null && echo host"),
    ("threads, mmap, signals and fork in Python", ["/usr/bin/python3"],
     "cat > t.py <<'END'\n"
     "import threading, mmap, signal, os, tempfile, time, fcntl, select, socket\n"
     "l = []; ts = [threading.Thread(target=l.append, args=(i,)) for i in range(20)]\n"
     "[t.start() for t in ts]; [t.join() for t in ts]; print(sorted(l))\n"
     "m = mmap.mmap(-1, 8192); m[:5] = b'hello'; pid = os.fork()\n"
     "if pid == 0: m[:5] = b'child'; os._exit(3)\n"
     "print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), m[:5])\n"
     "signal.signal(signal.SIGALRM, lambda *a: print('alarm')); signal.setitimer(signal.ITIMER_REAL, 0.05); time.sleep(0.2)\n"
     "f = tempfile.NamedTemporaryFile(); fcntl.flock(f, fcntl.LOCK_EX); print(os.stat(f.name).st_size)\n"
     "a, b = socket.socketpair(); a.send(b'x'); print(select.select([b], [], [], 1)[0] == [b])\n"
     "e = select.epoll(); e.register(b, select.EPOLLIN); print(e.poll(1)[0][1])\n"
     "END\n/usr/bin/python3 t.py"),
]


def on_the_host(box, script):
    work = box.user.work()
    done = subprocess.run(
        [*box.user.prefix, "/bin/sh", "-c", script], cwd=work,
        stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=300,
        env={"PATH": PATH, "HOME": str(work), "LANG": "C.UTF-8", "TMPDIR": str(work)})
    return done.stdout, done.returncode, done.stderr[-2000:]


def in_the_cell(box, script, *options):
    done = box.cli("exec", "--tier", box.tier, *ROOM, "--wall", karzer.seconds(120),
                   "--cpu-time", karzer.seconds(120), *options, "--", "/bin/sh",
                   "-c", script, timeout=180)
    return done.stdout, done.returncode, done.stderr[-2000:]


@pytest.mark.users("user")
@pytest.mark.parametrize("name, needs, script", ROWS, ids=[r[0] for r in ROWS])
def test_runs_as_on_the_host(box, name, needs, script):
    for program in needs:
        if not os.access(program, os.X_OK):
            pytest.skip(f"{program} is not installed")
    want = on_the_host(box, script)
    assert want[1] in (0, 7) and want[0], want
    got = in_the_cell(box, script)
    assert got[:2] == want[:2], got


GO = """package main
import ("fmt"; "os"; "sync")
func main() {
    var w sync.WaitGroup
    c := make(chan int, 100)
    for i := 0; i < 100; i++ { w.Add(1); go func(i int) { defer w.Done(); c <- i }(i) }
    w.Wait(); close(c)
    s := 0
    for i := range c { s += i }
    os.WriteFile("f", []byte("ok"), 0644)
    b, _ := os.ReadFile("f")
    fmt.Println(s, string(b))
}
"""


@pytest.fixture(scope="session")
def go_binary(tmp_path_factory):
    """Built on the host, once, since Go's own tree is not below /usr/bin."""
    go = "/usr/local/go/bin/go" if os.access("/usr/local/go/bin/go", os.X_OK) \
        else "/usr/bin/go"
    if not os.access(go, os.X_OK):
        pytest.skip("go is not installed")
    work = tmp_path_factory.mktemp("go")
    (work / "m.go").write_text(GO)
    env = {"PATH": PATH, "HOME": str(work), "GOCACHE": str(work / "cache"),
           "CGO_ENABLED": "0"}
    subprocess.run([go, "build", "-o", "m", "m.go"], cwd=work, env=env,
                   check=True, timeout=300)
    return work / "m"


@pytest.mark.users("user")
def test_a_static_binary_of_go_runs(box, go_binary):
    m = box.dir / "m"
    shutil.copy(go_binary, m)
    box.user.own(m)
    got = in_the_cell(box, "cd /tmp && ./m", "--in", f"{m}:/tmp/m")
    assert got[:2] == (b"4950 ok\n", 0), got


def test_the_suite_of_cpython_passes_where_it_does_on_the_host(any_box):
    """A few modules; `make conformance` is for all."""
    if not os.path.isdir("/usr/lib/python3.11/test/support"):
        karzer.lack("testsuite", "libpython3.11-testsuite is not installed")
    script = karzer.REPO / "tests/compat/conformance.py"
    names = ("test_bool test_dict test_fcntl test_fork1 test_glob test_mmap "
             "test_pathlib test_pipes test_select test_shutil test_signal "
             "test_struct test_tempfile test_threading_local test_wait4").split()
    done = subprocess.run(
        ["/usr/bin/python3", script, "--karzer", any_box.karzer, *names],
        env={**any_box.user.env, "PATH": PATH}, capture_output=True, text=True,
        check=False, timeout=900)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-1000:]
    assert done.stdout.count(" passed ") >= 20, done.stdout
