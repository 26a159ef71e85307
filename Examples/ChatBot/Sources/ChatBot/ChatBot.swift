import Foundation
import Lull

/// A bot that waits until somebody has finished, and answers once to all they have written.
///
/// It reads lines such as `ada: hello` from standard input. The first argument is the pause, in seconds, after which it
/// answers.
@main
struct ChatBot {
    static func main() async {
        let pause = CommandLine.arguments.dropFirst().first.flatMap(Double.init) ?? 1.5

        // One gate per person: those who write at the same time do not hold each other up. Who never pauses gets an
        // answer, too.
        let answer = KeyedDebouncer(collectingFor: .seconds(pause), maxWait: .seconds(10 * pause)) {
            (person: String, messages: [String]) in
            print("bot to \(person): \(reply(to: messages))")
        }

        for await line in lines() {
            guard let colon = line.firstIndex(of: ":") else { continue }
            let message = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
            answer.submit(message, for: String(line[..<colon]))
        }
        // Answers what is still pending, before the program ends.
        await answer.flushAndWait()
    }

    /// A language model would be asked here: once, with all that was said.
    static func reply(to messages: [String]) -> String {
        let count = messages.count == 1 ? "one message" : "\(messages.count) messages"
        return "\(count), \"\(messages.joined(separator: " "))\""
    }

    /// Returns the lines of standard input as they come. Reading blocks, and so has a thread of its own.
    static func lines() -> AsyncStream<String> {
        AsyncStream { continuation in
            Thread.detachNewThread {
                while let line = readLine() { continuation.yield(line) }
                continuation.finish()
            }
        }
    }
}
