/// Folds JSON values into one, in order, each into the result of those before it (JSON Merge Patch, RFC 7396).
///
/// A member keeps the place and the spelling of its first appearance. Objects are written anew, without blanks; every
/// other value keeps its bytes, and a number all its digits.
enum JSONMergePatch {
    private enum Node {
        /// A value that is no object, as it stands.
        case text(ArraySlice<UInt8>)
        case object(Object)

        var isNull: Bool {
            if case .text(let text) = self { text.elementsEqual("null".utf8) } else { false }
        }

        func append(to text: inout [UInt8]) {
            switch self {
            case .text(let bytes): text += bytes
            case .object(let object): object.append(to: &text)
            }
        }
    }

    /// A class: each patch changes the result in place, and costs only its own size.
    private final class Object {
        struct Member {
            /// The name in quotation marks, as it stands.
            let spelling: ArraySlice<UInt8>
            /// The name in the form in which names are compared.
            let name: [UInt8]
            /// Nil if it was removed.
            var value: Node?
        }

        /// In the order of their first appearance.
        private var members: [Member] = []
        private var places: [[UInt8]: Int] = [:]

        /// Sets the value of a member. If a name occurs twice in an object, the last member counts.
        func set(_ member: Member) {
            if let place = places[member.name] {
                members[place].value = member.value
            } else {
                places[member.name] = members.count
                members.append(member)
            }
        }

        func merge(_ patch: Object) {
            for var member in patch.members {
                guard let value = member.value else { continue }
                let place = places[member.name]
                if value.isNull {
                    if let place { members[place].value = nil }
                } else {
                    member.value = JSONMergePatch.merged(place.flatMap { members[$0].value }, with: value)
                    set(member)
                }
            }
        }

        func append(to text: inout [UInt8]) {
            text.append("{")
            var isFirst = true
            for member in members {
                guard let value = member.value else { continue }
                if !isFirst { text.append(",") }
                isFirst = false
                text += member.spelling
                text.append(":")
                value.append(to: &text)
            }
            text.append("}")
        }
    }

    /// Returns the values folded into one. A single value stays as it is.
    static func fold(_ values: [[UInt8]]) throws(JSONScanner.Fault) -> [UInt8] {
        var result: Node?
        for value in values {
            let node = try node(of: value)
            // The first value is no patch: what is null in it stays.
            result = result.map { merged($0, with: node) } ?? node
        }
        guard let result, values.count > 1 else { return values.first ?? [] }
        var text: [UInt8] = []
        result.append(to: &text)
        return text
    }

    /// Returns a value after a patch; an object is changed in place. The value is nil for a member that does not exist.
    private static func merged(_ target: Node?, with patch: Node) -> Node {
        guard case .object(let patch) = patch else { return patch }
        let object = if case .object(let object)? = target { object } else { Object() }
        object.merge(patch)
        return .object(object)
    }

    private static func node(of value: [UInt8]) throws(JSONScanner.Fault) -> Node {
        try value.withUnsafeBufferPointer { text throws(JSONScanner.Fault) in
            // This bounds the depth of what follows, too.
            let range = try JSONScanner.whole(text)
            guard text[range.lowerBound] == UInt8(ascii: "{") else { return .text(value[...]) }
            var scanner = JSONScanner(text, takesAnyBytes: true)
            return try node(of: value, &scanner)
        }
    }

    private static func node(
        of value: [UInt8], _ scanner: inout JSONScanner
    ) throws(JSONScanner.Fault) -> Node {
        scanner.skipBlanks()
        guard scanner.next == UInt8(ascii: "{") else { return .text(value[try scanner.value()]) }
        try scanner.open("{", orThrow: .expectedObject)
        let object = Object()
        var isFirst = true
        while let name = try scanner.nextMember(&isFirst) {
            let quoted = name.content.lowerBound - 1..<name.content.upperBound + 1
            let form = name.hasEscapes ? JSONText.canonical(scanner.text.part(quoted)) : Array(value[quoted])
            let node = try node(of: value, &scanner)
            object.set(Object.Member(spelling: value[quoted], name: form, value: node))
        }
        return .object(object)
    }
}

extension JSONScanner.Fault {
    /// Why a value cannot be merged.
    var ofValue: String { "a value is not JSON: \(self)" }
}
