/// Parses the OpenMetrics text format, and refuses what its grammar does; also what Prometheus' older text format has
/// otherwise, and samples without help.
struct OpenMetricsText {
    struct Fault: Error {
        let line: String
        let why: String
    }

    struct Sample: Hashable {
        var name: String
        var labels: [String: String]
        var value: Double
    }

    private(set) var samples: [Sample] = []
    /// The type of each family, in order.
    private(set) var families: [(name: String, type: String)] = []

    init(_ text: String) throws {
        guard text.hasSuffix("\n# EOF\n") || text == "# EOF\n" else {
            throw Fault(line: text, why: "no # EOF at the end")
        }
        var metadata: Set<String> = []
        var hasSamples = false
        // By scalars: a character may be a newline after a carriage return, or a quotation mark below an accent.
        let scalars = text.unicodeScalars.dropLast("# EOF\n".count)
        for part in scalars.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
            let line = Substring(part)
            func refuse(_ why: String) -> Fault { Fault(line: String(line), why: why) }
            guard line.hasPrefix("#") else {
                let sample = try Self.sample(line, refuse)
                guard let (family, type) = families.last else { throw refuse("a sample without a family") }
                guard sample.name == family else { throw refuse("a sample of another family than \(family)") }
                guard metadata.contains("HELP") else { throw refuse("a sample without help") }
                guard type == "unknown" || !family.hasSuffix("_total") else { throw refuse("a type for a counter") }
                guard !samples.contains(where: { $0.name == sample.name && $0.labels == sample.labels }) else {
                    throw refuse("the sample comes twice")
                }
                samples.append(sample)
                hasSamples = true
                continue
            }
            let words = line.split(separator: " ", maxSplits: 3, omittingEmptySubsequences: false).map(String.init)
            guard words.count == 4, words[0] == "#" else { throw refuse("neither metadata nor a sample") }
            let name = words[2]
            guard Self.isName(name) else { throw refuse("no name of a metric") }
            if families.last?.name != name {
                guard !families.contains(where: { $0.name == name }) else { throw refuse("a family in two places") }
                families.append((name, "unknown"))
                metadata = []
                hasSamples = false
            }
            guard !hasSamples, metadata.insert(words[1]).inserted else { throw refuse("metadata too late, or twice") }
            switch words[1] {
            case "TYPE":
                guard words[3] == "gauge" else { throw refuse("a type that is not the same in both formats") }
                families[families.count - 1].type = words[3]
            case "UNIT": guard name.hasSuffix("_" + words[3]) else { throw refuse("the unit is not in the name") }
            case "HELP": guard !words[3].isEmpty, !words[3].contains("\\") else { throw refuse("help to be escaped") }
            default: throw refuse("unknown metadata")
            }
        }
    }

    private static func isName(_ name: some StringProtocol) -> Bool {
        guard let first = name.unicodeScalars.first, first.value < 0x80, !("0"..."9").contains(first) else {
            return false
        }
        return name.unicodeScalars.allSatisfy {
            ("a"..."z").contains($0) || ("A"..."Z").contains($0) || ("0"..."9").contains($0) || $0 == "_" || $0 == ":"
        }
    }

    private static func sample(_ line: Substring, _ refuse: (String) -> Fault) throws -> Sample {
        var rest = line.unicodeScalars
        let name = Substring(rest.prefix { $0 != "{" && $0 != " " })
        guard isName(name) else { throw refuse("no name of a metric") }
        rest = rest.dropFirst(name.unicodeScalars.count)
        var labels: [String: String] = [:]
        if rest.first == "{" {
            repeat {
                rest = rest.dropFirst()
                let label = Substring(rest.prefix { $0 != "=" })
                guard isName(label), labels[String(label)] == nil else { throw refuse("no name of a label") }
                rest = rest.dropFirst(label.unicodeScalars.count)
                guard rest.starts(with: "=\"".unicodeScalars) else { throw refuse("no value of a label") }
                rest = rest.dropFirst(2)
                var value = String.UnicodeScalarView()
                while let scalar = rest.first, scalar != "\"" {
                    rest = rest.dropFirst()
                    guard scalar == "\\" else {
                        value.append(scalar)
                        continue
                    }
                    switch rest.first {
                    case "\\": value.append("\\")
                    case "\"": value.append("\"")
                    case "n": value.append("\n")
                    default: throw refuse("an unknown escape")
                    }
                    rest = rest.dropFirst()
                }
                guard rest.first == "\"" else { throw refuse("a label without an end") }
                rest = rest.dropFirst()
                labels[String(label)] = String(value)
            } while rest.first == ","
            guard rest.first == "}" else { throw refuse("labels without an end") }
            rest = rest.dropFirst()
        }
        guard rest.first == " ", let value = Double(Substring(rest.dropFirst())) else { throw refuse("no value") }
        return Sample(name: String(name), labels: labels, value: value)
    }
}
