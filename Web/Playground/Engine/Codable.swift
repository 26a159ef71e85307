/// Stands in for the protocol of the standard library, which Embedded Swift does not have: the page encodes nothing.
public protocol Codable {}
