internal import Lull

/// The debouncers and throttlers of this process that the inspector has seen.
///
/// It keeps none of them alive.
enum RuntimeRegistry {
    private struct Entry {
        weak var runtime: RuntimeCore?
    }

    private struct State {
        var entries: [Entry] = []
        /// With this many entries, those whose debouncers have gone are removed: as often as the number has doubled.
        var limit = 64
    }

    private static let state = Guarded(State())

    /// Begins to list those that are made, and earlier ones as soon as they schedule a wake-up.
    static func begin() {
        // Proof: it is called with nothing else.
        InspectorHook.begin { RuntimeRegistry.add(Unmanaged<RuntimeCore>.fromOpaque($0).takeUnretainedValue()) }
    }

    private static func add(_ runtime: RuntimeCore) {
        let entry = Entry(runtime: runtime)
        state.change { state in
            if state.entries.count >= state.limit {
                state.entries.removeAll { $0.runtime == nil }
                state.limit = max(64, 2 * state.entries.count)
            }
            state.entries.append(entry)
        }
    }

    /// Those that exist, in the order in which they were seen.
    static var all: [RuntimeCore] { state.value.entries.compactMap(\.runtime) }

    /// The number of entries, also of those that have gone.
    static var entryCount: Int { state.value.entries.count }
}
