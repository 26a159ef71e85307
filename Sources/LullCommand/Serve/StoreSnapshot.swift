internal import Lull
internal import LullCore
internal import LullDurable
internal import LullInspection

/// What a look shows a page, as lists of elements that are JSON. It has no durations, so that it is the same until
/// something changes.
///
/// An event has all of it, or what is new: a list that is the same is left out, and `[first, count]` in a list stands
/// for elements of the one before. A page with hundreds of keys that wait gets nothing for as long as they do.
struct StoreSnapshot: Equatable {
    struct List: Equatable {
        let name: String
        let elements: [[UInt8]]

        init(_ name: String, _ elements: [JSONValue]) {
            self.name = name
            self.elements = elements.map(\.text)
        }

        fileprivate var json: JSONValue { .array(elements.map { .json($0) }) }
    }

    /// Those of the store.
    let common: [List]
    /// Those of the namespace that is shown in detail; empty if there is none.
    let detail: [List]
    /// Its name.
    let namespace: String?

    /// Returns the data of an event with all of it.
    func whole(at instant: Int64) -> [UInt8] {
        object(at: instant, []) { list, _ in list.json }
    }

    /// Returns the data of an event with what is new.
    ///
    /// - Parameter seen: When the content was still the one before.
    func change(from old: StoreSnapshot, at instant: Int64, seen: Int64) -> [UInt8] {
        object(at: instant, [("since", .instant(seen))]) { list, isDetail in
            let others = isDetail ? old.detail : old.common
            guard let before = others.first(where: { $0.name == list.name })?.elements else { return list.json }
            return before == list.elements ? nil : .array(Self.change(from: before, to: list.elements))
        }
    }

    private func object(
        at instant: Int64, _ members: [(String, JSONValue)], _ text: (List, _ isDetail: Bool) -> JSONValue?
    ) -> [UInt8] {
        let inner: [(String, JSONValue)] =
            [("namespace", .text(namespace))]
            + detail.compactMap { list in text(list, true).map { (list.name, $0) } }
        return JSONValue.object(
            [("at", .instant(instant)), ("away", .null)] + members
                + common.compactMap { list in text(list, false).map { (list.name, $0) } }
                + [("detail", namespace == nil ? .null : .object(inner))]
        ).text
    }

    /// Returns elements of which those that were there before are ranges.
    private static func change(from old: [[UInt8]], to new: [[UInt8]]) -> [JSONValue] {
        let places = Dictionary(zip(old, old.indices)) { first, _ in first }
        var change: [JSONValue] = []
        var range = 0..<0
        func end() { if !range.isEmpty { change.append([range.lowerBound, range.count].json) } }
        for element in new {
            if !range.isEmpty, range.upperBound < old.count, old[range.upperBound] == element {
                range = range.lowerBound..<range.upperBound + 1
                continue
            }
            end()
            if let place = places[element] {
                range = place..<place + 1
            } else {
                range = 0..<0
                change.append(.json(element))
            }
        }
        end()
        return change
    }
}

extension [Int] {
    fileprivate var json: JSONValue { .array(map { .number($0) }) }
}

extension JSONValue {
    /// Nanoseconds since 1970, to the millisecond.
    static func instant(_ nanoseconds: Int64) -> JSONValue { .seconds(nanoseconds / 1_000_000 * 1_000_000) }
}

// MARK: - Elements

extension DurableListing<[UInt8]> {
    /// Its JSON as `lull list` prints it, but with instants.
    func json(_ instants: inout StableInstants, at now: Int64) -> JSONValue {
        [
            "key": .bytes(key), "pending": .number(pending),
            "first": instants.ago(pendingFor, "first", of: key, at: now),
            "due": instants.ahead(dueIn, "due", of: key, at: now), "ready": .number(ready),
            "readySince": instants.ago(readyFor, "ready", of: key, at: now),
            "run": run.map { run in
                [
                    "id": .number(run.number), "state": .text(run.isClaimed ? "running" : "retrying"),
                    "attempt": .number(run.attempt), "isSnoozed": .bool(run.isSnoozed),
                    "submits": .number(run.submits),
                    "since": instants.ago(run.runningFor, "running", of: key, at: now),
                    "retry": instants.ahead(run.retryIn, "retry", of: key, at: now), "error": .text(run.error),
                    "worker": .number(run.worker), "lease": instants.ahead(run.leaseFor, "lease", of: key, at: now),
                ]
            } ?? .null,
        ]
    }
}

extension DurableWorker {
    func json(_ instants: inout StableInstants, at now: Int64) -> JSONValue {
        [
            "worker": .number(identity.id), "host": .text(identity.host), "process": .number(identity.process),
            "running": .number(running),
            "seenAt": instants.ago(seen, "seen", of: Array("\(identity.id)".utf8), at: now),
        ]
    }
}

extension DurableDeadRun<[UInt8]> {
    func json(_ instants: inout StableInstants, at now: Int64) -> JSONValue {
        [
            "run": .number(number), "key": .bytes(key), "submits": .number(count), "attempts": .number(attempts),
            "at": instants.ago(age, "dead", of: Array("\(id)".utf8), at: now), "error": .text(error),
        ]
    }
}

extension DurableStatus {
    /// Its figures, with instants.
    func json(_ instants: inout StableInstants, at now: Int64) -> [(String, JSONValue)] {
        let owner = Array(namespace.utf8)
        let times = [
            ("oldestDue", instants.ago(oldestDue, "oldest", of: owner, at: now)),
            ("paused", instants.ago(pause?.age, "paused", of: owner, at: now)),
            ("oldestEntry", instants.ago(oldestEntry, "entry", of: owner, at: now)),
            ("nextStart", instants.ahead(nextStart, "start", of: owner, at: now)),
            ("pauseEndsIn", instants.ahead(pauseEndsIn, "pause", of: owner, at: now)),
        ]
        let figures = measures.map { measure in
            let name = measure.figure.property
            return (name, times.first { $0.0 == name }?.1 ?? measure.json)
        }
        return figures + pauseMembers
    }
}
