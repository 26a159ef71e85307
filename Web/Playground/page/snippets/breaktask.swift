@MainActor final class Draft {
    private var task: Task<Void, Never>?

    func edited(_ draft: String) {
        task?.cancel()
        task = Task {
            try? await Task.sleep(for: .milliseconds(300))
            guard !Task.isCancelled else { return }
            try? await server.save(draft)
        }
    }

    deinit { task?.cancel() }
}
