// Runs the conformance cases in the page, with its own coalescer and module and with handlers that take no time.
//
// Returns the differences: [case, expected, found].
const different = [];
for (const scenario of arguments[0]) {
    const clock = new playground.Clock();
    clock.hold();
    const start = clock.now;
    const found = [];
    const { kind, wait, interval, maxWait, edges, delayRule, maxCount, spacing } = scenario.policy;
    const policy = {
        kind, wait: wait ?? interval, maxWait, leading: edges.includes("leading"), trailing: edges.includes("trailing"),
        delayRule, maxCount, spacing, combine: "latest", whileRunning: "queue",
    };
    const coalescer = new playground.Coalescer(policy, clock, ({ at, key, value, count, edge, first, behind }) => {
        found.push({ at: at - start, key, value, count, edge, first: first - start });
        if (behind.length !== count) different.push([scenario.id, `${count} submits behind it`, behind.length]);
        if (behind[0]?.at !== first) different.push([scenario.id, `the first at ${first}`, behind[0]?.at]);
    });
    for (const { at, op, key, value, wait } of scenario.ops) {
        clock.advance(start + at - clock.now);
        if (op === "submit") coalescer.submit(value, { key, wait });
        if (op === "flush") coalescer.flush(key);
        if (op === "cancel") coalescer.cancel(key);
        const { addUp, submitted, ...others } = coalescer.counters;
        if (!addUp) different.push([scenario.id, `${submitted} submits`, others]);
    }
    while (coalescer.counters.pending > 0) clock.advance(1000);
    coalescer.dispose();
    const [wanted, got] = [scenario.expected, found].map((executions) =>
        executions.map((one) => [one.at, one.key, one.value, one.count, one.edge, one.first]));
    if (JSON.stringify(wanted) !== JSON.stringify(got)) different.push([scenario.id, wanted, got]);
}
return different;
