import Lull
import LullTesting
import Testing

@Suite("Answering a conversation")
struct AnsweringAConversationTests {
    let clock = ManualClock()
    let chat = Chat()

    /// Takes ten seconds for an answer, and counts how many it has begun.
    actor Model {
        private(set) var begun = 0
        private let clock: ManualClock

        init(clock: ManualClock) { self.clock = clock }

        func answer(to messages: [String]) async throws -> String {
            begun += 1
            try await clock.sleep(for: .seconds(10))
            if messages.contains("?") { throw Refusal() }
            return "an answer to \(messages.count) messages"
        }
    }

    actor Chat {
        private(set) var sent: [String] = []

        func send(_ text: String, to room: String) { sent.append("\(room): \(text)") }
    }

    final class Bot: Sendable {
        private let answer: KeyedDebouncer<String, String, Void>

        init(model: Model, chat: Chat, clock: any Clock<Duration> = ContinuousClock()) {
            answer = KeyedDebouncer(
                collectingFor: .seconds(3), maxWait: .seconds(60), whileRunning: .restart, clock: clock,
                onFailure: { error, room in await chat.send("Sorry: \(error)", to: room) }
            ) { (room: String, messages: [String]) in
                let text = try await model.answer(to: messages)
                try Task.checkCancellation()
                await chat.send(text, to: room)
            }
        }

        func received(_ message: String, in room: String) {
            answer.submit(message, for: room)
        }

        func someoneIsTyping(in room: String) {
            answer.touch(room)
        }
    }

    @Test
    func `what comes while the model works is answered together with what it was working on`() async {
        let model = Model(clock: clock)
        let bot = Bot(model: model, chat: chat, clock: clock)
        bot.received("Hello!", in: "kitchen")
        await clock.advance(by: .seconds(2))
        bot.someoneIsTyping(in: "kitchen")  // due at 5, not at 3
        await clock.advance(by: .seconds(4))
        bot.received("Are you there?", in: "kitchen")  // due at 9, while the model works
        await clock.advance(by: .seconds(20))
        #expect(await chat.sent == ["kitchen: an answer to 2 messages"])
        #expect(await model.begun == 2)
    }

    @Test
    func `what comes after the answer is answered alone, and a room does not wait for another`() async {
        let bot = Bot(model: Model(clock: clock), chat: chat, clock: clock)
        bot.received("Hello!", in: "kitchen")
        bot.received("Is it raining?", in: "garden")
        await clock.advance(by: .seconds(13))
        #expect(await chat.sent.count == 2)
        bot.received("Thank you", in: "kitchen")
        await clock.advance(by: .seconds(13))
        #expect(await chat.sent.last == "kitchen: an answer to 1 messages")
    }

    @Test
    func `an answer that fails is reported to the room`() async {
        let bot = Bot(model: Model(clock: clock), chat: chat, clock: clock)
        bot.received("?", in: "kitchen")
        await clock.advance(by: .seconds(13))
        #expect(await chat.sent.count == 1)
        #expect(await chat.sent[0].hasPrefix("kitchen: Sorry: "))
    }
}
