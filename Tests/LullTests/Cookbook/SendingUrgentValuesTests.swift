import Lull
import LullTesting
import Testing

@Suite("Sending urgent values at once")
struct SendingUrgentValuesTests {
    let clock = ManualClock()
    let mail = Mail()

    nonisolated struct Alert: Sendable {
        var text: String
        var isUrgent = false

        init(_ text: String, isUrgent: Bool = false) {
            self.text = text
            self.isUrgent = isUrgent
        }
    }

    actor Mail {
        private(set) var sent: [[String]] = []

        func send(_ texts: [String]) throws { sent.append(texts) }
    }

    final class Alerts: Sendable {
        private let send: Debouncer<Alert, Void>

        init(mail: Mail, clock: any Clock<Duration> = ContinuousClock()) {
            send = Debouncer(collectingFor: .seconds(60), maxWait: .seconds(600), clock: clock) { (alerts: [Alert]) in
                try await mail.send(alerts.map(\.text))
            }
        }

        func report(_ alert: Alert) {
            if alert.isUrgent { send(alert, after: .zero) } else { send(alert) }
        }
    }

    @Test
    func `an urgent value is sent at once, with what was pending before it`() async {
        let alerts = Alerts(mail: mail, clock: clock)
        alerts.report(Alert("a disk is getting full"))
        await clock.advance(by: .seconds(10))
        #expect(await mail.sent == [])
        alerts.report(Alert("the disk is full", isUrgent: true))
        await clock.advance(by: .zero)
        #expect(await mail.sent == [["a disk is getting full", "the disk is full"]])
        await clock.advance(by: .seconds(100))
        #expect(await mail.sent.count == 1)
    }

    @Test
    func `a spacing holds an urgent value back, and a flush does not wait for it`() async {
        let send = Debouncer(
            collectingFor: .seconds(60), options: .init(spacing: .seconds(300)), clock: clock
        ) { [mail] (texts: [String]) in try await mail.send(texts) }
        send("first", after: .zero)
        await clock.advance(by: .seconds(1))
        send("second", after: .zero)
        await clock.advance(by: .seconds(1))
        #expect(await mail.sent == [["first"]])
        send.flush()
        await clock.advance(by: .zero)
        #expect(await mail.sent == [["first"], ["second"]])
    }

    @Test
    func `with the rule extend a delay of zero does not shorten the wait`() async {
        let send = Debouncer(
            collectingFor: .seconds(60), options: .init(delayRule: .extend), clock: clock
        ) { [mail] (texts: [String]) in try await mail.send(texts) }
        send("first")
        send("second", after: .zero)
        await clock.advance(by: .seconds(59))
        #expect(await mail.sent == [])
        await clock.advance(by: .seconds(1))
        #expect(await mail.sent == [["first", "second"]])
    }
}
