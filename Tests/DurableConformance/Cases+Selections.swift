internal import LullCore
internal import LullDurable
internal import Testing

extension ConformanceCase {
    /// Flushing, cancelling, retrying and discarding a selection.
    static let selections: [ConformanceCase] = [
        ConformanceCase("a prefix selects the keys whose bytes begin with it") { fixture in
            try await fixture.open(.debounce(10_000))
            for key in ["a/1", "a/2", "a", "b/1", "é"] { try await fixture.submit("1", key) }
            _ = try await fixture.store.submit(
                DurableSubmission(namespace: StoreFixture.namespace, key: [0xFF, 0xFF], value: []))
            #expect(try await fixture.count(DurableSelection(prefix: "a/")) == [2, 2, 0])
            #expect(try await fixture.count(DurableSelection(prefix: "é")) == [1, 1, 0])
            #expect(try await fixture.count(DurableSelection(prefix: [0xFF], olderThan: nil, error: nil)) == [1, 1, 0])
            #expect(try await fixture.count(DurableSelection(prefix: "c")) == [0, 0, 0])
            #expect(try await fixture.count(.all) == [6, 6, 0])
            #expect(try await fixture.flush(DurableSelection(prefix: "a/")) == 2)
            #expect(Set(try await fixture.work()) == ["a/1 flush 1", "a/2 flush 1"])
            #expect(try await fixture.cancel(DurableSelection(prefix: "a")) == 1)
            #expect(try await fixture.count(.all) == [3, 3, 0])
            #expect(try await fixture.cancel(.all) == 3)
            #expect(try await fixture.count(.all) == [0, 0, 0])
        },
        ConformanceCase("an age selects the keys whose oldest submit that no worker has is that old") { fixture in
            try await fixture.open(.debounce(1000))
            try await fixture.submit("1", "old")
            fixture.pass(10)
            try await fixture.submit("1", "new")
            try await fixture.submit("2", "old")
            fixture.pass(5)
            #expect(try await fixture.count(DurableSelection(olderThan: .milliseconds(15))) == [1, 1, 0])
            #expect(try await fixture.count(DurableSelection(olderThan: .milliseconds(16))) == [0, 0, 0])
            #expect(try await fixture.count(DurableSelection(olderThan: .milliseconds(5))) == [2, 2, 0])
            #expect(try await fixture.count(DurableSelection(olderThan: .zero)) == [2, 2, 0])
            #expect(try await fixture.flush(DurableSelection(olderThan: .milliseconds(15))) == 1)
            // It is ready: that is nothing to flush, but something to cancel.
            #expect(try await fixture.count(DurableSelection(olderThan: .milliseconds(15))) == [0, 1, 0])
            let run = try await fixture.claimOne()
            #expect(run.text == "old flush 2 ×2")
            // A worker has it: what came later is younger.
            try await fixture.submit("3", "old")
            fixture.pass(7)
            #expect(try await fixture.count(DurableSelection(olderThan: .milliseconds(8))) == [1, 1, 0])
            #expect(try await fixture.cancel(DurableSelection(olderThan: .milliseconds(8))) == 1)
            #expect(try await fixture.count(.all) == [1, 1, 0])
            #expect(try await fixture.complete(run) == .accepted)
        },
        ConformanceCase("an error selects the keys that wait for another attempt after it") { fixture in
            try await fixture.open(.debounce(0))
            for key in ["a", "b", "c", "d"] { try await fixture.submit("1", key) }
            let errors = ["a": "HTTP 503: [busy] 100%", "b": "HTTP 404", "c": "zeitüberschreitung"]
            for run in try await fixture.claim() {
                guard let error = errors[String(decoding: run.key, as: UTF8.self)] else { continue }
                #expect(try await fixture.report(.failed(error, retry: .seconds(60)), run) == .accepted)
            }
            #expect(try await fixture.count(DurableSelection(error: "HTTP")) == [2, 2, 0])
            #expect(try await fixture.count(DurableSelection(error: "http")) == [0, 0, 0])
            #expect(try await fixture.count(DurableSelection(error: "503: [busy] 100%")) == [1, 1, 0])
            #expect(try await fixture.count(DurableSelection(error: ".*")) == [0, 0, 0])
            #expect(try await fixture.count(DurableSelection(error: "überschreit")) == [1, 1, 0])
            #expect(try await fixture.count(DurableSelection(prefix: "b", error: "HTTP")) == [1, 1, 0])
            #expect(try await fixture.flush(DurableSelection(error: "404")) == 1)
            #expect(try await fixture.claim(by: 2).map(\.attempt) == [2])
            // A worker has it, and has not failed yet.
            #expect(try await fixture.count(DurableSelection(error: "404")) == [0, 0, 0])
            #expect(try await fixture.cancel(DurableSelection(error: "HTTP")) == 1)
            #expect(try await fixture.store.status().map(\.retrying) == [1])
            #expect(try await fixture.store.status().map(\.running) == [2])
        },
        ConformanceCase("a selection has what meets all conditions, and can be repeated") { fixture in
            try await fixture.open(.debounce(0))
            for key in ["a", "b"] { try await fixture.submit("1", key) }
            for run in try await fixture.claim() { try await fixture.fail(run, retry: 100_000) }
            fixture.pass(10)
            try await fixture.submit("1", "c", wait: 100)
            let broken = DurableSelection(olderThan: .milliseconds(10), error: "broke")
            #expect(try await fixture.count(broken) == [2, 2, 0])
            #expect(try await fixture.flush(broken) == 2)
            #expect(try await fixture.flush(broken) == 0)
            #expect(Set(try await fixture.work()) == ["a trailing 1", "b trailing 1"])
            #expect(try await fixture.cancel(broken) == 0)
            #expect(try await fixture.count(.all) == [1, 1, 0])
        },
        ConformanceCase("dead runs are selected by their key, their age and their error") { fixture in
            try await fixture.open(.debounce(0))
            func die(_ key: String, _ error: String) async throws -> Int64 {
                try await fixture.submit("1", key)
                let run = try await fixture.claimOne()
                #expect(try await fixture.report(.failed(error, retry: nil), run) == .accepted)
                fixture.pass(10)
                return run.number
            }
            let runs = [
                try await die("a/1", "HTTP 503"), try await die("a/2", "HTTP 404"), try await die("b/1", "HTTP 503"),
                try await die("b/2", ""),
            ]
            let expected: [(DurableSelection, [Int])] = [
                (.all, [0, 1, 2, 3]), (DurableSelection(prefix: "a/"), [0, 1]),
                (DurableSelection(error: "503"), [0, 2]),
                (DurableSelection(olderThan: .milliseconds(20)), [0, 1, 2]),
                (DurableSelection(olderThan: .milliseconds(21)), [0, 1]),
                (DurableSelection(prefix: "b", olderThan: .milliseconds(20), error: "503"), [2]),
                (DurableSelection(prefix: "c"), []),
            ]
            for (selection, indices) in expected {
                let found = try await fixture.store.deadRuns(matching: selection, in: StoreFixture.namespace)
                #expect(found == indices.map { runs[$0] }, "\(selection)")
                for limit in 0...4 {
                    let oldest = try await fixture.deadRuns(selection, limit: limit)
                    #expect(oldest.map(\.number) == Array(found.prefix(limit)), "\(selection)")
                    let newest = try await fixture.deadRuns(selection, newestFirst: true, limit: limit)
                    #expect(newest.map(\.number) == Array(found.reversed().prefix(limit)), "\(selection)")
                }
                #expect(try await fixture.count(selection) == [0, 0, indices.count])
            }
            let namespace = StoreFixture.namespace
            #expect(try await fixture.store.discard([runs[1], 1 << 40, runs[1]], in: namespace) == 1)
            try await fixture.submit("2", "b/1")
            #expect(
                try await fixture.store.retry([runs[0], runs[1], runs[2], runs[0]], in: namespace)
                    == [.accepted, .notFound, .outdated, .notFound])
            #expect(Set(try await fixture.work()) == ["a/1 trailing 1", "b/1 trailing 2"])
            #expect(try await fixture.count(.all) == [0, 0, 2])
            #expect(try await fixture.store.retry([], in: namespace) == [])
        },
        ConformanceCase("a selection of many keys is changed, each once") { fixture in
            try await fixture.open(.debounce(100_000))
            for number in 0..<1200 {
                try await fixture.submit("1", "\(number.isMultiple(of: 2) ? "even" : "odd") \(number)")
                if number == 599 { fixture.pass(1) }
            }
            let selection = DurableSelection(prefix: "even", olderThan: .milliseconds(1))
            #expect(try await fixture.count(selection) == [300, 300, 0])
            #expect(try await fixture.flush(selection) == 300)
            let runs = try await fixture.claim(limit: 1000)
            #expect(runs.map(\.text).sorted() == (0..<300).map { "even \(2 * $0) flush 1" }.sorted())
            #expect(try await fixture.cancel(DurableSelection(prefix: "odd")) == 600)
            #expect(try await fixture.count(.all) == [300, 300, 0])
        },
        ConformanceCase("a selection of an unknown namespace is an error") { fixture in
            let error = DurableError.noPolicy(namespace: "n")
            await #expect(throws: error) { try await fixture.flush(.all) }
            await #expect(throws: error) { try await fixture.cancel(DurableSelection(prefix: "a")) }
            await #expect(throws: error) { try await fixture.count(.all) }
            await #expect(throws: error) {
                try await fixture.store.deadRuns(matching: .all, in: StoreFixture.namespace)
            }
            await #expect(throws: error) { try await fixture.deadRuns(.all) }
            await #expect(throws: error) { try await fixture.deadRun(1) }
        },
    ]
}

extension StoreFixture {
    @discardableResult
    func flush(_ selection: DurableSelection) async throws -> Int {
        try await store.flush(matching: selection, in: StoreFixture.namespace)
    }

    @discardableResult
    func cancel(_ selection: DurableSelection) async throws -> Int {
        try await store.cancel(matching: selection, in: StoreFixture.namespace)
    }

    /// Returns how many keys can be flushed and cancelled, and how many dead runs there are.
    func count(_ selection: DurableSelection) async throws -> [Int] {
        let count = try await store.count(matching: selection, in: StoreFixture.namespace)
        return [count.flushable, count.cancellable, count.dead]
    }
}
