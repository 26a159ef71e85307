import Foundation
import Lull
import LullCore
import LullEngine
import Testing

// The timelines of the articles, read from the articles and played to the engine, a column a second.

/// A timeline: a line with the policy, one with the submits and one with the executions, all in columns of three.
struct Timeline: CustomTestStringConvertible, Sendable {
    var policy: Substring
    /// The delays that single submits have of their own.
    var delays: [Character: Int64] = [:]
    var submits: [(at: Int64, value: Character)] = []
    var executions: [String] = []

    var testDescription: String { String(policy) }

    /// All timelines of an article.
    static func all(of article: String, in catalogue: String = "Lull/Lull.docc") -> [Timeline] {
        let article = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../Sources/\(catalogue)/\(article).md")
        guard let text = try? String(contentsOf: article, encoding: .utf8) else { return [] }
        var all: [Timeline] = []
        for line in text.split(separator: "\n") {
            if let policy = line.prefixMatch(of: /(debounce|throttle)\(.*\)/)?.output.0, !line.contains("?") {
                all.append(Timeline(policy: policy))
                if let delay = line.firstMatch(of: /([a-z]) with a delay of (\d+)/)?.output {
                    all[all.count - 1].delays[Character(String(delay.1))] = Int64(delay.2)
                }
            } else if line.hasPrefix("submit    ") {
                all[all.count - 1].submits = letters(line)
            } else if line.hasPrefix("execute   ") {
                all[all.count - 1].executions = letters(line).map { "\($0.value) at \($0.at)" }
            }
        }
        return all
    }

    /// The letters of a line and the instants under which they stand, without the remark at its end.
    private static func letters(_ line: Substring) -> [(at: Int64, value: Character)] {
        let remark = line.firstMatch(of: /[a-z]+[:,]/)?.range.lowerBound ?? line.endIndex
        return line[..<remark].enumerated().dropFirst(10).filter { $1 != " " }.map { column, letter in
            #expect(column % 3 == 1, "\(letter) stands between two columns: \(line)")
            return (Int64(column - 10) / 3, letter)
        }
    }

    /// The policy that the first line is about.
    func makePolicy() throws -> Policy {
        func number(_ name: String) -> Int64? {
            policy.split(separator: "\(name): ", maxSplits: 1, omittingEmptySubsequences: false).dropFirst().first
                .flatMap { Int64($0.prefix(while: \.isNumber)) }
        }
        var edges: Edges = []
        if policy.contains("leading") { edges.insert(.leading) }
        if policy.contains("trailing") { edges.insert(.trailing) }
        let count = number("maxCount").map { Int($0) }
        if policy.hasPrefix("throttle") {
            return try .throttle(
                interval: .seconds(number("interval") ?? -1), edges: edges.isEmpty ? [.leading, .trailing] : edges,
                maxCount: count)
        }
        return try .debounce(
            wait: .seconds(number("wait") ?? -1), maxWait: number("maxWait").map { .seconds($0) },
            edges: edges.isEmpty ? .trailing : edges, delayRule: policy.contains("extend") ? .extend : .restart,
            maxCount: count, spacing: number("spacing").map { .seconds($0) })
    }

    /// The executions of the engine.
    func play() throws -> [String] {
        var engine = Engine<Int, Character>(try Setup(try makePolicy()))
        var executed: [String] = []
        func perform(_ actions: Actions<Int, Character>) {
            for case .start(let execution) in actions.more {
                executed.append("\(execution.batch.value) at \(execution.at.nanoseconds / 1_000_000_000)")
                perform(engine.ended(execution.run, .returned).1)
            }
        }
        for (at, value) in submits {
            let wait = delays[value].map { CoreDuration.seconds($0) }
            perform(engine.submit(value, for: 0, at: .origin.advanced(by: .seconds(at)), wait: wait))
        }
        while engine.alarm != .farFuture { perform(engine.advance(to: engine.alarm)) }
        return executed
    }
}

@Suite("The timelines of the articles")
struct TimelineTests {
    @Test(
        arguments: Timeline.all(of: "Semantics") + Timeline.all(of: "ChoosingAPolicy") + Timeline.all(of: "ComingFrom")
            + Timeline.all(of: "WorkInTheBackground", in: "LullDispatch/LullDispatch.docc"))
    func `are what the engine does`(timeline: Timeline) throws {
        #expect(!timeline.executions.isEmpty)
        #expect(try timeline.play() == timeline.executions)
    }

    @Test
    func `are found`() {
        #expect(Timeline.all(of: "Semantics").count == 12)
        #expect(Timeline.all(of: "ChoosingAPolicy").count == 9)
        #expect(Timeline.all(of: "ComingFrom").count == 2)
        #expect(Timeline.all(of: "WorkInTheBackground", in: "LullDispatch/LullDispatch.docc").count == 3)
    }
}
