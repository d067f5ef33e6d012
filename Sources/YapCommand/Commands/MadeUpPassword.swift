import Crypto

/// A password that a command makes up.
enum MadeUpPassword {
    /// Four groups of four letters and digits that can't be mistaken for each other: 80 bits.
    static func make() throws -> String {
        let symbols = Array("abcdefghijkmnpqrstuvwxyz23456789")
        let bytes = try RandomBytes.make(count: 16)
        return stride(from: 0, to: bytes.count, by: 4).map { start in
            String(bytes[start..<start + 4].map { symbols[Int($0) % symbols.count] })
        }.joined(separator: "-")
    }

    static func tell(_ password: String, _ console: Console) throws {
        try console.print("password \(password)")
        try console.print("It is shown this once: the server keeps only what checks it.")
    }
}
