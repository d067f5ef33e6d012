import Crypto
import System

/// Cache of parsed public keys, because parsing one takes several times as long as checking a signature.
///
/// It outlives the cache of the control file's lookups, which each write to the file clears. The validity of
/// a key is looked up in the file.
final class PublicKeyCache: Sendable {
    /// Maximum keys kept. The next one clears the cache.
    static let keysMax = 1_000

    private let keys = Lock<[String: (der: [UInt8], key: P256PublicKey)]>([:])

    var count: Int { keys.withLock { $0.count } }

    /// Returns the key that was stored as `der`.
    ///
    /// - Throws: `CryptoError.notAPublicKey` if it isn't a public key.
    func key(id: String, der: [UInt8]) throws -> P256PublicKey {
        if let kept = keys.withLock({ $0[id] }), kept.der == der { return kept.key }
        let key = try P256PublicKey(der: der)
        keys.withLock { keys in
            if keys.count >= Self.keysMax { keys = [:] }
            keys[id] = (der, key)
        }
        return key
    }

    /// Removes a revoked key from the cache.
    func drop(id: String) {
        keys.withLock { keys in _ = keys.removeValue(forKey: id) }
    }
}
