import TestSupport
import Testing

@Suite("The products beside the tests")
struct ProductsTests {
    @Test(arguments: [
        "/b/debug/lullPackageTests.xctest", "/b/debug/lullPackageTests.xctest/Contents/MacOS/lullPackageTests",
        "/b/debug/LullTests.xctest/LullTests", "/b/debug/lullPackageTests",
    ])
    func `they lie where the bundle lies`(_ image: String) {
        #expect(Products.folder(ofBundleWith: image) == "/b/debug")
    }
}
