import Testing

@testable import LullSQLite

@Suite struct FramingTests {
    @Test func framedValuesAreReadInOrderWhateverTheyContain() {
        let framed = bytes("0:,1:") + [0] + bytes(",6:3:abc,,2:,:,5:a,b:c,")
        #expect(Framing.values(in: framed) == [[], [0], bytes("3:abc,"), bytes(",:"), bytes("a,b:c")])
        #expect(Framing.values(in: []) == [])
    }

    @Test(arguments: ["x", "3", "3:ab,", "3:abcd", ":a,", "-1:,", "99999999999999999999:a,", "1:a,2"])
    func damagedFramesAreNotRead(_ damaged: String) {
        #expect(Framing.values(in: bytes(damaged)) == nil)
    }
}
