import LullCore
import LullEngine

// A bare-metal user of the core: a loop that owns the clock and runs handlers on the spot. It makes the compiler
// specialise the whole engine for the target, which compiling the generic core alone does not.

/// Runs both policies for seven seconds of virtual time over three keys, each of which gets a submit every 21 ms.
///
/// - Returns: 0 if all is as expected, otherwise the number of the expectation that failed.
@c(lull_probe)
public func probe() -> Int32 {
    guard let debounce = try? Setup(.debounce(wait: .milliseconds(20), maxWait: .seconds(1))),
        let throttle = try? Setup(.throttle(interval: .milliseconds(50)), combination: .collect)
    else { return 1 }
    // The quiet period is just over when the next submit of a key comes: nothing is ever coalesced.
    guard executions(debounce) == 1000 else { return 2 }
    // A window of each key every 50 ms from its first submit on, and the end of the last one flushed.
    guard executions(throttle) == 423 else { return 3 }
    return 0
}

/// The number of executions, or -1 if the counters do not add up.
func executions(_ setup: Setup) -> Int {
    var engine = Engine<Int, Int>(setup)
    var started = 0
    for step in 0..<1000 {
        let now = CoreInstant.origin.advanced(by: .milliseconds(Int64(step) * 7))
        started += perform(engine.submit(step, for: step % 3, at: now), &engine)
        started += perform(engine.advance(to: now), &engine)
        guard engine.counters.addUp else { return -1 }
    }
    started += perform(engine.shutDown(flushing: true, at: CoreInstant.origin.advanced(by: .seconds(7))), &engine)
    let counters = engine.counters
    return counters.addUp && counters.executed == 1000 ? started : -1
}

func perform(_ actions: Actions<Int, Int>, _ engine: inout Engine<Int, Int>) -> Int {
    var started = 0
    for case .start(let execution) in actions.more {
        started += 1 + perform(engine.ended(execution.run, .returned).1, &engine)
    }
    return started
}
