import COpenSSL

/// SHA-256 (FIPS 180-4), in one call or piece by piece.
///
///     var hash = try SHA256()
///     try hash.update(header)
///     try hash.update(body)
///     let digest = try hash.finish()
public struct SHA256: ~Copyable {
    /// Bytes of a digest.
    public static let digestBytes = 32

    private let context: OpaquePointer

    /// Starts a digest.
    ///
    /// - Throws: `CryptoError` if OpenSSL has no memory.
    public init() throws {
        context = try Self.makeContext()
    }

    deinit {
        EVP_MD_CTX_free(context)
    }

    /// Adds bytes to the digest.
    public mutating func update(_ bytes: [UInt8]) throws {
        try bytes.withUnsafeBytes { try update($0) }
    }

    /// Adds bytes to the digest.
    public mutating func update(_ bytes: UnsafeRawBufferPointer) throws {
        guard EVP_DigestUpdate(context, bytes.baseAddress, bytes.count) == 1 else {
            throw CryptoError.last("SHA-256")
        }
    }

    /// Returns the digest of all added bytes: 32 bytes.
    public consuming func finish() throws -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: Self.digestBytes)
        guard EVP_DigestFinal_ex(context, &digest, nil) == 1 else { throw CryptoError.last("SHA-256") }
        return digest
    }

    private static func makeContext() throws -> OpaquePointer {
        guard let context = EVP_MD_CTX_new() else { throw CryptoError.last("SHA-256") }
        guard EVP_DigestInit_ex(context, EVP_sha256(), nil) == 1 else {
            EVP_MD_CTX_free(context)
            throw CryptoError.last("SHA-256")
        }
        return context
    }

    /// Returns the digest of `bytes`: 32 bytes.
    public static func hash(_ bytes: [UInt8]) throws -> [UInt8] {
        try bytes.withUnsafeBytes { try hash($0) }
    }

    /// Returns the digest of the text's UTF-8: 32 bytes.
    public static func hash(_ text: String) throws -> [UInt8] {
        try hash(Array(text.utf8))
    }

    /// Returns the digest of `bytes`: 32 bytes.
    public static func hash(_ bytes: UnsafeRawBufferPointer) throws -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: digestBytes)
        guard EVP_Digest(bytes.baseAddress, bytes.count, &digest, nil, EVP_sha256(), nil) == 1 else {
            throw CryptoError.last("SHA-256")
        }
        return digest
    }
}

/// HMAC-SHA-256 (RFC 2104): a code that only the holder of a key can compute.
public enum HMACSHA256 {
    /// Returns the code of `message` under `key`: 32 bytes.
    ///
    /// - Throws: `CryptoError` if OpenSSL has no memory.
    public static func code(of message: [UInt8], key: [UInt8]) throws -> [UInt8] {
        var code = [UInt8](repeating: 0, count: SHA256.digestBytes)
        var count = UInt32(0)
        guard let length = Int32(exactly: key.count),
            HMAC(EVP_sha256(), key, length, message, message.count, &code, &count) != nil
        else { throw CryptoError.last("HMAC-SHA-256") }
        return code
    }

    /// Returns the code of the text's UTF-8 under `key`: 32 bytes.
    public static func code(of message: String, key: [UInt8]) throws -> [UInt8] {
        try code(of: Array(message.utf8), key: key)
    }
}
