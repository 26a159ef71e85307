/// The word that was probably meant where another was written.
enum Spelling {
    /// The candidate that differs least; nil if all differ in more than a third of the letters.
    static func nearest(to word: String, among candidates: [String]) -> String? {
        let limit = word.utf8.count / 3
        // Of a very long word nothing has to be compared.
        return candidates.filter { abs($0.utf8.count - word.utf8.count) <= limit }
            .map { (distance: distance(word, $0), name: $0) }
            .filter { $0.distance <= limit }
            .min { $0.distance < $1.distance }?.name
    }

    /// How many letters have to be inserted, left out, replaced or swapped with their neighbour to make one word of the other.
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
