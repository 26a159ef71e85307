public import struct Foundation.UUID

/// A type whose values can be keys of a durable debouncer: they convert to bytes, which a store holds, and back.
///
/// `String`, `UUID` and the integers are keys. A type with such a raw value only has to declare the conformance:
///
/// ```swift
/// enum Topic: String, DurableKey {
///     case orders, invoices
/// }
/// ```
///
/// The store holds the bytes, and other programs that use the same store see them: never change the bytes of a key. A
/// key has at most 1,024 of them (``DurableLimits/longestKey``); of what is longer, use a hash. They alone determine
/// which submits belong together: two keys are one key if and only if their bytes are equal, in every store, whatever
/// the result of `==`. For all key types of Lull but `String`, `==` and the bytes agree.
public protocol DurableKey: Hashable, Sendable {
    /// Creates the key with these bytes; nil if no key of the type has them.
    init?(durableBytes: [UInt8])
    /// The bytes by which the store holds and compares the key.
    var durableBytes: [UInt8] { get }
}

/// The key is the UTF-8 of the string, unchanged.
///
/// Strings that are equal in Swift but composed differently, such as "é" of one scalar and "é" of two, are different
/// keys in a store: it compares bytes, as other programs that use it do. A `KeyedDebouncer`, in memory, compares keys
/// by `==`, and has one key for both. If strings of different origin may name the same thing, normalise them first,
/// such as with `name.precomposedStringWithCanonicalMapping`.
extension String: DurableKey {
    /// Creates the key with these bytes; nil if no key of the type has them.
    public init?(durableBytes: [UInt8]) {
        self.init(validating: durableBytes, as: UTF8.self)
    }

    /// The bytes by which the store holds and compares the key.
    public var durableBytes: [UInt8] { Array(utf8) }
}

/// The key is the number in decimal digits, which are readable in a listing.
extension DurableKey where Self: FixedWidthInteger {
    /// Creates the key with these bytes; nil if no key of the type has them.
    public init?(durableBytes: [UInt8]) {
        // Only the spelling of `durableBytes`: two spellings would be two keys.
        guard let number = Self(String(decoding: durableBytes, as: UTF8.self)), number.durableBytes == durableBytes
        else { return nil }
        self = number
    }

    /// The bytes by which the store holds and compares the key.
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

/// The key is the usual spelling in upper case.
extension UUID: DurableKey {
    /// Creates the key with these bytes; nil if no key of the type has them.
    public init?(durableBytes: [UInt8]) {
        let text = String(decoding: durableBytes, as: UTF8.self)
        guard let id = UUID(uuidString: text), id.uuidString == text else { return nil }
        self = id
    }

    /// The bytes by which the store holds and compares the key.
    public var durableBytes: [UInt8] { Array(uuidString.utf8) }
}

/// The key is the raw value: `enum Category: String, DurableKey`.
extension DurableKey where Self: RawRepresentable, RawValue: DurableKey {
    /// Creates the key with these bytes; nil if no key of the type has them.
    public init?(durableBytes: [UInt8]) {
        guard let raw = RawValue(durableBytes: durableBytes) else { return nil }
        self.init(rawValue: raw)
    }

    /// The bytes by which the store holds and compares the key.
    public var durableBytes: [UInt8] { rawValue.durableBytes }
}
