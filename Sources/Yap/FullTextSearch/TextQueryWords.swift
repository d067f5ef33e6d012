import SQLite

/// Splits a query's text into words.
enum TextQueryWords {
    /// Splits a text at white space. FTS5 splits the words further, and searches the parts of a word as a phrase.
    static func split(_ text: String) -> [String] {
        text.unicodeScalars.split { $0.properties.isWhitespace || $0 == "\0" }.map { String($0) }
    }

    /// Returns a text without white space at its ends, and with spaces in place of NUL, which would end it in SQLite.
    static func phrase(_ text: String) -> String {
        let scalars = withoutNUL(text).unicodeScalars
        let isWord = { (scalar: Unicode.Scalar) in !scalar.properties.isWhitespace }
        guard let first = scalars.firstIndex(where: isWord), let last = scalars.lastIndex(where: isWord)
        else { return "" }
        return String(scalars[first...last])
    }

    /// Returns a text with a space in place of each NUL.
    static func withoutNUL(_ text: String) -> String {
        guard text.utf8.contains(0) else { return text }
        return String(String.UnicodeScalarView(text.unicodeScalars.map { $0 == "\0" ? " " : $0 }))
    }

    /// Quotes a text for FTS5.
    static func quoted(_ text: String) -> String {
        // By scalars: a quote with a combining accent is another character in Swift, but a quote in FTS5.
        var quoted = String.UnicodeScalarView("\"".unicodeScalars)
        for scalar in text.unicodeScalars {
            if scalar == "\"" { quoted.append(scalar) }
            quoted.append(scalar)
        }
        quoted.append("\"")
        return String(quoted)
    }
}

extension YapDatabaseTextQuery.Node {
    /// Texts that matching rows contain, with their forms, without excluded texts.
    var texts: [(text: String, form: YapDatabaseTextQuery.Form)] {
        switch self {
        case .text(let text, let form): [(text, form)]
        case .expression, .tooDeep: []
        case .and(let nodes), .or(let nodes): nodes.flatMap(\.texts)
        case .excluding(let node, _), .column(let node, _): node.texts
        }
    }

    /// The same including excluded texts and expressions.
    fileprivate var allTexts: [(text: String, form: YapDatabaseTextQuery.Form?)] {
        switch self {
        case .text(let text, let form): [(text, form)]
        case .expression(let text): [(text, nil)]
        case .and(let nodes), .or(let nodes): nodes.flatMap(\.allTexts)
        case .excluding(let node, let other): node.allTexts + other.allTexts
        case .column(let node, _): node.allTexts
        case .tooDeep: []
        }
    }

    private var isTooDeep: Bool {
        switch self {
        case .text, .expression: false
        case .and(let nodes), .or(let nodes): nodes.contains(where: \.isTooDeep)
        case .excluding(let node, let other): node.isTooDeep || other.isTooDeep
        case .column(let node, _): node.isTooDeep
        case .tooDeep: true
        }
    }

    var tooDeepError: YapDatabaseError {
        let max = YapDatabaseTextQuery<Object>.depthMax
        return YapDatabaseError(
            .invalidExtension, "more than \(max) queries are nested in each other: combine fewer")
    }

    /// Throws `invalidExtension` for a query that is too long or too deep.
    func checkLength() throws {
        typealias Query = YapDatabaseTextQuery<Object>
        if isTooDeep { throw tooDeepError }
        let texts = allTexts
        let bytes = texts.reduce(0) { $0 + $1.text.utf8.count }
        guard bytes <= Query.bytesMax else {
            throw YapDatabaseError(
                .invalidExtension,
                "the query has \(bytes) bytes of text, more than \(Query.bytesMax): shorten the text")
        }
        // A text without a word takes space in the query too.
        let words = texts.reduce(0) { $0 + max(1, TextQueryWords.split($1.text).count) }
        guard words <= Query.wordsMax else {
            throw YapDatabaseError(
                .invalidExtension,
                "the query has \(words) words, more than \(Query.wordsMax): shorten the text")
        }
    }

    /// True if a text is too short for the index of trigrams.
    var hasShortText: Bool {
        allTexts.contains { text, form in
            guard let form else { return false }
            return form.parts(of: text).contains { $0.unicodeScalars.count < 3 }
        }
    }
}

extension YapDatabaseTextQuery {
    /// Returns true if an error of SQLite is caused by a mistake in an `.expression` of the query.
    func isMistaken(_ error: YapDatabaseError) -> Bool {
        guard error.code == .sqlite, let cause = error.underlying as? SQLiteError else { return false }
        return cause.isMistake && node.hasExpression
    }
}

extension YapDatabaseTextQuery.Node {
    fileprivate var hasExpression: Bool { allTexts.contains { $0.form == nil } }
}

extension YapDatabaseTextQuery.Form {
    /// Returns the parts of a text that are searched individually.
    func parts(of text: String) -> [String] {
        guard self == .phrase else { return TextQueryWords.split(text) }
        let phrase = TextQueryWords.phrase(text)
        return phrase.isEmpty ? [] : [phrase]
    }
}
