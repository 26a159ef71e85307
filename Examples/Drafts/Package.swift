// swift-tools-version: 6.2

import PackageDescription

let package = Package(
    name: "Drafts",
    platforms: [.macOS(.v15), .iOS(.v18)],
    dependencies: [.package(name: "swift-lull", path: "../..")],
    targets: [.executableTarget(name: "Drafts", dependencies: [.product(name: "Lull", package: "swift-lull")])]
)
