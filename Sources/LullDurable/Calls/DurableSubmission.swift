package import LullCore

/// A submit as a store receives it, with key and value as bytes.
package struct DurableSubmission: Hashable, Sendable {
    /// The name of the namespace.
    package var namespace: String
    /// The bytes of the key: at most ``DurableLimits/longestKey``.
    package var key: [UInt8]
    /// The bytes of the value.
    package var value: [UInt8]
    /// The quiet period of this submit, in place of the namespace's; nil for none of its own.
    package var wait: CoreDuration?
    /// A name for the submit: a submit that is repeated with the same token counts once.
    package var token: String?
    /// The submitter: a random number, new at each start of a process, with which the process can flush or cancel what
    /// it alone has submitted. Nil and 0 identify no submitter.
    package var submitter: Int64?
    /// Text that travels with the value, such as a `traceparent`: at most ``DurableLimits/longestContext`` bytes; nil
    /// for none. The empty text is none, too.
    package var context: String?

    /// Creates a submit, by default without a delay, a token, a submitter and a context.
    package init(
        namespace: String, key: [UInt8], value: [UInt8], wait: CoreDuration? = nil, token: String? = nil,
        submitter: Int64? = nil, context: String? = nil
    ) {
        self.namespace = namespace
        self.key = key
        self.value = value
        self.wait = wait
        self.token = token
        self.submitter = submitter
        self.context = context
    }

    /// Throws ``DurableError/keyTooLong(bytes:limit:)``, ``DurableError/tooLarge(bytes:limit:)`` or
    /// ``DurableError/contextTooLong(bytes:limit:)`` if the key, the value or the context has more bytes than is
    /// allowed: a store's ``StoreCalls/submit(_:)`` begins with it.
    package func checkSize(by limits: DurableLimits) throws(DurableError) {
        guard key.count <= DurableLimits.longestKey else {
            throw .keyTooLong(bytes: key.count, limit: DurableLimits.longestKey)
        }
        guard value.count <= limits.largestValue else {
            throw .tooLarge(bytes: value.count, limit: limits.largestValue)
        }
        guard let context else { return }
        guard context.utf8.count <= DurableLimits.longestContext else {
            throw .contextTooLong(bytes: context.utf8.count, limit: DurableLimits.longestContext)
        }
    }
}
