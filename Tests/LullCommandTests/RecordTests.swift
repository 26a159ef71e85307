import CLullCommand
import LullTuning
import Testing

@testable import LullCommand

@Suite("Records")
struct RecordTests {
    private func field(_ number: Int, _ delimiter: String? = nil, of record: String) throws -> String? {
        let rule = KeyRule.part(.field(number, delimiter: delimiter.map { Array($0.utf8) }))
        do {
            return String(decoding: try withBytes(record) { try rule.key(of: $0) }.bytes, as: UTF8.self)
        } catch let fault as RecordFault where fault.kind.hasPrefix("no field") {
            return nil
        }
    }

    @Test func `fields are split as by awk`() throws {
        #expect(try field(1, of: "a b c") == "a")
        #expect(try field(2, of: "  a \t b\tc") == "b")
        #expect(try field(3, of: "a b") == nil)
        #expect(try field(1, of: "") == nil)
        #expect(try field(1, of: " \t ") == nil)
        #expect(try field(2, of: "a b\r") == "b\r")
        #expect(try field(2, of: "a\nb") == "b")
    }

    @Test func `delimited fields may be empty`() throws {
        #expect(try field(1, ",", of: ",b") == "")
        #expect(try field(2, ",", of: "a,,c") == "")
        #expect(try field(3, ",", of: "a,b,") == "")
        #expect(try field(4, ",", of: "a,b,") == nil)
        #expect(try field(1, ",", of: "") == "")
        #expect(try field(1, ",", of: " a ") == " a ")
        #expect(try field(2, "→", of: "a→b→c") == "b")
    }

    @Test func `JSON keys are compared by content`() throws {
        let rule = KeyRule.part(.json(try #require(JSONPointer(Array("/k".utf8)))))
        let key = try withBytes(#"{"k":{"a": "\u0041"}}"#) { try rule.key(of: $0) }
        #expect(try withBytes(#"{"x":1, "k" : { "a":"A" } }"#) { try rule.key(of: $0) } == key)
        #expect(try withBytes(#"{"k":{"a":"a"}}"#) { try rule.key(of: $0) } != key)
        let string = try withBytes(#"{"k":"a\"b"}"#) { try rule.key(of: $0) }
        #expect(rule.plain(string) == Array(#"a"b"#.utf8))
        let number = try withBytes(#"{"k":7}"#) { try rule.key(of: $0) }
        #expect(rule.plain(number) == Array("7".utf8))
        #expect(throws: RecordFault.self) { try withBytes("{}") { try rule.key(of: $0) } }
        #expect(throws: RecordFault.self) { try withBytes("") { try rule.key(of: $0) } }
    }

    /// Returns what a reader makes of bytes that arrive in pieces of the given sizes.
    private func records(_ bytes: [UInt8], pieces: [Int], terminator: UInt8 = 10) throws -> [String] {
        let (reading, writing) = try Pipe.make()
        defer { close(reading) }
        var reader = RecordReader(reading, terminator: terminator)
        var records: [String] = []
        var rest = bytes[...]
        var sizes = pieces[...]
        while true {
            if rest.isEmpty {
                close(writing)
            } else {
                let size = min(sizes.popFirst() ?? 1 << 15, rest.count)
                _ = rest.prefix(size).withUnsafeBytes { write(writing, $0.baseAddress, size) }
                rest = rest.dropFirst(size)
            }
            let goesOn = try reader.fill()
            loop: while true {
                switch reader.next() {
                case .record(let record): records.append(String(decoding: record, as: UTF8.self))
                case .tooLong: records.append("too long: \(reader.number)")
                case .incomplete: break loop
                }
            }
            if !goesOn { return records }
        }
    }

    @Test func `records are split however they arrive`() throws {
        let bytes = Array("one\n\ntwo\r\nlast".utf8)
        for size in 1...bytes.count {
            let pieces = Array(repeating: size, count: bytes.count)
            #expect(try records(bytes, pieces: pieces) == ["one", "", "two\r", "last"])
        }
        #expect(try records([], pieces: []) == [])
        #expect(try records(Array("\n".utf8), pieces: []) == [""])
        #expect(try records(Array("a\nb\0c\0\0".utf8), pieces: [], terminator: 0) == ["a\nb", "c", ""])
    }

    @Test func `a record that is too long is skipped whole`() throws {
        let longest = [UInt8](repeating: 120, count: RecordReader.longest)
        let after = Array("\nafter\n".utf8)
        #expect(try records(longest + after, pieces: []).map(\.utf8.count) == [RecordReader.longest, 5])
        #expect(try records(longest + [120] + after, pieces: []) == ["too long: 1", "after"])
        #expect(try records(Array("before\n".utf8) + longest + longest, pieces: []) == ["before", "too long: 2"])
    }

    @Test func `placeholders are replaced once`() {
        let template = CommandTemplate(
            ["{key}={value}", "{count}{edge}", "{}", "{ key }", "", "{{key}}", "é"].map { Array($0.utf8) })
        let filled = template.filled { Array("<\($0.rawValue){key}>".utf8) }
        let expected = ["<key{key}>=<value{key}>", "<count{key}><edge{key}>", "{}", "{ key }", "", "{key}", "é"]
        #expect(filled.map { String(decoding: $0, as: UTF8.self) } == expected)
    }
}

@Suite("Percentiles")
struct DistributionTests {
    @Test func `are exact below the limit`() {
        var distribution = Distribution()
        #expect(distribution.percentiles([50]) == nil)
        for length in 1...1000 { distribution.add(Int64(length) * 1_000_003) }
        #expect(distribution.percentiles([1, 50, 99]) == [10_000_030, 500_001_500, 990_002_970])
        #expect(distribution.largest == 1_000_003_000)
    }

    @Test func `are close beyond the limit`() throws {
        var random = SeededRandom(seed: 5)
        var distribution = Distribution()
        var lengths: [Int64] = []
        for _ in 0...Distribution().limit {
            let length = Int64.random(in: 0...Int64.max, using: &random) >> Int64.random(in: 0..<63, using: &random)
            distribution.add(length)
            lengths.append(length)
        }
        lengths.sort()
        let found = try #require(distribution.percentiles([1, 50, 90, 99]))
        for (percentage, length) in zip([1, 50, 90, 99], found) {
            let exact = lengths[(percentage * lengths.count + 99) / 100 - 1]
            #expect(length >= exact && Double(length - exact) <= Double(exact) * 0.0002)
        }
        #expect(distribution.largest == lengths.last)
    }

    @Test func `are exact for repeated durations`() {
        var distribution = Distribution()
        for _ in 0...Distribution().limit { distribution.add(300_000_000) }
        distribution.add(.max)
        #expect(distribution.percentiles([50, 99]) == [300_000_000, 300_000_000])
        #expect(distribution.largest == .max)
    }
}
