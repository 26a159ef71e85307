import LullDurable
import Testing

@testable import LullSQLite

/// The states of a file, and the transitions that are impossible: those stop the program before it answers a caller
/// wrongly.
@Suite struct FileStateTests {
    @Test func `a failed commit closes the file until it is recovered`() throws {
        let place = try Place()
        let options = SQLiteFile.Options()
        var state = FileState.open(try Connection(place.path, creates: true, options))
        state.commitFailed()
        #expect(state.connection == nil)
        let again = try Connection(place.path, creates: false, options)
        state.recovered(again)
        #expect(state.connection === again)
    }

    // Exit tests do not exist on the simulators of devices.
    #if os(macOS) || os(Linux)
        @Test func `a commit that fails twice stops the program`() async {
            let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                var state = FileState.uncertain
                state.commitFailed()
            }
            expect("a commit needs an open file", in: result)
        }

        @Test func `recovering an open file stops the program`() async throws {
            let place = try Place()
            let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                [path = place.path as String] in
                let connection = try Connection(path, creates: true, SQLiteFile.Options())
                var state = FileState.open(connection)
                state.recovered(connection)
            }
            expect("an open file needs no recovery", in: result)
            withExtendedLifetime(place) {}
        }

        private func expect(_ message: String, in result: ExitTest.Result?) {
            // An optimised program stops without a message.
            guard _isDebugAssertConfiguration(), let result else { return }
            #expect(String(decoding: result.standardErrorContent, as: UTF8.self).contains(message))
        }
    #endif
}
