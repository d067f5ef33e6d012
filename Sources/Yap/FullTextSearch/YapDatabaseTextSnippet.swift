/// An excerpt to return for each row that a search finds.
public struct YapDatabaseTextSnippet<Object: Sendable>: Sendable {
    /// Maximum words in an excerpt. A greater number is reduced to it.
    public static var wordsMax: Int { 1_000 }

    let column: YapDatabaseTextQuery<Object>.Column?
    /// Nil for the whole text.
    let words: Int?

    /// Returns the part of a property's text with the most words of the query.
    ///
    /// - Parameters:
    ///   - path: A property that is a column.
    ///   - words: Maximum number of words, from 1 to `wordsMax`. With `.trigram`, each stands for 5 characters.
    public static func of(_ path: any PartialKeyPath<Object> & Sendable, words: Int = 12) -> Self {
        Self(column: .path(path), words: max(1, min(words, wordsMax)))
    }

    /// Returns the part of a column's text with the most words of the query, by the column's name.
    public static func of(column name: String, words: Int = 12) -> Self {
        Self(column: .name(name), words: max(1, min(words, wordsMax)))
    }

    /// Returns a part of the column that has the most words of the query.
    public static func ofBestColumn(words: Int = 12) -> Self {
        Self(column: nil, words: max(1, min(words, wordsMax)))
    }

    /// Returns the whole text of a property that is a column, for example of a title.
    public static func whole(_ path: any PartialKeyPath<Object> & Sendable) -> Self {
        Self(column: .path(path), words: nil)
    }

    /// Returns the whole text of a column, by its name.
    public static func whole(column name: String) -> Self { Self(column: .name(name), words: nil) }
}

/// A part of an indexed text, with the matches of the query.
public struct YapDatabaseTextExcerpt: Hashable, Sendable {
    /// Name of the column of the text.
    public let column: String
    /// The text, with "…" at an end where it was cut. NUL characters of the original are spaces.
    public let text: String
    /// The matches in `text`, in ascending order and without overlap. Each consists of whole characters.
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
