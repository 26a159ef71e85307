import Lull

@MainActor
final class Door {
    private(set) var isLocked = false
    private var wrongOnes = 0
    private let recent = Debouncer(for: .seconds(10)) {}

    func opens(with attempt: String) -> Bool {
        guard !isLocked else { return false }
        guard attempt == "1234" else {
            wrongOnes = recent.state.pending > 0 ? wrongOnes + 1 : 1
            isLocked = wrongOnes == 3
            recent()
            return false
        }
        recent.cancel()
        return true
    }
}
