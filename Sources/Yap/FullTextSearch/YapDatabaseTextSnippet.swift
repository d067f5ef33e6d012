/// An excerpt that is requested of each row that a search finds.
public struct YapDatabaseTextSnippet<Object: Sendable>: Sendable {
    /// Maximum number of words in an excerpt. More are cut to it.
    public static var wordsMax: Int { 1_000 }

    let column: YapDatabaseTextQuery<Object>.Column?
    /// Nil for the whole text.
    let words: Int?

    /// The part of a property's text that has the most of the query's words.
    ///
    /// - Parameters:
    ///   - path: A property that is a column.
    ///   - words: Maximum number of words, from 1 to `wordsMax`. With `.trigram`, each stands for 5 characters.
    public static func of(_ path: any PartialKeyPath<Object> & Sendable, words: Int = 12) -> Self {
        Self(column: .path(path), words: max(1, min(words, wordsMax)))
    }

    /// The same of a column by its name.
    public static func of(column name: String, words: Int = 12) -> Self {
        Self(column: .name(name), words: max(1, min(words, wordsMax)))
    }

    /// The same of the column that has the most of the query's words.
    public static func ofBestColumn(words: Int = 12) -> Self {
        Self(column: nil, words: max(1, min(words, wordsMax)))
    }

    /// The whole text of a property that is a column, as for a title.
    public static func whole(_ path: any PartialKeyPath<Object> & Sendable) -> Self {
        Self(column: .path(path), words: nil)
    }

    /// The same of a column by its name.
    public static func whole(column name: String) -> Self { Self(column: .name(name), words: nil) }
}

/// A part of an indexed text, with the places where the query matches.
public struct YapDatabaseTextExcerpt: Hashable, Sendable {
    /// The name of the column that the text comes from.
    public let column: String
    /// The text, with "…" at an end where it was cut. NUL characters of the original are spaces.
    public let text: String
    /// The matches in `text`, in ascending order and apart from each other. Each has whole characters.
    public let ranges: [Range<String.Index>]

    /// The texts of `ranges`.
    public var matches: [Substring] { ranges.map { text[$0] } }

    init(column: String, _ text: String, bytes ranges: [Range<Int>], isCutAtStart: Bool, isCutAtEnd: Bool) {
        self.column = column
        let before = isCutAtStart ? "…" : ""
        let whole = before + text + (isCutAtEnd ? "…" : "")
        let start = before.utf8.count
        self.text = whole
        var wide: [Range<String.Index>] = []
        // A match of trigrams may end within a character that consists of several scalars.
        var characters = CharacterBoundaries(whole)
        for range in ranges {
            let range = characters.widened(start + range.lowerBound..<start + range.upperBound)
            if let last = wide.last, range.lowerBound <= last.upperBound {
                wide[wide.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
            } else {
                wide.append(range)
            }
        }
        self.ranges = wide
    }
}
