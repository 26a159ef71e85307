"""The states that tests and pictures show."""

import random
import time

from fake import Dead, Key, Namespace, Run

CUSTOMERS = ["customer/4711", "customer/4712", "customer/88", "customer/1024", "customer/2048", "customer/31", "customer/77",
             "warehouse/berlin", "warehouse/kyoto", "search-index", "price-list", "draft/7f3a", "draft/91bc", "device/lamp-3"]
ERRORS = [
    "exit status 1\ncurl: (28) Connection timed out after 30001 milliseconds",
    "HTTP 503 from https://billing.internal/v2/charge\n{\"error\":\"upstream overloaded\",\"retry\":false}",
    "the command was ended by signal 9 (KILL)",
    "invalid value: member \"total\" is missing",
]


def rates(namespace, seed=7, factor=30):
    """Fills the last quarter of an hour."""
    chance = random.Random(seed)
    now = time.time()
    level = 1.0
    for step in range(90):
        level = max(0.2, min(3, level * chance.uniform(0.75, 1.33)))
        runs = int(level * chance.uniform(0, 3.5))
        executed = sum(chance.randint(1, 2 * factor) for _ in range(runs))
        namespace.rates.append({"at": now - 900 + 10 * step, "executed": executed, "runs": runs,
                                "failures": 1 if chance.random() < 0.06 else 0})


def history(namespace, name, seed=3):
    """Gives a key earlier runs."""
    chance = random.Random(seed)
    for index in range(14):
        how = "completed"
        error = None
        if index in (4, 9):
            how, error = "failed", ERRORS[0]
        elif index == 7:
            how = "cancelled"
        elif index == 11:
            how = "absorbed"
        elif index == 2:
            how, error = "dead", ERRORS[1]
        run = None if how in ("cancelled", "absorbed") else 40 + index
        namespace.end(name, how, chance.choice([1, 2, 4, 7, 9, 23, 31]), run, error, age=5000 / (index + 1) ** 1.7)


def orders():
    """Returns a namespace in which everything occurs."""
    made = Namespace("--wait 20s --max-wait 60s --limit 40/1m")
    made.workers = {1: ("ada", 4099), 2: ("grace", 17), 3: ("grace", 18)}
    made.keys = {
        b"customer/4711": Key(run=Run(61, 12, worker=1, lease=24.5, age=6.3)),
        b"search-index": Key(pending=3, due=9, age=11, run=Run(62, 41, worker=2, lease=11, attempt=3, age=14)),
        b"warehouse/berlin": Key(ready=5, ready_age=4.2),
        b"customer/88": Key(pending=1, due=2.5, age=17.5),
        b"customer/1024": Key(pending=7, due=6.2, age=31),
        b"price-list": Key(run=Run(57, 19, attempt=4, retry=14, error=ERRORS[1])),
        b"draft/7f3a": Key(pending=23, due=11.8, age=48),
        b"warehouse/kyoto": Key(pending=2, due=17, age=8),
        b"device/lamp-3": Key(pending=118, due=19.6, age=40.4),
        b"report/weekly": Key(pending=1, due=5400, age=1800),
    }
    made.oldest = time.time() - 4.2
    made.counters = {"attempts": 1204, "lostLeases": 2, "restarted": 0, "runs": 1170, "executed": 44_310, "failures": 38}
    made.today.update(runs=61, executed=2314)
    now = 400
    for index in range(6):
        made.dead.append(Dead(20 + index, CUSTOMERS[index].encode(), ERRORS[index % 4], age=now, submits=1 + 3 * index,
                              values=[b'{"order":4711,"total":1999}' for _ in range(1 + 3 * index)]))
        now *= 3.1
    for seed, name in enumerate(made.keys):
        history(made, name, seed)
    rates(made)
    return made


def mail():
    made = Namespace("--wait 5m --collect")
    made.workers = {4: ("mill", 812)}
    made.keys = {f"digest/{index:03}".encode(): Key(pending=1 + index % 9, due=3 + index * 2.6) for index in range(140)}
    made.today.update(runs=212, executed=1893)
    rates(made, 11, 8)
    return made


def everything(fake):
    """A store with several namespaces, and work of every kind."""
    fake.namespaces = {"orders": orders(), "reminders": mail(), "thumbnails": Namespace("--interval 30s --leading")}
    fake.changed()


def one(fake):
    fake.namespaces = {"orders": orders()}
    fake.changed()


def empty(fake):
    """A namespace without work."""
    made = Namespace("--wait 2s")
    made.today["runs"] = made.today["executed"] = 0
    fake.namespaces = {"orders": made}
    fake.changed()


def none(fake):
    fake.namespaces = {}
    fake.changed()


def paused(fake):
    one(fake)
    made = fake.namespaces["orders"]
    made.paused, made.reason = time.time() - 5400, "the billing API is being moved; ask Grace before resuming"
    for key in made.keys.values():
        if key.run and key.run.worker is not None:
            key.run = None
        if key.pending and not key.ready:
            key.ready, key.pending, key.due, key.ready_at = key.pending, 0, None, time.time() - 5310 + key.pending
    made.keys = {name: key for name, key in made.keys.items() if not key.is_idle}
    made.oldest = time.time() - 5310
    fake.changed()


def limited(fake):
    one(fake)
    made = fake.namespaces["orders"]
    made.limited, made.next_start = 3, 12.4
    for name in (b"customer/88", b"customer/1024"):
        made.keys[name] = Key(ready=made.keys[name].pending, ready_age=2)
    fake.changed()


def away(fake):
    everything(fake)
    fake.away = "the database does not answer: connection to server at \"db.internal\" (10.0.4.7), port 5432 failed: Connection refused"
    fake.changed()


def outage(fake):
    """Thousands of dead runs."""
    one(fake)
    made = fake.namespaces["orders"]
    chance = random.Random(5)
    made.dead = [Dead(1000 + index, f"customer/{chance.randint(1, 9999)}".encode(), ERRORS[chance.choice([0, 0, 0, 1, 1, 2, 3])],
                      age=30 + index * 3.7, submits=chance.randint(1, 30)) for index in range(3120)]
    fake.changed()


def many(fake, count=100_000):
    """A hundred thousand keys."""
    made = Namespace("--wait 10s")
    made.keys = {f"user/{index:06}".encode(): Key(pending=1 + index % 7, due=5 + (index * 7919 % count) * 0.01) for index in range(count)}
    made.today.update(runs=120_400, executed=1_903_112)
    fake.namespaces = {"orders": made}
    fake.changed()


MARKUP = "<img src=x onerror=alert(1)><script>alert(2)</script>&amp;\"'"


def strange(fake):
    """Names, values and errors that a page could stumble over."""
    made = Namespace(f"--wait 2s {MARKUP}")
    made.keys = {
        MARKUP.encode(): Key(pending=3, due=40), b"": Key(pending=1, due=50), b"\xff\xfe\x00caf\xc3\xa9": Key(pending=2, due=60),
        b"a/b c?d=e&f#g%": Key(pending=1, due=70), "\u202egnp.exe\nline two\ttab".encode(): Key(pending=1, due=80),
        ("long" * 300).encode(): Key(pending=1, due=90), "日本語のキー".encode(): Key(pending=4, due=100),
        b"busy": Key(run=Run(5, 2, worker=9, error=MARKUP)), b"again": Key(run=Run(6, 2, attempt=2, retry=99, error=MARKUP)),
    }
    made.workers = {9: (MARKUP, 1)}
    made.dead = [
        Dead(1, MARKUP.encode(), f"{MARKUP}\n{MARKUP}", values=[MARKUP.encode(), bytes(range(256)) * 2, b"", b"x" * 70_000], submits=4),
        Dead(2, b"\xff\xfe\x00caf\xc3\xa9", None), Dead(3, ("long" * 300).encode(), "e" * 5000),
    ]
    for name in list(made.keys):
        made.end(name, "failed", 3, 12, MARKUP, age=9)
    made.paused, made.reason = time.time() - 60, MARKUP
    fake.me["store"] = f"sqlite:{MARKUP}.db"
    fake.namespaces = {"orders": made, f"tag {MARKUP}": Namespace(), "z" * 200: Namespace()}
    fake.changed()
