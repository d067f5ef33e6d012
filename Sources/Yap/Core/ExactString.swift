import System

/// A name that is equal only to the same bytes, as in SQLite.
///
/// Swift considers "é" and "e" with a combining accent equal, but on disk they are two rows. A cache that mixed them
/// up would return, and write, the wrong one.
struct ExactString: Hashable, Sendable {
    let string: String

    init(_ string: String) {
        self.string = string
    }

    // The hash of the string is sufficient: the same bytes have the same hash.
    static func == (left: ExactString, right: ExactString) -> Bool {
        left.string.hasSameBytes(as: right.string)
    }
}
