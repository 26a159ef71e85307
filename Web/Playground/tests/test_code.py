"""Tests of the code that the page shows: the Swift compiles, and the command lines run and do what the page does."""

import glob
import json
import os
import shutil
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor

from harness import ROOT, SCRATCH, PageTest

# Policies beyond the presets, so that every option is written at least once in each kind.
MORE = [
    "debounce,0ms", "debounce,1500ms", "debounce,250us,edges=leading+trailing",
    "debounce,300ms,max-wait=2s,edges=leading", "debounce,300ms,delay-rule=extend,max-count=3,combine=first",
    "debounce,300ms,combine=merge,while-running=skip,at-end=flush", "debounce,300ms,spacing=2s",
    "debounce,300ms,max-wait=1s,edges=leading+trailing,max-count=4,spacing=1500ms,combine=collect",
    "debounce,1ns,max-wait=1500ns,combine=collect,while-running=concurrent,jobs=2,max-keys=10,at-end=drop",
    "throttle,100ms,edges=leading", "throttle,1s,edges=trailing,max-count=5,combine=collect,while-running=concurrent",
    "throttle,500ms,combine=merge,jobs=1,max-keys=3,at-end=flush", "throttle,1500us,combine=first,while-running=cancel",
]


class CodeTest(PageTest):
    def policies(self, expression):
        """Returns what the page makes of every preset and every policy above, with and without keys."""
        return self.browser.run(f"""
            const {{ presets, policyFromLink, swiftCode, commandLine, policyToLink }} = playground;
            const policies = [...presets.map(([, , policy]) => policy), ...arguments[0].map(policyFromLink)];
            const others = [{{}}, {{ hasKeys: true, delay: 1500 }}];
            return policies.flatMap((policy) => others.map((other) => {expression}));
        """, MORE)

    def test_the_swift_compiles(self):
        sources = os.path.join(SCRATCH, "playground/snippets")
        shutil.rmtree(sources, ignore_errors=True)
        os.makedirs(sources)
        shutil.copy(os.path.join(ROOT, "Web/Playground/tests/Prelude.swift"), sources)
        shown = self.policies("swiftCode(policy, other)")
        shown += [self.browser.run("return document.getElementById('swift').textContent")]
        scenes = self.browser.run("""
            return [...document.querySelectorAll("[data-swift]")].map((snippet) => snippet.textContent);
        """)
        # Those of the scenes, and the two of “Break it” that need no other package.
        self.assertEqual(len(scenes), 9)
        for number, code in enumerate(shown + scenes):
            imports = [line for line in code.splitlines() if line.startswith("import ")]
            body = [line for line in code.splitlines() if not line.startswith("import ")]
            # The sleeping task is what people write without Lull.
            self.assertTrue(imports or "Task.sleep" in code, code)
            with open(os.path.join(sources, f"Snippet{number}.swift"), "w", encoding="utf-8") as file:
                # In a function, since each of them declares its own `work`.
                file.write("\n".join([*imports, f"@MainActor func snippet{number}() {{", *body, "}", ""]))
        # With the modules that are built with the command.
        modules = [os.path.join(os.path.dirname(os.environ["LULL"]), "Modules"), os.path.join(ROOT, "Sources/CLullSystem/include")]
        build = subprocess.run(
            ["swiftc", "-swift-version", "6", "-wmo", "-parse-as-library", "-module-name", "Snippets", "-c", *[f"-I{folder}" for folder in modules],
             *sorted(glob.glob(os.path.join(sources, "*.swift"))), "-o", os.path.join(sources, "Snippets.o")],
            capture_output=True, text=True, check=False)
        self.assertEqual(build.returncode, 0, build.stdout + build.stderr)

    def test_the_command_lines_run(self):
        lines = sorted(set(self.policies("commandLine(policy, other)")))
        # They wait, rather than compute.
        with ThreadPoolExecutor(16) as pool:
            results = list(pool.map(lambda line: self.lull(line, "A 1\nB 2\nA 3\n"), lines))
        for line, result in zip(lines, results):
            self.assertEqual((result.returncode, result.stderr), (0, ""), line)
            if "--at-end drop" not in line:
                self.assertTrue(result.stdout.strip(), line)

    def test_the_stage_saved_as_a_trace_gives_the_same_executions_under_lull_simulate(self):
        trace, shown, found = self.browser.run("""
            const { stage, inputs, presets, policyFromLink, commandLine, swiftCode } = playground;
            const found = [];
            const commands = [];
            let trace = "";
            for (const link of arguments[0].concat(presets.map(([, , policy]) => playground.policyToLink(policy)))) {
                const policy = policyFromLink(link);
                // What depends on how long work takes is none of the simulator's business.
                const plain = { maxConcurrent: null, capacity: null, whileRunning: "queue", atEnd: "when-due" };
                Object.assign(policy, plain);
                stage.clock.hold();
                stage.policies = [policy];
                stage.startOver();
                inputs.gaps.slice(0, 150).forEach((gap, index) => {
                    stage.clock.advance(gap);
                    const key = "AB"[index % 2];
                    if (index % 7 === 6) stage.touch({ key }); else stage.submit(index, { key });
                });
                stage.clock.advance(200_000);
                stage.flush();
                found.push(stage.lanes[0].executions.map(({ at, key, count, edge }) =>
                    [Math.round((at - stage.origin) * 1e6), key, count, edge]));
                commands.push(commandLine(policy));
                trace = stage.trace;
            }
            return [trace, commands, found];
        """, MORE)
        with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
            file.write(trace)
            file.flush()
            for line, executions in zip(shown, found):
                words = line.split(" -- ")[0].replace("filter", "simulate").replace("lull run", "lull simulate")
                result = self.lull(f"{words} --format jsonl {file.name}")
                self.assertEqual(result.returncode, 0, result.stderr)
                simulated = [json.loads(entry, parse_float=str, parse_int=str) for entry in result.stdout.splitlines()]
                came = [[nanoseconds(one["at"]), one["key"], int(one["count"]), one["edge"]] for one in simulated]
                self.assertEqual(came, executions, line)
                self.assertGreater(len(executions), 1, line)

    def test_each_wait_has_the_results_of_lull_tune(self):
        path = os.path.join(ROOT, "Tests/data/typing-article.jsonl")
        for series, targets, options in (
            ((50, 5000, None), {}, []),
            ((100, 2000, 10_000), {"saving": 0.8},
             ["--waits", "100ms..2s", "--max-wait", "10s", "--target-saving", "80%"]),
            ((50, 5000, None), {"delay": 300}, ["--target-delay", "300ms"]),
        ):
            with open(path, encoding="utf-8") as file:
                found = self.browser.run("""
                    const [text, [first, last, maxWait], targets] = arguments;
                    const tuner = new playground.Tuner();
                    tuner.take(text);
                    return tuner.tune({ first, last, maxWait }, targets);
                """, file.read(), series, targets)
            result = self.lull(" ".join(["lull tune --format json", *options, path]))
            self.assertEqual(result.returncode, 0, result.stderr)
            expected = json.loads(result.stdout)
            self.assertEqual([found["submits"], found["keys"]], [expected["submits"], expected["keys"]])
            for kind in ("debounce", "throttle"):
                wanted = [
                    [milliseconds(row["wait"]), row["executions"], row["premature"],
                     *(milliseconds(row[name][p])
                       for name in ("delayFromLast", "delayFromFirst") for p in ("p50", "p90", "p99")),
                     milliseconds(row["longest"]), row["efficient"], round(row["saved"], 12)]
                    for row in expected[kind]["waits"]]
                got = [
                    [row["wait"], row["executions"], row["premature"], *row["afterLast"], *row["afterFirst"],
                     row["longest"], row["isEfficient"], round(row["saved"], 12)] for row in found[kind]]
                self.assertEqual(got, wanted)
                [chosen] = [row for row in found[kind] if row["reason"]]
                suggested = expected[kind]["suggested"]
                self.assertEqual(
                    [chosen["wait"], chosen["reason"]], [milliseconds(suggested["wait"]), suggested["because"]])

    def lull(self, line, text=""):
        words = line.split(" ")
        self.assertEqual(words[0], "lull")
        return subprocess.run(
            [os.environ["LULL"], *words[1:]], input=text, capture_output=True, text=True, timeout=60, check=False)


def milliseconds(seconds):
    return round(seconds * 1000, 6)


def nanoseconds(text):
    """Returns decimal seconds as whole nanoseconds, exactly."""
    whole, _, fraction = text.partition(".")
    return int(whole + fraction.ljust(9, "0"))
