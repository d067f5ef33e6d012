import CloudStore
import CloudWire
import Crypto
import System

extension Endpoint {
    /// True if a server's request changes something, so that an intercepted request must not be executed
    /// again.
    var isChange: Bool {
        switch self {
        case .recordsModify, .assetsUpload, .assetsRereference: true
        default: false
        }
    }
}

/// The signed changes of the last minutes. Each is executed once.
///
/// The signed text is stored, because one text has many valid signatures. Reads may be repeated.
struct ServerSignatures {
    /// Maximum changes within the window. Further ones are rejected until it moves on.
    static let entriesMax = 100_000

    private var known: Set<[UInt8]> = []
    private var ends = FirstInFirstOut<(milliseconds: Int64, digest: [UInt8])>()

    var count: Int { known.count }

    /// Stores a message until it is too old to be accepted. Rejects one that is already stored.
    mutating func take(_ digest: [UInt8], until end: Int64, at now: Int64) throws {
        while let oldest = ends.first, oldest.milliseconds < now {
            known.remove(oldest.digest)
            _ = ends.popFirst()
        }
        guard known.count < Self.entriesMax else { throw ServiceError.tooManySignedChanges }
        guard known.insert(digest).inserted else { throw ServiceError.signedTwice }
        ends.append((end, digest))
    }

    /// Returns an unused key, checked in place of an unknown one.
    static func decoy() throws -> P256PublicKey {
        if let kept = kept.withLock({ $0 }) { return kept }
        let key = try P256PrivateKey().publicKey
        kept.withLock { $0 = key }
        return key
    }

    private static let kept = Lock<P256PublicKey?>(nil)
}

extension ServiceError {
    private static func signature(_ reason: String) -> WireError {
        WireError(.authenticationFailed, reason: reason, ckErrorCode: 9)
    }

    static let signedAndWithToken = signature("a request is signed or has a token, not both")
    static let signatureUnreadable = signature(
        "\(WireHeader.keyID), \(WireHeader.signedDate) and \(WireHeader.signature) go together")
    static let signatureTooOld = signature("the signed date is more than 10 minutes from the server's time")
    static let signedTwice = signature("this change was executed already: sign it again, with another date")

    static let tooManySignedChanges = WireError(
        .throttled, reason: "more than \(ServerSignatures.entriesMax) signed changes within 20 minutes",
        retryAfterSeconds: 60, ckErrorCode: 7)
}
