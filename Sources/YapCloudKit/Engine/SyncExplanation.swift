/// What the sync says to people: a row of a table in `docs/WHEN_SYNC_GOES_WRONG.md`, which a test compares with it.
package struct SyncExplanation: Hashable, Sendable {
    /// The case's name.
    package var name: String
    /// What happened, and why.
    package var meaning: String
    /// What to do about it.
    package var remedy: String

    init(_ name: String, _ meaning: String, do remedy: String) {
        self.name = name
        self.meaning = meaning
        self.remedy = remedy
    }

    /// The words for people.
    /// - Parameter what: What happened in this case; nil says it in general.
    func text(_ what: String? = nil) -> String {
        let what = what ?? meaning
        return "\(what.hasSuffix(".") ? what : what + ".") What to do: \(remedy)"
    }
}
