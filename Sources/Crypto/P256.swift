import COpenSSL

/// A public key on the curve P-256 (also prime256v1, secp256r1), to verify signatures.
///
/// Parsing a key checks it completely, which takes several times as long as verifying a signature: keep the key.
public struct P256PublicKey: Hashable, Sendable {
    /// Maximum bytes of a key's text.
    public static let textBytesMax = 8 << 10

    /// The key as DER of a SubjectPublicKeyInfo, for storage.
    public let der: [UInt8]
    private let key: EVPKey

    /// Parses a key that was stored as `der`.
    ///
    /// - Throws: `CryptoError.notAPublicKey` if it isn't a key on this curve.
    public init(der: [UInt8]) throws {
        guard der.count <= Self.textBytesMax else { throw CryptoError.notAPublicKey }
        try self.init(EVPKey.reading(der: der))
    }

    /// Parses the text that `openssl ec -pubout` writes, `-----BEGIN PUBLIC KEY-----` and so on.
    ///
    /// - Throws: `CryptoError.notAPublicKey` if it has no key on this curve.
    public init(pem: String) throws {
        guard pem.utf8.count <= Self.textBytesMax else { throw CryptoError.notAPublicKey }
        try self.init(EVPKey.reading(pem: pem, isPrivate: false))
    }

    /// Creates it from a parsed and checked key.
    private init(_ key: EVPKey) throws {
        self.key = key
        der = try key.publicDER()
    }

    /// Returns true if both are the same key.
    public static func == (left: P256PublicKey, right: P256PublicKey) -> Bool { left.der == right.der }

    /// Hashes the key.
    public func hash(into hasher: inout Hasher) { hasher.combine(der) }

    /// Returns true if `signature`, in DER, is valid for this key and the SHA-256 of `message`.
    ///
    /// - Throws: `CryptoError.failed` if OpenSSL has no memory. Returns false for bytes that aren't a signature.
    public func verifies(signature: [UInt8], of message: [UInt8]) throws -> Bool {
        // A signature on this curve has up to 72 bytes; longer ones are rejected.
        guard (8...80).contains(signature.count) else { return false }
        guard let context = EVP_MD_CTX_new() else { throw CryptoError.last("a signature") }
        defer { EVP_MD_CTX_free(context) }
        guard EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, key.pointer) == 1 else {
            throw CryptoError.last("a signature")
        }
        let code = EVP_DigestVerify(context, signature, signature.count, message, message.count)
        // OpenSSL's queue has the error of these bytes, which must not be mistaken for the next call's.
        ERR_clear_error()
        return code == 1
    }
}

/// A private key on the curve P-256, generated here, to be given to the user once.
public struct P256PrivateKey: Hashable, Sendable {
    /// The public key that belongs to it.
    public let publicKey: P256PublicKey
    /// The key's text, as `openssl ecparam -genkey` writes it: `-----BEGIN EC PRIVATE KEY-----` and so on.
    public let pem: String
    private let key: EVPKey

    /// Generates a key.
    ///
    /// - Throws: `CryptoError.failed` if OpenSSL has no memory or no randomness.
    public init() throws {
        guard let pointer = yap_p256_generate() else { throw CryptoError.last("a key") }
        try self.init(EVPKey(pointer))
    }

    /// Parses a key's text.
    ///
    /// - Throws: `CryptoError.notAPrivateKey` if it has no key on this curve.
    public init(pem: String) throws {
        guard pem.utf8.count <= P256PublicKey.textBytesMax else { throw CryptoError.notAPrivateKey }
        try self.init(EVPKey.reading(pem: pem, isPrivate: true))
    }

    private init(_ key: EVPKey) throws {
        self.key = key
        pem = try key.privatePEM()
        publicKey = try P256PublicKey(der: key.publicDER())
    }

    /// Returns true if both are the same key.
    public static func == (left: P256PrivateKey, right: P256PrivateKey) -> Bool { left.pem == right.pem }

    /// Hashes the key.
    public func hash(into hasher: inout Hasher) { hasher.combine(pem) }

    /// Signs the SHA-256 of `message`. Returns DER, which differs each time.
    public func signature(of message: [UInt8]) throws -> [UInt8] {
        guard let context = EVP_MD_CTX_new() else { throw CryptoError.last("a signature") }
        defer { EVP_MD_CTX_free(context) }
        var count = 80
        var signature = [UInt8](repeating: 0, count: count)
        guard EVP_DigestSignInit(context, nil, EVP_sha256(), nil, key.pointer) == 1,
            EVP_DigestSign(context, &signature, &count, message, message.count) == 1
        else { throw CryptoError.last("a signature") }
        return Array(signature.prefix(count))
    }
}
