import Dispatch

/// Runs code on a thread that may be blocked.
public func blocking<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
    await withCheckedContinuation { continuation in
        DispatchQueue.global().async { continuation.resume(returning: body()) }
    }
}

/// Makes calls from eight tasks at once, 500 in each, and returns when they have ended.
public func fromEightTasks(_ call: @escaping @Sendable (_ task: Int, _ number: Int) async -> Void) async {
    await withTaskGroup { group in
        for task in 0..<8 {
            group.addTask { for number in 0..<500 { await call(task, number) } }
        }
    }
}
