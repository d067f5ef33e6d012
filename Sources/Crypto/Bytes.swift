import COpenSSL

/// Random bytes from OpenSSL's cryptographic generator.
public enum RandomBytes {
    /// Returns random bytes.
    ///
    /// - Parameter count: Number of bytes.
    /// - Throws: `CryptoError` if the system has no randomness.
    public static func make(count: Int) throws -> [UInt8] {
        precondition(count >= 0 && count <= Int(Int32.max), "a count of random bytes")
        var bytes = [UInt8](repeating: 0, count: count)
        guard RAND_priv_bytes(&bytes, Int32(count)) == 1 else { throw CryptoError.last("random bytes") }
        return bytes
    }
}

/// Comparison in constant time.
public enum ConstantTime {
    /// Returns true if both are equal. The time depends on the lengths only.
    public static func equal(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        left.count == right.count && CRYPTO_memcmp(left, right, left.count) == 0
    }
}
