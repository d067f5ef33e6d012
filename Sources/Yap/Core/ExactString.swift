import System

/// A name that is equal only to the same bytes, as in SQLite.
///
/// Swift takes "é" and "e" with a combining accent for one string. On disk they are two rows: a cache that took
/// them for one would give, and write, the wrong one.
struct ExactString: Hashable, Sendable {
    let string: String

    init(_ string: String) {
        self.string = string
    }

    // The hash stays that of the string: the same bytes have the same one.
    static func == (left: ExactString, right: ExactString) -> Bool {
        left.string.hasSameBytes(as: right.string)
    }
}
