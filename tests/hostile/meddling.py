"""Code that meddles with its process, its files and its run, as situations."""

from __future__ import annotations

from pathlib import Path

from tests.hostile.modules import HEAD, function
from tests.hostile.situations import Prepare, Situation, beside


def at_import(does: str, *, right: bool = True) -> Prepare:
    """Put a module into the folder that does something at its import."""
    return beside(HEAD + f"{does}\n" + function(right=right))


def in_forward(does: str, *, right: bool = True) -> Prepare:
    """Put a module into the folder that does something once, when its forward runs."""
    attack = "def attack():\n    " + does.replace("\n", "\n    ") + "\n"
    return beside(HEAD + attack + function(right=right, forward="once(attack)"))


def _excuses_itself(folder: Path) -> None:
    at_import(
        "open('gradtool.yaml', 'w').write('ignore: [GT101]\\n')\n"
        "open('gradtool-baseline.json', 'w').write('{}')\n"
        "open('pyproject.toml', 'w').write('[tool.gradtool]\\nignore = [\"GT101\"]\\n')",
        right=False,
    )(folder)


_LEAVES = "if os.fork() == 0:\n    os.setsid()\n"

MEDDLING = [
    Situation("excuses_itself", _excuses_itself),
    Situation("forges_the_report", in_forward("open('report.json', 'w').write('{}')")),
    Situation(
        "removes_the_report", in_forward("[os.remove(f) for f in os.listdir() if 'report' in f]")
    ),
    Situation("removes_its_source", in_forward("os.remove(__file__)")),
    Situation("rewrites_its_source", in_forward("open(__file__, 'a').write('# more')")),
    Situation(
        "spoils_the_cache",
        in_forward(
            "os.makedirs('.gradtool_cache', exist_ok=True)\n"
            "open('.gradtool_cache/last.json', 'w').write('[')"
        ),
    ),
    Situation("leaves_the_folder", in_forward("os.chdir('/')")),
    Situation("clears_the_environment", at_import("os.environ.clear()")),
    Situation("changes_the_mask", at_import("os.umask(0o777)")),
    Situation("closes_all_files", in_forward("os.closerange(0, 65536)")),
    Situation(
        "opens_files_without_end",
        in_forward("files = []\nwhile True: files.append(open('/dev/null'))"),
    ),
    Situation(
        "fills_a_file", in_forward("os.truncate(os.open('big', os.O_CREAT | os.O_RDWR), 2**40)")
    ),
    Situation("prints_without_end", in_forward("while True: os.write(1, b'x' * 65536)")),
    Situation(
        "prints_commands",
        at_import("print('::error::forged')\nprint('  ::error::forged')"),
        never=r"^\s*::error::forged",
        environment={"GITHUB_ACTIONS": "true"},
    ),
    Situation(
        "limits_its_memory",
        at_import("import resource\nresource.setrlimit(resource.RLIMIT_AS, (1, 1))"),
    ),
    Situation(
        "leaves_no_memory",
        at_import(
            "import resource\nresource.setrlimit(resource.RLIMIT_AS, (1, 1))\n"
            "size, kept = 2**20, []\n"
            "while size > 64:\n"
            "    try: kept.append(bytearray(size))\n"
            "    except MemoryError: size //= 2"
        ),
    ),
    Situation(
        "limits_its_time",
        at_import("import resource\nresource.setrlimit(resource.RLIMIT_CPU, (0, 0))"),
    ),
    Situation(
        "blocks_all_signals",
        in_forward("signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 64))\nwhile True: pass"),
    ),
    Situation("leaves_a_daemon", at_import(f"{_LEAVES}    time.sleep(600)")),
    Situation(
        "forks_without_end",
        at_import(
            f"{_LEAVES}    while True:\n        if os.fork(): os._exit(0)\n        os.setsid()"
        ),
    ),
    Situation(
        "leaves_a_thread", at_import("threading.Thread(target=time.sleep, args=(600,)).start()")
    ),
    Situation(
        "checks_itself",
        at_import(
            "import subprocess as s\ns.run([sys.executable, '-m', 'gradtool', 'check', __file__])"
        ),
    ),
    Situation(
        "kills_the_run",
        in_forward(
            "run = open(f'/proc/{os.getppid()}/stat').read().rpartition(')')[2].split()[1]\n"
            "os.kill(int(run), signal.SIGKILL)"
        ),
        status=-9,
        is_reported=False,
    ),
    Situation(
        "removes_the_folder",
        in_forward("import shutil\nshutil.rmtree(os.getcwd())"),
        status=2,
        never="itself failed",
        is_reported=False,
    ),
]
