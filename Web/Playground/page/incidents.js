// What "Break it" says of an incident: who fails, why, and what Lull does otherwise. Each is computed from what happened.

const incidents = {
    early: `type first, and do it before the ${Break.wait} ms have passed.`,

    /** What came of edits without an incident: nothing to say if all three did the same, and well. */
    edits([task, loop, lull]) {
        const parts = [];
        if (task.double > 0) {
            parts.push(`Task.sleep: ${plural(task.double, "save")} began while another ran`
                + (task.stale > 0 ? `, ${task.stale} of an older draft replaced a newer one` : "")
                + ". Cancelling ends the sleep, not a save.");
        }
        const late = Math.round(loop.servedAt - lull.servedAt);
        if (late > 0 && loop.lost === 0) parts.push(`debounce(for:) lost nothing here, but saved ${late} ms later: it waits anew after a save.`);
        if (parts.length > 0 && lull.double + lull.stale + lull.lost === 0) parts.push("Lull ran one save at a time, and lost none.");
        return parts.join(" ");
    },

    two([, , { double, stale }]) {
        return "Each edit goes to one of two machines in turn, and each has a debouncer of its own. None knows of the other"
            + (double > 0 ? `: Lull’s saves are doubled, too${stale > 0 ? ", and an older draft replaced a newer one" : ""}` : "")
            + ". What helps is a store that both share.";
    },

    sleep(machine, other, isIdle) {
        const seconds = Break.sleep / 1000;
        if (machine) {
            return `Machine ${machine} sleeps for ${seconds} s, and edits go to ${other}. When it wakes, it saves what it had: if ${other} has `
                + "saved meanwhile, an old draft replaces a newer one, with Lull, too.";
        }
        if (isIdle) return `The machine sleeps for ${seconds} s, and nothing waits on it: ${incidents.early}`;
        return `The machine sleeps for ${seconds} s. Timers stand still and clocks go on: when it wakes, all three save promptly, and nothing is `
            + "lost. A key wakes it. A save under way reaches the server.";
    },

    /** @param lost How many edits each of the three has lost by it. */
    leave([task, loop], { waited, isSaving }) {
        const saves = isSaving ? " A save that has begun goes on." : "";
        if (!waited.includes(true)) return `Nothing was waiting when the screen was left: ${incidents.early}${saves}`;
        const lost = task === loop ? `${plural(task, "edit")} each` : `${task} and ${plural(loop, "edit")}`;
        return `Task.sleep and debounce(for:) end with the screen, and lost ${lost}. ${waited[2] ? "Lull saves what waits when it ends."
            : "With Lull nothing was waiting any more."}${saves}`;
    },

    kill(lost, { machine, isCut }) {
        const process = machine ? `machine ${machine}’s process` : "the process";
        const [task, loop, lull] = lost;
        if (task + loop + lull === 0) return `kill -9 ended ${process}, and nothing was waiting in it: ${incidents.early}`;
        const count = lost.every((one) => one === lull) ? plural(lull, "edit") : `${task}, ${loop} and ${plural(lull, "edit")}`;
        return [`kill -9 ended ${process}, and what it had in memory went with it: ${count}, with Lull, too. `,
            make("a", { href: "#stores" }, "A store"), ` survives it${isCut ? ", and a save that was cut off is done again" : ""}.`];
    },
};
