internal import Synchronization

/// Tells an inspector, where a program has one, which debouncers and throttlers there are.
///
/// A program without one pays a look at an address when it makes a debouncer, and when that schedules a wake-up; never
/// in a submit that joins a pending value. A list of all of them would cost every program a lock and memory, and a
/// closure here its metadata.
package enum InspectorHook {
    /// A function that is called with a `RuntimeCore`, which it may retain.
    package typealias Function = @convention(c) (UnsafeRawPointer) -> Void

    /// The address of the function; 0 for none.
    private static let address = Atomic<Int>(0)

    /// Calls a function with each runtime that is made from now on, and with each earlier one that schedules a wake-up:
    /// once for each, without its lock, on the thread that uses it.
    package static func begin(_ function: @escaping Function) {
        address.store(unsafeBitCast(function, to: Int.self), ordering: .releasing)
    }

    /// Whether there is an inspector.
    static var isWanted: Bool { address.load(ordering: .relaxed) != 0 }

    /// Called once for each runtime, and only if an inspector is wanted.
    @inline(never)
    static func introduce(_ runtime: RuntimeCore) {
        // Proof: nothing but `begin(_:)` stores an address, and nothing stores 0 again.
        let function = unsafeBitCast(address.load(ordering: .acquiring), to: Function.self)
        function(Unmanaged.passUnretained(runtime).toOpaque())
    }
}
