import COpenSSL
import Synchronization

/// OpenSSL's object of a key on P-256, freed with this object.
final class EVPKey: @unchecked Sendable {
    // Sendable because nothing changes the key after `init`, and OpenSSL protects its reference count and a key's
    // caches with locks of its own.
    let pointer: OpaquePointer

    init(_ pointer: OpaquePointer) { self.pointer = pointer }

    deinit { EVP_PKEY_free(pointer) }

    static func reading(der: [UInt8]) throws -> EVPKey {
        let pointer = der.withUnsafeBufferPointer { bytes -> OpaquePointer? in
            var start = bytes.baseAddress
            let pointer = d2i_PUBKEY(nil, &start, bytes.count)
            // Bytes after the key would be stored and shown although no signature covers them.
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

    /// Rejects a key of another kind or curve, and a point that isn't on the curve.
    private static func checked(
        _ pointer: OpaquePointer?, otherwise error: CryptoError
    ) throws -> EVPKey {
        P256KeyReads.counter?.add()
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

/// Counts how often a test's task has parsed and checked a key, which a signature must not require.
package final class P256KeyReads: Sendable {
    /// Counter of this task, or nil.
    @TaskLocal package static var counter: P256KeyReads?

    private let reads = Atomic(0)

    package init() {}

    /// Count so far.
    package var count: Int { reads.load(ordering: .relaxed) }

    func add() { reads.add(1, ordering: .relaxed) }
}
