/// Finds the name that a user probably meant.
enum Spelling {
    /// Returns the candidate with the smallest edit distance; nil if every distance exceeds a third of the word's length.
    static func nearest(to word: String, among candidates: [String]) -> String? {
        let limit = word.utf8.count / 3
        // Candidates of a very different length need not be compared.
        return candidates.filter { abs($0.utf8.count - word.utf8.count) <= limit }
            .map { (distance: distance(word, $0), name: $0) }
            .filter { $0.distance <= limit }
            .min { $0.distance < $1.distance }?.name
    }

    /// Returns the Damerau-Levenshtein distance: the number of letters to insert, delete, replace or swap with their neighbour.
    static func distance(_ one: String, _ other: String) -> Int {
        let (one, other) = (Array(one.utf8), Array(other.utf8))
        var beforeLast: [Int] = []
        var last = Array(0...other.count)
        for row in one.indices {
            var current = [row + 1]
            for column in other.indices {
                let isSame = one[row] == other[column]
                var least = min(last[column] + (isSame ? 0 : 1), last[column + 1] + 1, current[column] + 1)
                if row > 0, column > 0, one[row] == other[column - 1], one[row - 1] == other[column] {
                    least = min(least, beforeLast[column - 1] + 1)
                }
                current.append(least)
            }
            (beforeLast, last) = (last, current)
        }
        return last[other.count]
    }
}
