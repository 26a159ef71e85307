// swift-tools-version: 6.2

import PackageDescription

// A separate package, like users' code, so that the benchmarks do not measure what is fast only within one package.
let package = Package(
    name: "LullBenchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "swift-lull", path: "..")],
    targets: [
        .target(name: "Allocations"),
        .target(name: "UpsertFloor", linkerSettings: [.linkedLibrary("sqlite3")]),
        .executableTarget(
            name: "LullBenchmarks",
            dependencies: [
                "Allocations",
                "UpsertFloor",
                .product(name: "Lull", package: "swift-lull"),
                .product(name: "LullCore", package: "swift-lull"),
                .product(name: "LullDurable", package: "swift-lull"),
                .product(name: "LullSQLite", package: "swift-lull"),
                .product(name: "LullPostgres", package: "swift-lull"),
                .product(name: "LullRedis", package: "swift-lull"),
            ],
            swiftSettings: [
                .swiftLanguageMode(.v6),
                .enableUpcomingFeature("ExistentialAny"),
                .enableUpcomingFeature("MemberImportVisibility"),
            ]),
    ]
)
