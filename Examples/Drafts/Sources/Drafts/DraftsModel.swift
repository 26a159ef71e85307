import Lull
import Observation

/// What the window shows. The debouncers are made once, with the model, not with each value of a view.
@MainActor
@Observable
final class DraftsModel {
    var draft = "" {
        didSet {
            status = "typing"
            save(draft)
        }
    }

    var query = "" {
        didSet { search(query) }
    }

    private(set) var results: [String] = []
    private(set) var status = "saved"

    private let archive = Archive()

    /// Runs two seconds after the last key, and at the latest ten seconds after the first.
    @ObservationIgnored private lazy var save = Debouncer(for: .seconds(2), maxWait: .seconds(10)) {
        @MainActor [weak self, archive] (draft: String) in
        await archive.save(draft)
        self?.status = "saved"
    }

    /// A newer query cancels the one that is under way, so that an older answer never replaces a newer one.
    @ObservationIgnored private lazy var search = Debouncer(
        for: .milliseconds(300), whileRunning: .cancelRunning
    ) { @MainActor [weak self, archive] (query: String) in
        let found = try await archive.titles(with: query)
        self?.results = found
    }

    /// Saves what is pending, and returns when that is done.
    func close() async {
        await save.flushAndWait()
    }
}

/// Stands for a file or a server.
actor Archive {
    private var drafts: [String] = []

    func save(_ draft: String) {
        drafts.append(draft)
    }

    func titles(with query: String) async throws -> [String] {
        try await Task.sleep(for: .milliseconds(200))
        return drafts.filter { $0.contains(query) }
    }
}
