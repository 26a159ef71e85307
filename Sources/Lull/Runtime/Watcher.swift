/// Somebody who is told what happens, at once and with the lock of the debouncer held: it only notes it.
///
/// A class rather than a protocol: who is watched calls it in code that is specialised for the user's key.
@usableFromInline
class Watcher<Key: Sendable>: @unchecked Sendable {
    // Proof of @unchecked Sendable: this class has nothing; its subclasses prove it of what they have.

    /// Notes an event.
    @usableFromInline
    func add(_ event: Event<Key>) {}

    /// Wakes whoever waits for events, after the lock was let go.
    @usableFromInline
    func wake() {}

    /// No event comes any more.
    func end() {}
}
