import COpenSSL

/// A public key on the curve P-256 (also prime256v1, secp256r1), by which signatures are checked.
public struct P256PublicKey: Hashable, Sendable {
    /// The longest text of a key that is read, in bytes.
    public static let textBytesMax = 8 << 10

    /// The key as it may lie on disk: DER of a SubjectPublicKeyInfo.
    public let der: [UInt8]

    /// Reads a key that was stored as `der`.
    ///
    /// - Throws: `CryptoError.notAPublicKey` when it is none on this curve.
    public init(der: [UInt8]) throws {
        guard der.count <= Self.textBytesMax else { throw CryptoError.notAPublicKey }
        let key = try EVPKey.reading(der: der)
        self.der = try key.publicDER()
    }

    /// Reads the text that `openssl ec -pubout` writes, `-----BEGIN PUBLIC KEY-----` and so on.
    ///
    /// - Throws: `CryptoError.notAPublicKey` when it holds none on this curve.
    public init(pem: String) throws {
        guard pem.utf8.count <= Self.textBytesMax else { throw CryptoError.notAPublicKey }
        der = try EVPKey.reading(pem: pem, isPrivate: false).publicDER()
    }

    /// Whether `signature`, in DER, is one of this key over the SHA-256 of `message`.
    ///
    /// - Throws: `CryptoError.failed` when OpenSSL has no memory. Bytes that are no signature are false.
    public func verifies(signature: [UInt8], of message: [UInt8]) throws -> Bool {
        // A signature on this curve has 72 bytes at most; what is longer isn't looked at.
        guard (8...80).contains(signature.count) else { return false }
        let key = try EVPKey.reading(der: der)
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
public struct P256PrivateKey: Sendable {
    /// The public key that belongs to it.
    public let publicKey: P256PublicKey
    /// The key's text, as `openssl ecparam -genkey` writes it: `-----BEGIN EC PRIVATE KEY-----` and so on.
    public let pem: String

    /// Makes a new key.
    ///
    /// - Throws: `CryptoError.failed` when OpenSSL has no memory or no randomness.
    public init() throws {
        guard let pointer = yap_p256_generate() else { throw CryptoError.last("a key") }
        let key = EVPKey(pointer)
        pem = try key.privatePEM()
        publicKey = try P256PublicKey(der: key.publicDER())
    }

    /// Reads a key's text.
    ///
    /// - Throws: `CryptoError.notAPrivateKey` when it holds none on this curve.
    public init(pem: String) throws {
        guard pem.utf8.count <= P256PublicKey.textBytesMax else { throw CryptoError.notAPrivateKey }
        let key = try EVPKey.reading(pem: pem, isPrivate: true)
        self.pem = try key.privatePEM()
        publicKey = try P256PublicKey(der: key.publicDER())
    }

    /// Signs the SHA-256 of `message`: DER, another each time.
    public func signature(of message: [UInt8]) throws -> [UInt8] {
        let key = try EVPKey.reading(pem: pem, isPrivate: true)
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

/// OpenSSL's object of a key, freed with this one.
private final class EVPKey {
    let pointer: OpaquePointer

    init(_ pointer: OpaquePointer) { self.pointer = pointer }

    deinit { EVP_PKEY_free(pointer) }

    static func reading(der: [UInt8]) throws -> EVPKey {
        let pointer = der.withUnsafeBufferPointer { bytes -> OpaquePointer? in
            var start = bytes.baseAddress
            let pointer = d2i_PUBKEY(nil, &start, bytes.count)
            // What follows the key would be kept and shown, and is nobody's word.
            guard let pointer, start == bytes.baseAddress.map({ $0 + bytes.count }) else {
                EVP_PKEY_free(pointer)
                return nil
            }
            return pointer
        }
        return try checked(pointer, otherwise: .notAPublicKey)
    }

    static func reading(pem: String, isPrivate: Bool) throws -> EVPKey {
        let bytes = Array(pem.utf8)
        let pointer = try bytes.withUnsafeBytes { bytes -> OpaquePointer? in
            guard let file = yap_bio_reading(bytes.baseAddress, Int32(bytes.count)) else {
                throw CryptoError.last("a key")
            }
            defer { BIO_free(file) }
            return isPrivate ? yap_pem_private_key(file) : yap_pem_public_key(file)
        }
        return try checked(pointer, otherwise: isPrivate ? .notAPrivateKey : .notAPublicKey)
    }

    /// A key of another kind or curve, or a point beside the curve, is none.
    private static func checked(
        _ pointer: OpaquePointer?, otherwise error: CryptoError
    ) throws -> EVPKey {
        defer { ERR_clear_error() }
        guard let pointer else { throw error }
        let key = EVPKey(pointer)
        var name = [CChar](repeating: 0, count: 64)
        var count = 0
        guard EVP_PKEY_get_group_name(pointer, &name, name.count, &count) == 1,
            name.prefix(count).map({ UInt8(bitPattern: $0) }) == Array("prime256v1".utf8),
            let context = EVP_PKEY_CTX_new(pointer, nil)
        else { throw error }
        defer { EVP_PKEY_CTX_free(context) }
        guard EVP_PKEY_public_check(context) == 1 else { throw error }
        return key
    }

    func publicDER() throws -> [UInt8] {
        try written { i2d_PUBKEY_bio($0, pointer) }
    }

    func privatePEM() throws -> String {
        let bytes = try written { file in
            PEM_write_bio_PrivateKey_traditional(file, pointer, nil, nil, 0, nil, nil)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private func written(_ write: (OpaquePointer) -> Int32) throws -> [UInt8] {
        guard let file = BIO_new(BIO_s_mem()) else { throw CryptoError.last("a key") }
        defer { BIO_free(file) }
        guard write(file) == 1 else { throw CryptoError.last("a key") }
        var start: UnsafeMutablePointer<CChar>?
        let count = yap_bio_bytes(file, &start)
        guard let start, count > 0 else { throw CryptoError.last("a key") }
        return UnsafeBufferPointer(start: start, count: count).map { UInt8(bitPattern: $0) }
    }
}
