package import LullCore

/// An entry of the inbox: a call of a producer in another language, which the next step of its key makes.
package struct InboxEntry: Sendable {
    package enum Call: Sendable {
        case submit(value: [UInt8], wait: CoreDuration?, token: String?, context: String?)
        case touch(wait: CoreDuration?)
        case flush
        case cancel
    }

    package var call: Call
    /// Its number: entries are made in their order.
    package var number: Int64
    /// When it was made.
    package var at: CoreInstant
    /// The entry as the store has it.
    package var stored: [UInt8]

    package init(_ call: Call, number: Int64, at: CoreInstant, stored: [UInt8]) {
        (self.call, self.number, self.at, self.stored) = (call, number, at, stored)
    }
}
