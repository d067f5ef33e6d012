import CloudWire

/// What happened, a line an event. Equal seeds have equal traces, in every process.
struct Trace {
    /// The lines that are kept to be printed with a failure; the hash is over all.
    static let linesMax = 5_000

    private(set) var lines = [String]()
    private var hashing = FNV1a()
    var hash: UInt64 { hashing.hash }

    mutating func note(_ line: String) {
        hashing.add(line)
        hashing.add(UInt8(ascii: "\n"))
        if lines.count < Self.linesMax { lines.append(line) }
    }

    var hashText: String {
        let digits = String(hash, radix: 16, uppercase: true)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
