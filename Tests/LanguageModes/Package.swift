// swift-tools-version: 6.2

import PackageDescription

// The code of the documentation's pages, in the modes that users compile theirs in; that of Swift 6 alone is in the
// tests of Lull, with more features on. All targets have the same sources: links to the tests that the pages are
// compared with. A package of its own, as a user's is: it sees what is public, and nothing else.

let modes: [(name: String, settings: [SwiftSetting])] = [
    ("Swift6MainActor", [.swiftLanguageMode(.v6), .defaultIsolation(MainActor.self)]),
    (
        "Swift6NonisolatedNonsending",
        [.swiftLanguageMode(.v6), .enableUpcomingFeature("NonisolatedNonsendingByDefault")]
    ),
    ("Swift5", [.swiftLanguageMode(.v5)]),
]

/// Files that read the pages, or test the inside of Lull.
let others = [
    "Cookbook/CookbookTests.swift",
    "Documentation/ArchitectureTests.swift",
    "Documentation/ComingFromSamples.swift",
    "Documentation/CompilerMessagesTests.swift",
    "Documentation/DecisionTests.swift",
    "Documentation/ObservingSamples.swift",
    "Documentation/PageTests.swift",
    "Documentation/RunningTimelines.swift",
    "Documentation/Timelines.swift",
]
let durableOthers = [
    "Samples/CommentSamples.swift",
    "Samples/PageTests.swift",
]

let package = Package(
    name: "LanguageModes",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    dependencies: [.package(name: "swift-lull", path: "../..")],
    targets: [
        .target(
            name: "TestSupport", dependencies: [.product(name: "Lull", package: "swift-lull")], path: "Support",
            swiftSettings: [.enableUpcomingFeature("InternalImportsByDefault")])
    ]
        + modes.flatMap { mode in
            [
                .testTarget(
                    name: mode.name,
                    dependencies: [
                        .product(name: "Lull", package: "swift-lull"),
                        .product(name: "LullDispatch", package: "swift-lull"),
                        .product(name: "LullTesting", package: "swift-lull"),
                        "TestSupport",
                    ],
                    path: "Tests/\(mode.name)",
                    exclude: others,
                    swiftSettings: mode.settings),
                // Apart, since the names of their samples are those of the others.
                .testTarget(
                    name: "Durable\(mode.name)",
                    dependencies: [
                        .product(name: "LullDurable", package: "swift-lull"),
                        .product(name: "LullSQLite", package: "swift-lull"),
                        .product(name: "LullTesting", package: "swift-lull"),
                        "TestSupport",
                    ],
                    path: "Tests/Durable\(mode.name)",
                    exclude: durableOthers,
                    swiftSettings: mode.settings),
            ]
        }
)
