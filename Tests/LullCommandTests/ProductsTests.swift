import TestSupport
import Testing

@Suite("The folder of the test bundle")
struct ProductsTests {
    @Test(arguments: [
        "/b/debug/lullPackageTests.xctest", "/b/debug/lullPackageTests.xctest/Contents/MacOS/lullPackageTests",
        "/b/debug/LullTests.xctest/LullTests", "/b/debug/lullPackageTests",
    ])
    func `has the products`(_ image: String) {
        #expect(Products.folder(ofBundleWith: image) == "/b/debug")
    }
}
