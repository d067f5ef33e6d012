import COpenSSL

/// A public key on the curve P-256 (also prime256v1, secp256r1), by which signatures are checked.
///
/// Reading a key checks all of it, which costs several times a signature's check: keep the key.
public struct P256PublicKey: Hashable, Sendable {
    /// The longest text of a key that is read, in bytes.
    public static let textBytesMax = 8 << 10

    /// The key as it may lie on disk: DER of a SubjectPublicKeyInfo.
    public let der: [UInt8]
    private let key: EVPKey

    /// Reads a key that was stored as `der`.
    ///
    /// - Throws: `CryptoError.notAPublicKey` when it is none on this curve.
    public init(der: [UInt8]) throws {
        guard der.count <= Self.textBytesMax else { throw CryptoError.notAPublicKey }
        try self.init(EVPKey.reading(der: der))
    }

    /// Reads the text that `openssl ec -pubout` writes, `-----BEGIN PUBLIC KEY-----` and so on.
    ///
    /// - Throws: `CryptoError.notAPublicKey` when it holds none on this curve.
    public init(pem: String) throws {
        guard pem.utf8.count <= Self.textBytesMax else { throw CryptoError.notAPublicKey }
        try self.init(EVPKey.reading(pem: pem, isPrivate: false))
    }

    /// Takes a key that was read and checked.
    private init(_ key: EVPKey) throws {
        self.key = key
        der = try key.publicDER()
    }

    /// Whether both are the same key.
    public static func == (left: P256PublicKey, right: P256PublicKey) -> Bool { left.der == right.der }

    /// Hashes the key.
    public func hash(into hasher: inout Hasher) { hasher.combine(der) }

    /// Whether `signature`, in DER, is one of this key over the SHA-256 of `message`.
    ///
    /// - Throws: `CryptoError.failed` when OpenSSL has no memory. Bytes that are no signature are false.
    public func verifies(signature: [UInt8], of message: [UInt8]) throws -> Bool {
        // A signature on this curve has 72 bytes at most; what is longer isn't looked at.
        guard (8...80).contains(signature.count) else { return false }
        guard let context = EVP_MD_CTX_new() else { throw CryptoError.last("a signature") }
        defer { EVP_MD_CTX_free(context) }
        guard EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, key.pointer) == 1 else {
            throw CryptoError.last("a signature")
        }
        let code = EVP_DigestVerify(context, signature, signature.count, message, message.count)
        // What was wrong with the bytes is in OpenSSL's queue; it must not be taken for the next call's.
        ERR_clear_error()
        return code == 1
    }
}

/// A private key on the curve P-256, made here, to be given away once.
public struct P256PrivateKey: Hashable, Sendable {
    /// The public key that belongs to it.
    public let publicKey: P256PublicKey
    /// The key's text, as `openssl ecparam -genkey` writes it: `-----BEGIN EC PRIVATE KEY-----` and so on.
    public let pem: String
    private let key: EVPKey

    /// Makes a new key.
    ///
    /// - Throws: `CryptoError.failed` when OpenSSL has no memory or no randomness.
    public init() throws {
        guard let pointer = yap_p256_generate() else { throw CryptoError.last("a key") }
        try self.init(EVPKey(pointer))
    }

    /// Reads a key's text.
    ///
    /// - Throws: `CryptoError.notAPrivateKey` when it holds none on this curve.
    public init(pem: String) throws {
        guard pem.utf8.count <= P256PublicKey.textBytesMax else { throw CryptoError.notAPrivateKey }
        try self.init(EVPKey.reading(pem: pem, isPrivate: true))
    }

    private init(_ key: EVPKey) throws {
        self.key = key
        pem = try key.privatePEM()
        publicKey = try P256PublicKey(der: key.publicDER())
    }

    /// Whether both are the same key.
    public static func == (left: P256PrivateKey, right: P256PrivateKey) -> Bool { left.pem == right.pem }

    /// Hashes the key.
    public func hash(into hasher: inout Hasher) { hasher.combine(pem) }

    /// Signs the SHA-256 of `message`: DER, another each time.
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
