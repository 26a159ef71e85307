import Foundation
package import Testing

extension Trait where Self == ConditionTrait {
    /// Leaves a test out where PostgreSQL is not installed.
    package static var onServer: Self {
        .enabled(
            if: TestServer.isInstalled,
            "PostgreSQL is not installed: make test-servers installs it and runs all its tests")
    }

    /// Leaves a test out that takes long, unless `LULL_SERVERS` is set, as `make test-servers` does.
    package static var longForm: Self {
        .enabled(
            if: ProcessInfo.processInfo.environment["LULL_SERVERS"] != nil, "it takes long: make test-servers runs it")
    }
}

extension Trait where Self == ConditionTrait {
    /// Leaves a test out where neither Redis nor Valkey is installed.
    package static var onRedis: Self {
        .enabled(
            if: TestRedis.isInstalled,
            "neither Redis nor Valkey is installed: make test-servers installs one and runs all its tests")
    }
}
