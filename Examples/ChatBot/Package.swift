// swift-tools-version: 6.2

import PackageDescription

let package = Package(
    name: "ChatBot",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "swift-lull", path: "../..")],
    targets: [.executableTarget(name: "ChatBot", dependencies: [.product(name: "Lull", package: "swift-lull")])]
)
