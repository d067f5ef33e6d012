/// How a full-text search splits texts and queries into words.
public enum YapDatabaseTextTokenizer: String, Sendable, CaseIterable {
    /// Words are runs of letters and digits. Case and diacritics are ignored: "cafe" finds "Café". The default.
    /// SQLite uses Unicode 6.1: newer emoji count as letters, older ones aren't found.
    case unicode
    /// Like `unicode`, with the endings of English words removed: "run" finds "running".
    case porter
    /// A word finds every text that contains it, also inside other words: for texts in scripts without spaces between
    /// words, and for parts of words. Case is ignored, diacritics aren't. The index takes about eight times the space
    /// of the other tokenizers.
    ///
    /// The index consists of each three consecutive characters. A query with a word of one or two characters reads
    /// the texts of all rows instead: its matches have the score 0, and case is ignored for ASCII letters only.
    case trigram

    /// Option of the FTS5 table.
    var option: String {
        switch self {
        case .unicode: "unicode61 remove_diacritics 2"
        case .porter: "porter unicode61 remove_diacritics 2"
        case .trigram: "trigram"
        }
    }

    /// Number of tokens in a snippet for each requested word.
    var tokensPerWord: Int { self == .trigram ? 5 : 1 }
}
