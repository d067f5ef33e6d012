/// An entry of the tape: a value or a key of a JSON text. The descendants of a value follow it.
struct JSONToken {
    enum Kind: UInt8 {
        case null, `true`, `false`, integer, number, string, array, object
    }

    let kind: Kind
    /// For a text: true if it has escapes, so that its bytes aren't its content.
    var hasEscapes = false
    /// For a text: true if all of it is ASCII.
    var isASCII = true
    /// For the outermost value: true if unknown members are kept.
    var keepsUnknown = true
    /// Offset of the first byte. For a text, of the byte after the quote.
    let start: UInt32
    /// Number of bytes of a number, or of a text without its quotes.
    var byteCount: UInt32 = 0
    /// Index after the last descendant, where the next sibling is.
    var next: UInt32
    /// Number of elements of an array or members of an object.
    var elementCount: UInt32 = 0
}
