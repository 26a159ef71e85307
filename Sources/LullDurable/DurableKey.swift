public import struct Foundation.UUID

/// A type whose values can be keys of a durable debouncer: they have bytes, which a store keeps, and are made from
/// these.
///
/// `String`, `UUID` and the integers are keys. A type with such a raw value becomes one by saying so:
///
/// ```swift
/// enum Topic: String, DurableKey {
///     case orders, invoices
/// }
/// ```
///
/// The bytes are what the store keeps, and what other programs see that use the same store: once chosen, they stay.
/// They alone decide which submits belong together: two keys are one key exactly if their bytes are equal, in every
/// store, whatever `==` says of them. For all keys of Lull's own but `String` both say the same.
public protocol DurableKey: Hashable, Sendable {
    /// Makes the key with those bytes; nil if no key of the type has them.
    init?(durableBytes: [UInt8])
    /// The bytes by which the store keeps and compares the key.
    var durableBytes: [UInt8] { get }
}

/// The UTF-8 of the string, as it is.
///
/// Strings that are equal in Swift but composed differently, such as "é" of one scalar and "é" of two, are different
/// keys in a store: it compares bytes, as other programs that use it do. A `KeyedDebouncer`, in memory, compares keys
/// by `==`, and has one key for both. Where strings of different origin may name the same thing, bring them into one
/// form first, such as `name.precomposedStringWithCanonicalMapping`.
extension String: DurableKey {
    /// Makes the key with those bytes; nil if no key of the type has them.
    public init?(durableBytes: [UInt8]) {
        self.init(validating: durableBytes, as: UTF8.self)
    }

    /// The bytes by which the store keeps and compares the key.
    public var durableBytes: [UInt8] { Array(utf8) }
}

/// The decimal digits, so that they can be read in a listing.
extension DurableKey where Self: FixedWidthInteger {
    /// Makes the key with those bytes; nil if no key of the type has them.
    public init?(durableBytes: [UInt8]) {
        // Only the spelling that `durableBytes` has: two spellings would be two keys.
        guard let number = Self(String(decoding: durableBytes, as: UTF8.self)), number.durableBytes == durableBytes
        else { return nil }
        self = number
    }

    /// The bytes by which the store keeps and compares the key.
    public var durableBytes: [UInt8] { Array(String(self).utf8) }
}

extension Int: DurableKey {}
extension Int8: DurableKey {}
extension Int16: DurableKey {}
extension Int32: DurableKey {}
extension Int64: DurableKey {}
extension UInt: DurableKey {}
extension UInt8: DurableKey {}
extension UInt16: DurableKey {}
extension UInt32: DurableKey {}
extension UInt64: DurableKey {}

/// The usual spelling in upper case.
extension UUID: DurableKey {
    /// Makes the key with those bytes; nil if no key of the type has them.
    public init?(durableBytes: [UInt8]) {
        let text = String(decoding: durableBytes, as: UTF8.self)
        guard let id = UUID(uuidString: text), id.uuidString == text else { return nil }
        self = id
    }

    /// The bytes by which the store keeps and compares the key.
    public var durableBytes: [UInt8] { Array(uuidString.utf8) }
}

/// A type with a raw value that is a key is one when it says so: `enum Category: String, DurableKey`.
extension DurableKey where Self: RawRepresentable, RawValue: DurableKey {
    /// Makes the key with those bytes; nil if no key of the type has them.
    public init?(durableBytes: [UInt8]) {
        guard let raw = RawValue(durableBytes: durableBytes) else { return nil }
        self.init(rawValue: raw)
    }

    /// The bytes by which the store keeps and compares the key.
    public var durableBytes: [UInt8] { rawValue.durableBytes }
}
