import Foundation
import Testing

@testable import LullCommand

@Suite("JSON")
struct JSONTests {
    private func fault(_ text: String, takesAnyBytes: Bool = false) -> JSONScanner.Fault? {
        fault(Array(text.utf8), takesAnyBytes: takesAnyBytes)
    }

    private func fault(_ bytes: [UInt8], takesAnyBytes: Bool = false) -> JSONScanner.Fault? {
        bytes.withUnsafeBufferPointer { bytes in
            var scanner = JSONScanner(bytes, takesAnyBytes: takesAnyBytes)
            do throws(JSONScanner.Fault) {
                _ = try scanner.value()
                try scanner.end()
                return nil
            } catch {
                return error
            }
        }
    }

    @Test(arguments: [
        "null", "true", "false", "0", "-0", "10", "-1.5e+10", "1E5", "0.0", #""""#, #""a\n\u00e9\ud83d\ude00""#, "[]",
        "{}",
        " [1 , 2,[ ]] ", #"{"a":{"b":[1,{"c":null}]},"a":2}"#, "\t\r\n1", #""\ud800""#, "\"\u{7F}é\u{10FFFF}\"",
    ])
    func `valid text is recognised`(_ text: String) {
        #expect(fault(text) == nil)
    }

    @Test(arguments: [
        ("", 1, JSONScanner.Reason.expectedValue), ("nul", 1, .expectedValue), ("01", 2, .expectedEnd),
        ("-", 2, .wrongNumber),
        ("1.", 3, .wrongNumber), ("1e", 3, .wrongNumber), (".5", 1, .expectedValue), ("+1", 1, .expectedValue),
        ("[1", 3, .expectedComma),
        ("[1,]", 4, .expectedValue), ("[,1]", 2, .expectedValue), ("{", 2, .expectedName),
        (#"{"a"}"#, 5, .expectedColon),
        (#"{"a":1,}"#, 8, .expectedName), (#"{"a":1 "b":2}"#, 8, .expectedComma), ("{a:1}", 2, .expectedName),
        ("1 2", 3, .expectedEnd),
        (#""abc"#, 5, .unfinishedString), ("\"a\nb\"", 3, .controlCharacter), (#""\x""#, 2, .wrongEscape),
        (#""\u12g4""#, 2, .wrongEscape),
        (#""\"#, 2, .wrongEscape), ("'a'", 1, .expectedValue), ("NaN", 1, .expectedValue), ("[1}", 3, .expectedComma),
        (#"{"a":1]"#, 7, .expectedComma), ("\u{FEFF}1", 1, .expectedValue), ("\0", 1, .expectedValue),
    ])
    func `errors have their column`(_ text: String, _ column: Int, _ reason: JSONScanner.Reason) {
        #expect(fault(text) == JSONScanner.Fault(column: column, reason: reason))
    }

    @Test func `the first byte that needs an escape is found`() {
        for byte in UInt8.min...UInt8.max {
            let standsForItself = (0x20..<0x80).contains(byte) && byte != 0x22 && byte != 0x5C
            for position in 0..<19 {
                // The byte after it must not matter.
                var bytes = [UInt8](repeating: UInt8(ascii: " "), count: position) + [byte, 0x7F, 0x21, 0x5B]
                bytes += [UInt8](repeating: 0, count: 4)
                bytes.withUnsafeBufferPointer { bytes in
                    let expected = standsForItself ? position + 4 : position
                    #expect(UTF8Text.endOfPlain(in: bytes, from: 0) == expected, "\(byte) at \(position)")
                    #expect(UTF8Text.endOfPlain(in: bytes, from: position) == expected, "\(byte) at \(position)")
                    #expect(UTF8Text.endOfPlain(in: bytes.part(0..<position), from: 0) == position)
                }
            }
        }
    }

    @Test func `nesting is bounded`() {
        let deepest = JSONScanner.deepest
        #expect(fault(String(repeating: "[", count: deepest) + String(repeating: "]", count: deepest)) == nil)
        #expect(fault(String(repeating: "[", count: 1_000_000))?.reason == .tooDeep)
        #expect(fault(String(repeating: #"{"a":"#, count: 100_000))?.reason == .tooDeep)
    }

    @Test func `strings must be UTF-8 unless any bytes are allowed`() {
        let bytes: [UInt8] = [0x22, 0xFF, 0xE9, 0x22]
        #expect(fault(bytes)?.reason == .notUTF8)
        #expect(fault(bytes, takesAnyBytes: true) == nil)
    }

    @Test(arguments: [
        (#" { "a" : [ 1 , "x y" ] } "#, #"{"a":[1,"x y"]}"#), (#""\u0041""#, #""A""#), (#""\/\u002F""#, #""//""#),
        (#""\u0022\u005C\u000a\u001f\b""#, #""\"\\\n\u001f\b""#), (#""\uD83D\uDE00""#, #""😀""#),
        (#""\uD800x""#, #""\ud800x""#),
        (#""\ud800\u0041""#, #""\ud800A""#), (#""\ud800\ud83d\ude00""#, #""\ud800😀""#), ("1.0", "1.0"),
        ("null", "null"),
        (#"{"\u0061":"\u00e9 "}"#, #"{"a":"é "}"#), (#""\\u0041""#, #""\\u0041""#), (#""""#, #""""#),
        (#"["a\"]","\\"]"#, #"["a\"]","\\"]"#),
    ])
    func `keys have a canonical form`(_ text: String, _ canonical: String) {
        let form = withBytes(text) { JSONText.canonical($0) }
        #expect(String(decoding: form, as: UTF8.self) == canonical)
        #expect(form.withUnsafeBufferPointer { JSONText.canonical($0) } == form)
    }

    @Test(arguments: [
        ("a", #""a""#), ("\"\\\n\u{1}é", #""\"\\\n\u0001é""#), ("", #""""#), ("\u{7F}/", "\"\u{7F}/\""),
    ])
    func `strings are written`(_ text: String, _ json: String) {
        var written: [UInt8] = []
        JSONText.append(Array(text.utf8), to: &written)
        #expect(String(decoding: written, as: UTF8.self) == json)
    }

    @Test func `Foundation reads back strings of any characters`() throws {
        let characters: [Unicode.Scalar] = ["a", "/", "\"", "\\", "\n", "\u{1}", "\u{7F}", "é", "語", "😀"]
        var random = SeededRandom(seed: 7)
        for _ in 0..<2000 {
            // Runs of one of them, interrupted now and then by another.
            let (most, some) = (
                characters.randomElement(using: &random) ?? "a", characters.randomElement(using: &random) ?? "a"
            )
            var text = String.UnicodeScalarView()
            for _ in 0..<Int.random(in: 0..<30, using: &random) {
                text.append(Int.random(in: 0..<8, using: &random) == 0 ? some : most)
            }
            let written = JSONText.json(Array(String(text).utf8))
            #expect(try JSONDecoder().decode(String.self, from: Data(written)) == String(text))
        }
    }

    @Test func `invalid UTF-8 is written as Base64`() {
        var written: [UInt8] = []
        JSONText.append([0xFF, 0x00, 0xFE], to: &written)
        #expect(String(decoding: written, as: UTF8.self) == #"{"base64":"/wD+"}"#)
    }

    // The document of RFC 6901, section 5.
    private static let document = #"""
        {"foo":["bar","baz"],"":0,"a/b":1,"c%d":2,"e^f":3,"g|h":4,"i\\j":5,"k\"l":6," ":7,"m~n":8,"d":1,\#
        "d":{"x":[[],[{"y":9}]]}}
        """#

    @Test(arguments: [
        ("/foo", #"["bar","baz"]"#), ("/foo/0", #""bar""#), ("/", "0"), ("/a~1b", "1"), ("/c%d", "2"), ("/e^f", "3"),
        ("/g|h", "4"),
        (#"/i\j"#, "5"), (#"/k"l"#, "6"), ("/ ", "7"), ("/m~0n", "8"), ("/d/x/1/0/y", "9"), ("", document),
    ])
    func `pointers find values`(_ text: String, _ value: String) throws {
        let pointer = try #require(JSONPointer(Array(text.utf8)))
        let found = try withBytes(Self.document) {
            try pointer.find(in: $0).map { String(decoding: $0, as: UTF8.self) }
        }
        #expect(found == value)
    }

    @Test(arguments: [
        "/nope", "/foo/2", "/foo/-", "/foo/00", "/foo/01", "/foo/0/x", "/foo/", "/d/x/0/0", "/foo/99999999999999999999",
    ])
    func `pointers may find nothing`(_ text: String) throws {
        let pointer = try #require(JSONPointer(Array(text.utf8)))
        #expect(try withBytes(Self.document) { try pointer.find(in: $0) } == nil)
    }

    @Test(arguments: ["foo", "~", "/~", "/~2", "/a~", " /a"])
    func `invalid pointers are refused`(_ text: String) {
        #expect(JSONPointer(Array(text.utf8)) == nil)
    }
}
