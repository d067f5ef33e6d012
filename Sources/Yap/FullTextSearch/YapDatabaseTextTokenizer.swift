/// How a full-text search splits texts and queries into words.
public enum YapDatabaseTextTokenizer: String, Sendable, CaseIterable {
    /// Words are runs of letters and digits. Case and diacritics don't count: "cafe" finds "Café". The default.
    /// SQLite decides by Unicode 6.1: newer emoji are letters to it, older ones are not found.
    case unicode
    /// As `unicode`, with the endings of English words removed: "run" finds "running".
    case porter
    /// A word finds every text that contains it, inside other words too: for texts in scripts without spaces between
    /// words, and for parts of words. Case doesn't count, diacritics do. The index takes about eight times the space of
    /// the other tokenizers.
    ///
    /// The index has each three consecutive characters. A query with a word of one or two characters reads the texts of
    /// all rows instead: its matches have the score 0, and only ASCII letters are equal in both cases.
    case trigram

    /// The option of the FTS5 table.
    var option: String {
        switch self {
        case .unicode: "unicode61 remove_diacritics 2"
        case .porter: "porter unicode61 remove_diacritics 2"
        case .trigram: "trigram"
        }
    }

    /// Number of tokens that a snippet has for each word that was requested.
    var tokensPerWord: Int { self == .trigram ? 5 : 1 }
}
