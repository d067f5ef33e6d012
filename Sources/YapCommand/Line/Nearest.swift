/// Suggests existing names that are close to a mistyped one.
enum Nearest {
    /// Maximum names shown.
    static let namesMax = 5

    /// Returns the names by their edit distance from `word`, then by name.
    static func sorted(_ names: some Sequence<String>, to word: String) -> [String] {
        names.map { (name: $0, changes: changes($0, word)) }
            .sorted { ($0.changes, $0.name) < ($1.changes, $1.name) }
            .map(\.name)
    }

    /// Returns the closest names as a list, or nil if there are no names.
    static func list(_ names: some Sequence<String>, to word: String) -> String? {
        let sorted = sorted(names, to: word)
        guard !sorted.isEmpty else { return nil }
        let more = sorted.count - namesMax
        return sorted.prefix(namesMax).joined(separator: ", ") + (more > 0 ? " and \(more) more" : "")
    }

    /// Returns a sentence without its full stop that lists existing names.
    static func sentence(_ names: some Sequence<String>, to word: String) -> String {
        list(names, to: word).map { "There are: \($0)" } ?? "None exists yet"
    }

    /// Returns the edit distance of two names, ignoring case.
    static func changes(_ one: String, _ other: String) -> Int {
        let (one, other) = (Array(one.lowercased()), Array(other.lowercased()))
        var row = Array(0...other.count)
        for (line, letter) in one.enumerated() {
            var diagonal = row[0]
            row[0] = line + 1
            for (column, another) in other.enumerated() {
                let changed = diagonal + (letter == another ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = min(changed, diagonal + 1, row[column] + 1)
            }
        }
        return row[other.count]
    }
}
