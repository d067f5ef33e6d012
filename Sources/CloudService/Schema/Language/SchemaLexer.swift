/// A token of a schema's text.
struct SchemaToken {
    enum Kind: Equatable {
        /// An unquoted word: a keyword or a name.
        case word(String)
        /// A quoted name, never a keyword.
        case quoted(String)
        case symbol(UInt8)
        case end
    }

    let kind: Kind
    let line: Int
    let column: Int

    /// The token in error messages.
    var shown: String {
        switch kind {
        case .word(let text): "'\(Self.shortened(text))'"
        case .quoted(let text): "\"\(Self.shortened(text))\""
        case .symbol(let byte): "'\(Character(Unicode.Scalar(byte)))'"
        case .end: "the end of the text"
        }
    }

    /// Truncates the text, so that error messages stay short.
    private static func shortened(_ text: String) -> String {
        text.utf8.count > 60 ? text.prefix(60) + "..." : text
    }

    func error(_ reason: String) -> SchemaTextError {
        SchemaTextError(line: line, column: column, reason: reason)
    }
}

/// Splits a schema's text into tokens, and discards spaces and comments.
struct SchemaLexer {
    private let bytes: [UInt8]
    private var position = 0
    private var line = 1
    private var column = 1

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    mutating func next() throws(SchemaTextError) -> SchemaToken {
        try skipSpaceAndComments()
        let start = (line: line, column: column)
        func token(_ kind: SchemaToken.Kind) -> SchemaToken {
            SchemaToken(kind: kind, line: start.line, column: start.column)
        }
        guard let byte = peek() else { return token(.end) }
        if byte == 0x22 { return token(.quoted(try quotedName())) }
        if Self.isLetter(byte) || byte == 0x5F {
            let from = position
            while let byte = peek(), Self.isLetter(byte) || Self.isDigit(byte) || byte == 0x5F { advance() }
            return token(.word(String(decoding: bytes[from..<position], as: UTF8.self)))
        }
        if Self.symbols.contains(byte) {
            advance()
            return token(.symbol(byte))
        }
        throw here("this character means nothing in a schema; a name like this needs double quotes")
    }

    // ( ) , ; < >
    private static let symbols: [UInt8] = [0x28, 0x29, 0x2C, 0x3B, 0x3C, 0x3E]

    static func isLetter(_ byte: UInt8) -> Bool { 0x41...0x5A ~= byte || 0x61...0x7A ~= byte }
    static func isDigit(_ byte: UInt8) -> Bool { 0x30...0x39 ~= byte }

    private func peek(_ offset: Int = 0) -> UInt8? {
        position + offset < bytes.count ? bytes[position + offset] : nil
    }

    private mutating func advance() {
        let byte = bytes[position]
        position += 1
        if byte == 0x0A {
            line += 1
            column = 1
        } else if byte & 0xC0 != 0x80 {
            column += 1
        }
    }

    private func here(_ reason: String) -> SchemaTextError {
        SchemaTextError(line: line, column: column, reason: reason)
    }

    private mutating func skipSpaceAndComments() throws(SchemaTextError) {
        while let byte = peek() {
            switch (byte, peek(1)) {
            case (0x20, _), (0x09, _), (0x0A, _), (0x0D, _):
                advance()
            case (0x2F, 0x2F), (0x2D, 0x2D):
                while let byte = peek(), byte != 0x0A { advance() }
            case (0x2F, 0x2A):
                try skipBlockComment()
            default:
                return
            }
        }
    }

    private mutating func skipBlockComment() throws(SchemaTextError) {
        let opening = here("a comment that begins here with '/*' has no '*/'")
        advance()
        advance()
        while peek() != nil {
            if peek() == 0x2A && peek(1) == 0x2F {
                advance()
                advance()
                return
            }
            advance()
        }
        throw opening
    }

    /// Returns a name in double quotes. A double quote in the name is doubled.
    private mutating func quotedName() throws(SchemaTextError) -> String {
        let opening = here("a name that begins here with a double quote has no other one in its line")
        advance()
        var name: [UInt8] = []
        while let byte = peek(), byte != 0x0A {
            guard 0x20..<0x7F ~= byte else {
                throw here("a name has ASCII characters, none a control character")
            }
            advance()
            if byte == 0x22 {
                guard peek() == 0x22 else {
                    guard 1...SchemaLanguage.nameBytesMax ~= name.count else {
                        throw SchemaTextError(
                            line: opening.line, column: opening.column,
                            reason: "a name must have 1 to \(SchemaLanguage.nameBytesMax) characters")
                    }
                    return String(decoding: name, as: UTF8.self)
                }
                advance()
            }
            name.append(byte)
        }
        throw opening
    }
}
