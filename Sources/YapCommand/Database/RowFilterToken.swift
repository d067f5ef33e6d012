import Foundation
import Yap

/// A word or sign of a condition, and its position.
struct RowFilterToken: Equatable {
    enum Kind: Equatable {
        /// A name without quotes: a property or a word of the language.
        case name(String)
        /// A name in backticks: a property.
        case quotedName(String)
        case value(StoredValue)
        case sign(String)
        case end
    }

    let kind: Kind
    /// The character, from 1.
    let column: Int

    private static let signs = [
        "==", "!=", "<>", "<=", ">=", "&&", "||", "=", "<", ">", "(", ")", "[", "]", ".", ",", "!",
    ]

    /// Splits a text into tokens.
    ///
    /// - Throws: `PlaceError`.
    static func tokens(_ text: String) throws -> [RowFilterToken] {
        let characters = Array(text)
        var (position, tokens) = (0, [RowFilterToken]())
        while position < characters.count {
            let (character, column) = (characters[position], position + 1)
            if character.isWhitespace {
                position += 1
            } else if character == "\"" || character == "'" || character == "`" {
                let text = try quoted(characters, &position)
                tokens.append(
                    Self(kind: character == "`" ? .quotedName(text) : .value(.text(text)), column: column))
            } else if character.isASCII && character.isNumber || isMinusOfNumber(characters, position) {
                tokens.append(Self(kind: .value(try number(characters, &position)), column: column))
            } else if isNameStart(character) {
                let start = position
                while position < characters.count,
                    isNameStart(characters[position])
                        || characters[position].isNumber
                { position += 1 }
                tokens.append(Self(kind: .name(String(characters[start..<position])), column: column))
            } else if let sign = signs.first(where: { characters[position...].starts(with: $0) }) {
                position += sign.count
                tokens.append(Self(kind: .sign(sign), column: column))
            } else {
                throw PlaceError(
                    column: column, text: "\(Shown.word(String(character))) is not a part of a condition")
            }
        }
        return tokens + [Self(kind: .end, column: characters.count + 1)]
    }

    private static func isNameStart(_ character: Character) -> Bool {
        character.isLetter || character == "_" || character == "$"
    }

    private static func isMinusOfNumber(_ characters: [Character], _ position: Int) -> Bool {
        characters[position] == "-" && position + 1 < characters.count && characters[position + 1].isASCII
            && characters[position + 1].isNumber
    }

    private static func quoted(_ characters: [Character], _ position: inout Int) throws -> String {
        let (quote, start) = (characters[position], position)
        var text = ""
        position += 1
        while position < characters.count {
            let character = characters[position]
            position += 1
            if character == quote { return text }
            guard character == "\\", quote != "`" else {
                text.append(character)
                continue
            }
            guard position < characters.count else { break }
            let escapes: [Character: Character] = [
                "n": "\n", "t": "\t", "r": "\r", "\\": "\\", "\"": "\"", "'": "'",
            ]
            guard let escaped = escapes[characters[position]] else {
                throw PlaceError(column: position, text: "unknown escape; \\\\ is a backslash")
            }
            text.append(escaped)
            position += 1
        }
        throw PlaceError(column: start + 1, text: "the quote has no end")
    }

    private static func number(_ characters: [Character], _ position: inout Int) throws -> StoredValue {
        let start = position
        while position < characters.count,
            characters[position].isLetter || characters[position].isNumber
                || ".+-:".contains(characters[position])
        {
            position += 1
        }
        let text = String(characters[start..<position])
        if let value = Int64(text) { return .integer(value) }
        if let value = UInt64(text) { return .unsigned(value) }
        if text.allSatisfy({ "0123456789.+-eE".contains($0) }), let value = Double(text), value.isFinite {
            return .double(value)
        }
        if let time = TimeText.milliseconds(text) {
            let date = Date(timeIntervalSince1970: Double(time.first) / 1000)
            return .double(date.timeIntervalSinceReferenceDate)
        }
        throw PlaceError(
            column: start + 1,
            text: "\(Shown.word(text)) is neither a number nor a time as 2026-11-25 or 2026-11-25T10:34:25Z")
    }
}
