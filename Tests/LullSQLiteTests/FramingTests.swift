import Testing

@testable import LullSQLite

@Suite struct FramingTests {
    @Test func framedValuesComeBackInOrderWhateverIsInThem() {
        let values: [[UInt8]] = [[], [0], bytes("3:abc,"), [UInt8](repeating: 255, count: 1000), bytes(",:")]
        #expect(Framing.values(in: values.flatMap(Framing.frame)) == values)
        #expect(text(Framing.frame(bytes("on"))) == "2:on,")
    }

    @Test func theFirstOfThemTakeSoManyBytes() {
        let framed = [bytes("ab"), [], bytes("3:abc,")].flatMap(Framing.frame)
        #expect((0...3).map { Framing.size(ofFirst: $0, in: framed) } == [0, 5, 8, framed.count])
        #expect(Framing.size(ofFirst: 4, in: framed) == nil)
        #expect(Framing.size(ofFirst: 2, in: bytes("1:a,x")) == nil)
    }

    @Test(arguments: ["x", "3", "3:ab,", "3:abcd", ":a,", "-1:,", "99999999999999999999:a,", "1:a,2"])
    func whatWasNotFramedIsNotRead(_ damaged: String) {
        #expect(Framing.values(in: bytes(damaged)) == nil)
    }
}
