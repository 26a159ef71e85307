internal import Lull
internal import LullCore

// The functions of the page for simulations of a store. Instants and durations are in nanoseconds; -1 stands for none.
// What has happened in a call is in the answer buffer.

// A WebAssembly module without threads runs one call after the other, so two calls never access this at once.
nonisolated(unsafe) private var simulations: [StoreSimulation?] = []

/// Creates a store with workers.
///
/// - Returns: Its number; -1 if the settings break a rule, which is then in the answer buffer as a text.
@c(lull_store_create)
public func createStore(
    _ throttles: Int32, _ wait: Int64, _ maxWait: Int64, _ edges: Int32, _ extends: Int32, _ maxCount: Int32,
    _ spacing: Int64, _ combination: Int32, _ restarts: Int32, _ maxBatch: Int32, _ starts: Int32, _ period: Int64,
    _ maxRunning: Int32, _ workers: Int32, _ maxConcurrent: Int32, _ lease: Int64, _ firstRetry: Int64,
    _ lastRetry: Int64, _ maxAttempts: Int32, _ latency: Int64, _ takes: Int64
) -> Int32 {
    answers.clear()
    do throws(PolicyError) {
        let rules = try DurableRules(
            policy(throttles, wait, maxWait, edges, extends, maxCount, spacing),
            combination: CombinationRule(number: combination),
            maxBatch: given(maxBatch),
            limit: given(starts).map { RateLimit(starts: $0, period: CoreDuration(nanoseconds: period), burst: 1) },
            maxRunning: given(maxRunning), whileRunning: restarts != 0 ? .restart : .queue)
        simulations.append(
            StoreSimulation(
                StoreSimulation.Settings(
                    rules: rules, workers: Int(workers), maxConcurrent: Int(maxConcurrent),
                    lease: CoreDuration(nanoseconds: lease),
                    retry: RetryPolicy(
                        initialDelay: .nanoseconds(firstRetry), maxDelay: .nanoseconds(lastRetry),
                        maxAttempts: Int(maxAttempts)),
                    latency: CoreDuration(nanoseconds: latency), takes: CoreDuration(nanoseconds: takes))))
        return Int32(simulations.count - 1)
    } catch {
        answers.append(error.description)
        return -1
    }
}

/// Destroys a store.
@c(lull_store_destroy)
public func destroyStore(_ store: Int32) {
    if simulation(store) != nil { simulations[Int(store)] = nil }
}

/// Moves the time to an instant.
@c(lull_store_advance)
public func advanceStore(_ store: Int32, _ instant: Int64) {
    call(store) { $0.advance(to: CoreInstant(nanoseconds: instant)) }
}

/// Returns when something happens next; the largest number for never.
@c(lull_store_alarm)
public func storeAlarm(_ store: Int32) -> Int64 { simulation(store)?.alarm.nanoseconds ?? .max }

/// Submits a value under a key.
@c(lull_store_submit)
public func submitToStore(_ store: Int32, _ key: Int32, _ value: Int64, _ wait: Int64) {
    call(store) { $0.submit(value, for: key, wait: given(wait)) }
}

/// Postpones what is pending under a key.
@c(lull_store_touch)
public func touchInStore(_ store: Int32, _ key: Int32, _ wait: Int64) {
    call(store) { $0.touch(key, wait: given(wait)) }
}

/// Makes ready what is pending, of a key or of all.
@c(lull_store_flush)
public func flushStore(_ store: Int32, _ key: Int32) { call(store) { $0.change(.flush, of: key < 0 ? nil : key) } }

/// Drops what no worker has, of a key or of all.
@c(lull_store_cancel)
public func cancelInStore(_ store: Int32, _ key: Int32) { call(store) { $0.change(.cancel, of: key < 0 ? nil : key) } }

/// Pauses the namespace, or resumes it.
@c(lull_store_pause)
public func pauseStore(_ store: Int32, _ isPaused: Int32) { call(store) { $0.pause(isPaused != 0) } }

/// Gives a dead run another series of attempts, or deletes it.
@c(lull_store_dead)
public func changeDead(_ store: Int32, _ run: Int64, _ retries: Int32) {
    call(store) { simulation in
        if retries != 0 { simulation.retry(run) } else { simulation.discard(run) }
    }
}

/// What can be done to a worker: add one; start it, kill it, stop it.
@c(lull_store_worker)
public func changeWorker(_ store: Int32, _ worker: Int32, _ change: Int32) {
    if change == 0 { return call(store) { $0.addWorker() } }
    call(store, worker) { simulation, worker in
        switch change {
        case 1: simulation.start(worker)
        case 2: simulation.kill(worker)
        default: simulation.stop(worker)
        }
    }
}

/// Suspends the machine of a worker, or cuts it off from the store, until an instant.
@c(lull_store_trouble)
public func troubleWorker(_ store: Int32, _ worker: Int32, _ sleeps: Int32, _ until: Int64) {
    call(store, worker) { simulation, worker in
        let until = CoreInstant(nanoseconds: until)
        if sleeps != 0 {
            simulation.sleep(worker, until: until)
        } else {
            simulation.cutOff(worker, until: until)
        }
    }
}

/// Sets how long handlers take that start from now on, how many of them fail, and whether they ignore that they are
/// cancelled.
@c(lull_store_handlers)
public func setHandlers(_ store: Int32, _ takes: Int64, _ failing: Int32, _ ignoresCancellation: Int32) {
    call(store) { simulation in
        simulation.settings.takes = CoreDuration(nanoseconds: takes)
        if let failing = given(failing) { simulation.failing = failing }
        simulation.settings.ignoresCancellation = ignoresCancellation != 0
    }
}

/// Writes what there is: see ``StoreSimulation/write(to:)``.
@c(lull_store_state)
public func storeState(_ store: Int32) {
    answers.clear()
    simulation(store)?.write(to: &answers)
}

private func simulation(_ store: Int32) -> StoreSimulation? {
    simulations.indices.contains(Int(store)) ? simulations[Int(store)] : nil
}

private func call(_ store: Int32, _ body: (StoreSimulation) -> Void) {
    answers.clear()
    guard let simulation = simulation(store) else { return }
    body(simulation)
    for number in simulation.records.numbers { answers.append(number) }
    simulation.records.clear()
}

/// Leaves alone a worker that there is not: a story may name one that other settings do not have.
private func call(_ store: Int32, _ worker: Int32, _ body: (StoreSimulation, Int) -> Void) {
    call(store) { simulation in
        let worker = Int(worker)
        if simulation.workers.indices.contains(worker) { body(simulation, worker) }
    }
}
