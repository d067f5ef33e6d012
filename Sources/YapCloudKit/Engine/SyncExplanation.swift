/// A row of a table in `docs/WHEN_SYNC_GOES_WRONG.md`, which a test compares with it.
package struct SyncExplanation: Hashable, Sendable {
    /// The case's name.
    package var name: String
    /// What happened, and why.
    package var meaning: String
    /// The remedy.
    package var remedy: String

    init(_ name: String, _ meaning: String, do remedy: String) {
        self.name = name
        self.meaning = meaning
        self.remedy = remedy
    }

    /// Returns the human-readable text.
    /// - Parameter what: What happened in this case; nil takes the general meaning.
    func text(_ what: String? = nil) -> String {
        let what = what ?? meaning
        return "\(what.hasSuffix(".") ? what : what + ".") What to do: \(remedy)"
    }
}
