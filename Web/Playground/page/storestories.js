// Stories for the workers: an input, and what goes wrong meanwhile. Each call is `[milliseconds, name, arguments…]`.

const storeKeys = ["letter", "list", "plan"];

/** What is typed in most stories: the two machines without a store get the edits in turn. */
const storeTyping = [
    [200, "letter"], [450, "letter"], [700, "letter"], [800, "list"], [1000, "letter"], [1200, "list"], [1400, "list"],
    [2700, "plan"], [3000, "plan"], [5200, "letter"], [5500, "letter"],
].map(([at, key]) => [at, "submit", key]);

/** Stands for the worker that has the run of a key at that instant. */
function workerOf(key) {
    return { workerOf: key };
}

const storeStories = [{
    name: "a worker is killed",
    says: "The worker that saves the letter is killed. Its lease runs out, the other one takes over, and nothing is lost. Without a store what "
        + "the machine had in memory is gone.",
    calls: [...storeTyping, [2800, "kill", workerOf("letter")]],
    until: 10_500,
}, {
    name: "a machine sleeps past its lease",
    says: "A machine falls asleep with the letter in hand. Another worker takes over when the lease has run out. The sleeper wakes, and its save, "
        + "which does not ask whether it is cancelled, goes on: the server refuses it, since its fence is old. Without a store it replaces what "
        + "is newer.",
    calls: [...storeTyping, [2800, "sleep", workerOf("letter"), 6500]],
    settings: { ignores: true },
    until: 12_500,
}, {
    name: "the store cannot be reached",
    says: "A worker saves the letter, and cannot tell the store. So another one saves it once more: a run is executed at least once. The run’s "
        + "id lets a server recognise it, and its fence keeps the order.",
    calls: [...storeTyping, [2800, "cutOff", workerOf("letter"), 6500]],
    until: 12_000,
}, {
    name: "a new version is deployed",
    says: "One worker after the other is stopped by SIGTERM and started again. Each ends what it has in hand; what waits is the other’s.",
    calls: [...storeTyping, [1600, "stop", 0], [4000, "start", 0], [4800, "stop", 1], [7500, "start", 1]],
    until: 11_000,
}, {
    name: "a pause",
    says: "The server is being repaired, and everything is paused for five seconds. What is submitted is kept, and falls due, and is taken when "
        + "work is resumed. Without a store nobody hears of the pause.",
    calls: [...storeTyping, [1500, "pause"], [6500, "resume"]],
    until: 11_500,
}, {
    name: "the handler fails",
    says: "Three saves fail. With a store each is tried again, later from time to time, as the same run. Without one a save that fails is gone.",
    calls: [...storeTyping, [2300, "fail", 3]],
    until: 12_500,
}, {
    name: "it fails until it is dead",
    says: "The letter fails four times, and is dead: kept with its bytes, and in nobody’s way. Retry it, when the reason is mended.",
    calls: [[200, "submit", "letter"], [600, "submit", "letter"], [800, "fail", 4], [10_900, "fail", 0], [11_000, "submit", "list"]],
    until: 14_000,
}, {
    name: "a limit of one start in 2 s",
    says: "The server allows one save in two seconds, from all workers together. What is ready waits, and newer edits join it. Without "
        + "a store none is set here: in memory, each machine would have one of its own.",
    calls: storeTyping,
    settings: { limit: 2000 },
    until: 12_500,
}, {
    name: "what is newer restarts a slow handler",
    says: "Saves take three seconds, and what falls due meanwhile makes them begin again: the values go back to the store, and start with the "
        + "newer ones.",
    calls: [...storeTyping.slice(0, 7), [2300, "submit", "letter"], [2500, "submit", "letter"], [5000, "submit", "letter"]],
    settings: { whileRunning: "restart", takes: 3000 },
    until: 12_500,
}, {
    name: "nothing goes wrong",
    says: "Each document is saved a second after its last edit, by any free worker. Without a store, two machines save what one would not.",
    calls: storeTyping,
    until: 10_500,
}, {
    name: "your own",
    says: "Edit the letter, the list and the plan, and do something to the workers meanwhile. Time goes on as long as something is to come.",
    calls: [],
    until: 0,
}];
