import Foundation
import Lull
import LullHTTP
import LullInspection
import TestSupport
import Testing

@testable import LullCommand
@testable import LullDurable

/// What the pages of `lull serve` are sent.
@Suite("Looks of lull serve", .ownThreads)
struct ServeLookTests {
    private static let second: Int64 = 1_000_000_000

    private func text(_ json: JSONValue) -> String { String(decoding: json.text, as: UTF8.self) }

    // MARK: - Instants

    @Test func `an instant is the same in the next look, although the clocks are not`() {
        var instants = StableInstants()
        let first = instants.ahead(.seconds(10), "due", of: [1], at: 100 * Self.second)
        #expect(text(first) == "110")
        instants.begin()
        // The second look says a little too much, the third too little.
        let (late, early): (Int64, Int64) = (101 * Self.second + 30_000_000, 102 * Self.second - 20_000_000)
        #expect(text(instants.ahead(.seconds(9), "due", of: [1], at: late)) == "110")
        instants.begin()
        #expect(text(instants.ahead(.seconds(8), "due", of: [1], at: early)) == "110")
        #expect(text(instants.ahead(.seconds(8), "due", of: [2], at: early)) == "109.98")
        #expect(text(instants.ahead(nil, "due", of: [1], at: early)) == "null")
        instants.begin()
        #expect(text(instants.ahead(.seconds(8), "due", of: [1], at: 103 * Self.second)) == "111")
    }

    @Test func `an instant does not creep away with small differences`() {
        var instants = StableInstants()
        // A clock that is 20 ms slower in each second.
        let found = (0..<10).map { number in
            instants.begin()
            let now = (100 + Int64(number)) * Self.second + Int64(number) * 20_000_000
            return text(instants.ahead(.seconds(100 - number), "due", of: [1], at: now))
        }
        #expect(found == ["200", "200", "200", "200.06", "200.06", "200.06", "200.12", "200.12", "200.12", "200.18"])
    }

    @Test func `what waits for a worker is not later in each look, and what is seen again is`() {
        var instants = StableInstants()
        #expect(text(instants.ahead(.zero, "retry", of: [1], at: 100 * Self.second)) == "100")
        #expect(text(instants.ago(.zero, "seen", of: [1], at: 100 * Self.second)) == "100")
        instants.begin()
        #expect(text(instants.ahead(.zero, "retry", of: [1], at: 105 * Self.second)) == "100")
        #expect(text(instants.ago(.zero, "seen", of: [1], at: 105 * Self.second)) == "105")
        instants.begin()
        #expect(text(instants.ahead(.seconds(4), "retry", of: [1], at: 106 * Self.second)) == "110")
        #expect(text(instants.ago(.seconds(1), "seen", of: [1], at: 106 * Self.second)) == "105")
    }

    @Test func `every time among the figures of a namespace is the same in the next look`() throws {
        var status = DurableStatus(namespace: "n", rules: try DurableRules(.debounce(for: .seconds(1))))
        var instants = StableInstants()
        let looks = (0..<3).map { number in
            (status.oldestDue, status.oldestEntry) = (.seconds(5 + number), .seconds(7 + number))
            status.nextStart = .seconds(30 - number)
            instants.begin()
            return text(.object(status.json(&instants, at: (100 + Int64(number)) * Self.second)))
        }
        #expect(Set(looks).count == 1, "\(looks)")
    }

    // MARK: - Content

    private func content(_ keys: [Int], namespace: String? = "n") -> StoreSnapshot {
        StoreSnapshot(
            common: [.init("figures", [.text("words")])],
            detail: namespace == nil ? [] : [.init("keys", keys.map { .number($0) })], namespace: namespace)
    }

    @Test func `an event has what is new, and places of what is not`() {
        let old = content([10, 20, 30, 40, 50])
        func change(to keys: [Int]) -> String {
            let data = content(keys).change(from: old, at: 7 * Self.second, seen: 6 * Self.second)
            let all = String(decoding: data, as: UTF8.self)
            let head = #"{"at":7,"away":null,"since":6,"detail":{"namespace":"n""#
            #expect(all.hasPrefix(head) && all.hasSuffix("}}"), "\(all)")
            return String(all.dropFirst(head.count).dropLast(2))
        }
        #expect(change(to: [10, 20, 30, 40, 50]) == "")
        #expect(change(to: [10, 20, 31, 40, 50]) == #","keys":[[0,2],31,[3,2]]"#)
        #expect(change(to: [30, 40, 50, 60]) == #","keys":[[2,3],60]"#)
        #expect(change(to: [50, 40, 10, 20]) == #","keys":[[4,1],[3,1],[0,2]]"#)
        #expect(change(to: []) == #","keys":[]"#)
        #expect(
            String(decoding: old.whole(at: 7 * Self.second), as: UTF8.self)
                == #"{"at":7,"away":null,"figures":["words"],"detail":{"namespace":"n","keys":[10,20,30,40,50]}}"#)
    }

    @Test func `a namespace that comes or goes has all of its lists, or none`() {
        let (none, some) = (content([], namespace: nil), content([1]))
        let came = some.change(from: none, at: 0, seen: 0)
        #expect(String(decoding: came, as: UTF8.self).hasSuffix(#""detail":{"namespace":"n","keys":[1]}}"#))
        let went = none.change(from: some, at: 0, seen: 0)
        #expect(String(decoding: went, as: UTF8.self).hasSuffix(#""since":0,"detail":null}"#))
    }

    // MARK: - On a store

    @Test(.enabled(if: ServeProcess.isInstalled))
    func `an event says since when keys wait, as old as the oldest of the status`() throws {
        let store = try TestStore(.file)
        let begun = Date.now.timeIntervalSince1970
        _ = try store.run("submit --wait 1h waiting 1")
        _ = try store.run("submit --after 0 ready 1")
        let serve = try ServeProcess(store)
        let page = try serve.connect()
        page.send("GET /api/events HTTP/1.0\r\nHost: localhost\r\n\r\n")
        let event = try #require(page.read(until: "\n\n"))
        func instant(_ name: String, after start: String = "") throws -> Double {
            let rest = try #require(event.firstRange(of: start)).upperBound
            let found = try #require(event[rest...].firstMatch(of: try Regex("\"\(name)\":([0-9.]+)")))
            return try #require(found[1].substring.flatMap { Double($0) })
        }
        let now = Date.now.timeIntervalSince1970
        let first = try instant("first", after: #""key":"waiting""#)
        let ready = try instant("readySince", after: #""key":"ready""#)
        #expect(begun - 1 < first && first <= ready + 0.1 && ready < now)
        #expect(abs(try instant("oldestDue") - ready) < 0.1)
        let counted = try instant("countedSince")
        #expect(ready < counted && counted < now)
    }

    @Test(.enabled(if: ServeProcess.isInstalled))
    func `hundreds of keys that wait cost a page nothing, and one of them that changes little`() throws {
        // On all stores at once: each waits.
        let pages = try ([TestStore.Kind.file] + TestStore.Kind.servers).map { kind in
            let store = try TestStore(kind)
            let lines = (0..<150).map { "key-\($0) \($0)" }.joined(separator: "\n")
            _ = try store.run("filter --wait 1h --key-field 1 --at-end keep", input: lines + "\n")
            let serve = try ServeProcess(store)
            let page = try serve.connect()
            page.send("GET /api/events HTTP/1.0\r\nHost: localhost\r\n\r\n")
            let first = try #require(page.read(until: "\n\n"))
            #expect(first.contains(#""key":"key-149""#) && first.contains(#""help":"#), "\(kind): \(first)")
            let instant = try #require(first.firstMatch(of: /"at":([0-9.]+)/)?.1).description
            return (kind: kind, store: store, serve: serve, page: page, at: try #require(Double(instant)))
        }
        // Three looks later it is said when the last one was that found nothing new.
        let last = pages.map(\.at).max() ?? 0
        try eventually("three looks have been made") { Date().timeIntervalSince1970 > last + 3.5 }
        for (kind, _, serve, page, at) in pages {
            #expect(try serve.post("/v1/default/key-7", "new").status == 202)
            let rest = try #require(page.read(until: #""pending":2,"#))
            #expect(rest.utf8.count < 2000, "\(kind): \(rest)")
            #expect(!rest.contains(#""figures":"#) && !rest.contains(#""key":"key-8""#), "\(kind): \(rest)")
            let since = try #require(rest.matches(of: /"since":([0-9.]+)/).last?.1).description
            #expect(try #require(Double(since)) > at + 1, "\(kind)")
        }
    }
}
