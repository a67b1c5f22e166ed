"""What a cell may do to the machine, to the grading, or to itself; each is real Python.

A case is a name, the source of the answer cell of exercise 06.2 in full, and words that have to
stand in what is said about the exercise or in the remarks. `{victim}`, `{lessons}` and `{other}`
are a file outside, the folder of the lessons and another's notebook. RIGHT is a right answer.
"""

RIGHT = """
def clip(module, grad_input, grad_output):
    return tuple(None if g is None else g.clamp(-1, 1) for g in grad_input)
"""
# None of these gets the point, and each keeps that of the other exercise.
FAILS = {
    "an endless loop": ("while True: pass", "ran longer than 4 s"),
    "a loop that swallows all": (
        "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
        "ran longer than 4 s",
    ),
    "os._exit": ("import os\nos._exit(0)", "ended the process"),
    "abort": ("import os\nos.abort()", "SIGABRT"),
    "recursion": ("def f(): return f()\nf()", "RecursionError"),
    "a syntax error": ("def f(:", "SyntaxError"),
    "a memory hog": ("x = [bytes(10**8) for _ in range(10**6)]", "more memory"),
    "a fork bomb that swallows": (
        "import os\nwhile True:\n    try: os.fork()\n    except Exception: pass",
        "ran longer than 4 s",
    ),
    "subprocess": ("import subprocess\nsubprocess.run(['true'])", "start a program"),
    "the fork below subprocess": (
        "import _posixsubprocess as p\np.fork_exec(*range(21))",
        "call _posixsubprocess.fork_exec",
    ),
    "writes outside": ("open('{victim}', 'w').write('x')", "write to {victim}"),
    "writes by an open folder": (
        "import os\nf = os.open('/', os.O_RDONLY)\nos.open('tmp/x', os.O_CREAT, dir_fd=f)",
        "open the folder /",
    ),
    "deletes outside": ("import os\nos.remove('{victim}')", "call os.remove on {victim}"),
    "deletes a tree": (
        "import shutil\nshutil.rmtree('{lessons}/data')",
        "{lessons}/data",
    ),
    "a link out": ("import os\nos.symlink('/', 'root')", "make a link"),
    "reads the solutions": (
        "open('{lessons}/solutions/06_full_backward_hooks.ipynb').read()",
        "read the solutions",
    ),
    "reads the checks": ("open('{lessons}/checks/lesson_06.py')", "read the checks"),
    "reads another's work": ("open('{other}').read()", "read what others have handed in"),
    "reads its process": ("open('/proc/self/mem', 'rb')", "read /proc/"),
    "finds the exercise": (
        "from minigrad.classroom.desk import find\nclip = find('06.2').solved",
        "read the checks",
    ),
    "kills its parent": ("import os\nos.kill(os.getppid(), 9)", "send a signal"),
    "a signal handler": (
        "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)",
        "call signal.signal",
    ),
    "a socket": ("import socket\nsocket.socket()", "use the network"),
    "ctypes": (
        "import ctypes\nctypes.CDLL(None).getpid()",
        "ctypes",
    ),
    "all objects": ("import gc\ngc.get_objects()", "look through all objects"),
    "frames by inspect": ("import inspect\ninspect.stack()", "look into the frames"),
    "frames by a traceback": (
        "try:\n    1 / 0\nexcept Exception as e:\n    e.__traceback__.tb_frame.f_back",
        "look into the frames",
    ),
    "a trace function": ("import sys\nsys.settrace(print)", "trace the program"),
    "passes for a library": (
        "import minigrad\ncompile('1', minigrad.__file__, 'exec')",
        "pass code off",
    ),
    "borrows the code of a library": (
        "import sys\nfrom types import FunctionType\nfrom minigrad.classroom import judge\n"
        "FunctionType(judge.__code__, {'find': sys._getframe, '_judged': print})(1, 0)",
        "pass code off",
    ),
    "puts the code of a library into its own": (
        "import sys\nfrom minigrad.classroom import judge\nfind, _judged = sys._getframe, print\n"
        "def f(exercise, answer): pass\nf.__code__ = judge.__code__\nf(1, 0)",
        "pass code off",
    ),
    "runs the code of a library": (
        "import contextlib\nexec(contextlib.suppress.__init__.__code__, {})",
        "pass code off",
    ),
    "renames its code": (
        "def f(): pass\nf.__code__.replace(co_filename=f.__code__.co_filename[:1] + 'x')\n"
        "import os\nf.__code__.replace(co_filename=os.__file__)",
        "pass code off",
    ),
    "replaces what the guard might use": (
        "import builtins\nkept = dict(vars(builtins))\n"
        "for name in ('any', 'next', 'getattr', 'isinstance', 'type', 'str'):\n"
        "    setattr(builtins, name, lambda *a: True)\n"
        "try: open('{victim}', 'w')\nfinally: vars(builtins).update(kept)",
        "write to {victim}",
    ),
    "looks for the grading among the classes": (
        "found = [c for c in object.__subclasses__() if '_tools' in c.__module__]\n"
        "assert len(found) > 1",
        "AssertionError",
    ),
    "looks for the grading under what it put there": (
        "import os\nplaces = [check.__globals__, check.__builtins__, vars(os.mkfifo)]\n"
        "assert any('guard' in str(key) or '_judged' in str(key) for d in places for key in d)",
        "AssertionError",
    ),
    "reads the solution where checks read it": (
        "from minigrad.classroom import tables\n"
        "exec(tables.Program(tables.solution('06.2').source, 'clip').source)",
        "read the solutions",
    ),
    "raises what is no Exception": ("class No(BaseException): pass\nraise No", "No"),
    "an error without words": (
        "class Odd(Exception):\n    def __str__(self): raise SystemExit\nraise Odd",
        "can't be shown",
    ),
}
# Here the cell comes to its end, and the check meets the answer.
ANSWERS_FAIL = {
    "an answer that never returns": (
        "def clip(*a):\n    while True: pass",
        "",
    ),
    "an answer that ends the process": (
        "def clip(*a):\n    import os\n    os._exit(0)",
        "ended the process",
    ),
    "an answer that looks up the caller": (
        "def clip(*a):\n    import sys\n    return sys._getframe(2).f_locals",
        "look into the frames",
    ),
    "an answer that traces": (
        "def clip(*a):\n    import sys\n    sys.settrace(print)",
        "trace the program",
    ),
    "an answer that ends its watch and traces": (
        "def clip(*a):\n    import os, sys\n    sys.gettrace().called = 'x'\n"
        "    sys.settrace(print)\n    os._exit(0)",
        "Here it has to work without that",
    ),
    "an answer that asks for the solution": (
        "from minigrad.classroom import tables\ndef clip(*a):\n"
        "    return tables.solution('06.2').answer({})(*a)",
        "read the solutions",
    ),
    "an answer that tries in silence": (
        RIGHT + "right = clip\ndef clip(*a):\n    try: open('{victim}', 'w')\n"
        "    except OSError: pass\n    return right(*a)",
        "write to {victim}",
    ),
    "an answer that patches": (
        RIGHT + "wrong = clip\ndef clip(*a):\n    import minigrad\n"
        "    minigrad.allclose = lambda *a, **o: True\n    return wrong(*a)",
        "changed what answers are checked by: minigrad.allclose",
    ),
    "None": ("clip = None", "returns None"),
    "a wrong range": (
        RIGHT.replace("g.clamp(-1, 1)", "g.clamp(0, 1)"),
        "Every negative gradient is zero now",
    ),
}
# What is changed for the whole process costs this exercise and the next one. The first few
# are what a student would think of.
CHANGES = {
    "replaces check": ("check = lambda *a, **o: True", "checked by: check."),
    "patches allclose": ("import numpy\nnumpy.allclose = lambda *a, **o: True", "numpy.allclose"),
    "patches a method": (
        "import minigrad\nminigrad.Tensor.__eq__ = lambda *a: True",
        "Tensor.__eq__",
    ),
    "patches builtins": ("import builtins\nbuiltins.isinstance = lambda *a: True", "builtins.isi"),
    "brings checks of its own": (
        "from minigrad.classroom import Number, register\nregister(*(Number(id=f'06.{n}', asks='',"
        " right='', hints=('', ''), expected=7.0) for n in (1, 2)))",
        "minigrad.classroom.register",
    ),
    "patches how a solution is read": (
        "from minigrad.classroom.exercises import Exercise\nExercise.solved = property(id)",
        "Exercise.solved",
    ),
    "patches the verdict": (
        "from minigrad.classroom.exercises import Verdict\nVerdict.__bool__ = lambda v: True",
        "Verdict.__bool__",
    ),
    "patches code": (
        "from minigrad.classroom import values\nf = lambda *a, **o: True\n"
        "values.same.__code__ = f.__code__",
        "values.same",
    ),
    "patches isinstance and all": (
        "import builtins\nfor name in ('repr', 'len', 'vars', 'sorted', 'any', 'print', 'type'):\n"
        "    setattr(builtins, name, lambda *a, **o: 0)",
        "builtins.",
    ),
    "replaces a module": (
        "import sys, types\nsys.modules['minigrad'] = types.ModuleType('minigrad')",
        "sys.modules['minigrad']",
    ),
    "empties sys.modules": ("import sys\nsys.modules.clear()", "changed"),
    "imports in another way": (
        "import sys\nclass F:\n    def find_spec(self, *a): return None\n"
        "sys.meta_path.insert(0, F())",
        "how modules are imported",
    ),
}
# These are odd, and the answer is right: it gets its point.
PASSES = {
    "a package that opens a socket": "import sys, urllib3.util.connection\n"
    "del sys.modules['urllib3.util.connection']\nimport urllib3.util.connection\n",
    "prints megabytes": "import sys\nfor _ in range(300): print('x' * 100_000)\n"
    "for _ in range(300): print('x' * 100_000, file=sys.stderr)\n",
    "a thread that goes on": "import threading, time\n"
    "threading.Thread(target=lambda: time.sleep(1000)).start()\n",
    "a changed environment": "import os\nos.environ.clear()\nos.environ['HOME'] = '/'\n",
    "its own files": "import os, tempfile, shutil\nos.mkdir('d')\nopen('d/f', 'w').write('x')\n"
    "shutil.rmtree('d')\nwith tempfile.TemporaryDirectory() as t: open(t + '/x', 'w').close()\n",
    "reads input": "try: input('?')\nexcept EOFError: pass\n",
    "magics": "%matplotlib inline\n!ls\n",
    "asks for a hint": "hint('06.2')\ncheck('06.2', 1)\n",
    "a named tuple and a dataclass": "from collections import namedtuple\n"
    "from dataclasses import dataclass\nP = namedtuple('P', 'x y')\n@dataclass(slots=True)\n"
    "class Q: x: int = 0\n",
    "prints a traceback": "import traceback\ntry: 1 / 0\nexcept Exception: traceback.print_exc()\n",
}
# What goes at the channel of the results takes what is not told yet along.
CHANNEL = {
    "closes all files": "import os\nos.closerange(0, 100)\n",
    "writes to every file": "import os\nfor k in range(100):\n"
    "    try: os.write(k, b'x' * 100)\n    except OSError: pass\n",
}
