import Lull
import Testing

@Suite("An outcome")
struct OutcomeValueTests {
    private struct Named: Error, Equatable { var name: String }
    private struct Unnamed: Error {}

    @Test
    func `has a value where the submit was executed`() {
        #expect(Outcome.executed(7).value == 7)
        for other in [Outcome<Int>.failed(Unnamed()), .superseded, .absorbed, .cancelled, .rejected(.shutDown)] {
            #expect(other.value == nil)
        }
    }

    @Test
    func `equals another that says the same, with errors that can be compared`() {
        let all: [Outcome<Int>] = [
            .executed(1), .executed(2), .failed(Named(name: "a")), .failed(Named(name: "b")), .superseded, .absorbed,
            .cancelled, .rejected(.shutDown), .rejected(.overCapacity),
        ]
        for (index, left) in all.enumerated() {
            for (other, right) in all.enumerated() { #expect((left == right) == (index == other)) }
        }
        #expect(Outcome<Int>.failed(Unnamed()) != .failed(Unnamed()))
    }
}
