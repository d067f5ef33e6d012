/// One entry of the tape: a value, or a key, of a JSON text. A value's descendants follow it.
struct JSONToken {
    enum Kind: UInt8 {
        case null, `true`, `false`, integer, number, string, array, object
    }

    let kind: Kind
    /// Of text only: whether it has escapes, so that its bytes are not its content.
    var hasEscapes = false
    /// Of text only: whether all of it is ASCII.
    var isASCII = true
    /// Of the outermost value only: whether members that a message doesn't know are kept.
    var keepsUnknown = true
    /// The offset of the first byte; of text, the one after the quote.
    let start: UInt32
    /// Bytes of a number, or of a text between its quotes.
    var byteCount: UInt32 = 0
    /// The index after the last descendant: where the next sibling is.
    var next: UInt32
    /// How many elements an array has, or members an object.
    var elementCount: UInt32 = 0
}
