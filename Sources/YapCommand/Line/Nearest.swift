/// What somebody meant who typed a name that isn't there.
enum Nearest {
    /// So many names are shown.
    static let namesMax = 5

    /// The names by how little must be changed in them to have `word`; what is as near goes by name.
    static func sorted(_ names: some Sequence<String>, to word: String) -> [String] {
        names.map { (name: $0, changes: changes($0, word)) }
            .sorted { ($0.changes, $0.name) < ($1.changes, $1.name) }
            .map(\.name)
    }

    /// The first of them as a list; nil when there are no names.
    static func list(_ names: some Sequence<String>, to word: String) -> String? {
        let sorted = sorted(names, to: word)
        guard !sorted.isEmpty else { return nil }
        let more = sorted.count - namesMax
        return sorted.prefix(namesMax).joined(separator: ", ") + (more > 0 ? " and \(more) more" : "")
    }

    /// A sentence, without its point, that says which names there are.
    static func sentence(_ names: some Sequence<String>, to word: String) -> String {
        list(names, to: word).map { "There are: \($0)" } ?? "There is none yet"
    }

    /// How many letters must be put in, taken out or changed to make one of the other, whatever their case.
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
