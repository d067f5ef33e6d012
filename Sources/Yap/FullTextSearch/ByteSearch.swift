/// Finds all places of some bytes in others, also those that overlap, in time linear in both (Knuth, Morris and Pratt).
struct ByteSearch {
    private let part: [UInt8]
    /// By length of a beginning of the part: length of the longest shorter beginning that is also its end.
    private var borders = [0, 0]
    /// Number of bytes that were compared.
    private(set) var stepsCount = 0

    /// - Parameter part: The bytes to look for; at least one.
    init(_ part: [UInt8]) {
        self.part = part
        var length = 0
        for place in part.indices.dropFirst() {
            length = extended(length, by: part[place])
            borders.append(length)
        }
    }

    /// Calls `body` with each place in `bytes` at which the part begins, in ascending order.
    mutating func forEachStart(in bytes: [UInt8], _ body: (Int) -> Void) {
        guard !part.isEmpty else { return }
        var length = 0
        for (place, byte) in bytes.enumerated() {
            if length == part.count { length = borders[length] }
            length = extended(length, by: byte)
            if length == part.count { body(place + 1 - length) }
        }
    }

    /// Length of the longest beginning of the part that ends with `byte` after a beginning of this length.
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
