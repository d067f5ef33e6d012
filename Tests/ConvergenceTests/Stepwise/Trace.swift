/// What happened, a line an event. Equal seeds have equal traces, in every process.
struct Trace {
    /// The lines that are kept to be printed with a failure; the hash is over all.
    static let linesMax = 5_000

    private(set) var lines = [String]()
    private(set) var hash: UInt64 = 0xCBF2_9CE4_8422_2325

    mutating func note(_ line: String) {
        // FNV-1a.
        for byte in line.utf8 { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        hash = (hash ^ 0x0A) &* 0x0000_0100_0000_01B3
        if lines.count < Self.linesMax { lines.append(line) }
    }

    var hashText: String {
        let digits = String(hash, radix: 16, uppercase: true)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
