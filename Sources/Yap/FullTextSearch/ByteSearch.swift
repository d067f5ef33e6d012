/// Finds all occurrences of a byte string in another, including overlapping ones, in linear time (Knuth, Morris and
/// Pratt).
struct ByteSearch {
    private let part: [UInt8]
    /// Length of the longest proper border of each prefix of the part, by the prefix's length.
    private var borders = [0, 0]
    /// Number of compared bytes.
    private(set) var stepsCount = 0

    /// - Parameter part: The bytes to find; at least one.
    init(_ part: [UInt8]) {
        self.part = part
        var length = 0
        for place in part.indices.dropFirst() {
            length = extended(length, by: part[place])
            borders.append(length)
        }
    }

    /// Calls `body` with the start of each occurrence in `bytes`, in ascending order.
    mutating func forEachStart(in bytes: [UInt8], _ body: (Int) -> Void) {
        guard !part.isEmpty else { return }
        var length = 0
        for (place, byte) in bytes.enumerated() {
            if length == part.count { length = borders[length] }
            length = extended(length, by: byte)
            if length == part.count { body(place + 1 - length) }
        }
    }

    /// Returns the length of the match after `byte` follows a match of `length` bytes. A match is a prefix of
    /// the part. If `byte` doesn't continue it, the longest shorter prefix that `byte` completes is the new
    /// match.
    private mutating func extended(_ length: Int, by byte: UInt8) -> Int {
        var length = length
        while true {
            stepsCount += 1
            if part[length] == byte { return length + 1 }
            if length == 0 { return 0 }
            length = borders[length]
        }
    }
}
