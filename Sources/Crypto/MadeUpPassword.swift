/// A generated password.
public enum MadeUpPassword {
    /// Returns four groups of four letters and digits that can't be confused with each other: 80 bits.
    ///
    /// - Throws: `CryptoError` if the system has no randomness.
    public static func make() throws -> String {
        let symbols = Array("abcdefghijkmnpqrstuvwxyz23456789")
        let bytes = try RandomBytes.make(count: 16)
        return stride(from: 0, to: bytes.count, by: 4).map { start in
            String(bytes[start..<start + 4].map { symbols[Int($0) % symbols.count] })
        }.joined(separator: "-")
    }
}
