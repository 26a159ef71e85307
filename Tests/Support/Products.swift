import Foundation

/// The programs that are built together with the tests.
package enum Products {
    /// Returns the path of a program.
    package static func path(of name: String) -> String { folder(ofBundleWith: image) + "/" + name }

    /// Returns the folder of the products, in which the test bundle lies. It is a program on Linux, and a folder with a
    /// library on Apple's systems.
    ///
    /// - Parameter image: The file with the code of the tests.
    package static func folder(ofBundleWith image: String) -> String {
        let image = URL(fileURLWithPath: image).resolvingSymlinksInPath()
        var bundle = image
        while bundle.pathComponents.count > 1 {
            if bundle.pathExtension == "xctest" { return bundle.deletingLastPathComponent().path }
            bundle.deleteLastPathComponent()
        }
        return image.deletingLastPathComponent().path
    }

    /// The file with this code. On Apple's systems the tests are a library, and the program, and so the first argument,
    /// is Xcode's.
    private static var image: String {
        #if canImport(Darwin)
            var info = Dl_info()
            if dladdr(#dsohandle, &info) != 0, let name = info.dli_fname { return String(cString: name) }
        #endif
        return CommandLine.arguments[0]
    }
}
