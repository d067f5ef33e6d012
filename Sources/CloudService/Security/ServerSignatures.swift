import CloudStore
import CloudWire
import Crypto
import Seams

extension CloudService {
    /// The key by which the request is signed; and of a change the hash of what was signed.
    ///
    /// An unknown key, a revoked one and a wrong signature get the same answer after the same work.
    func checkSignature(
        of request: WireRequest, to route: ServiceRoute
    ) throws -> (key: ServiceServerKey, change: [UInt8]?) {
        guard request.queryItem(WireHeader.apiTokenItem) == nil,
            request.queryItem(WireHeader.webAuthTokenItem) == nil
        else { throw ServiceError.signedAndWithToken }
        guard let keyID = request.header(WireHeader.keyID), let target = request.rawTarget,
            let signed = SignedRequest(
                date: request.header(WireHeader.signedDate) ?? "",
                signature: request.header(WireHeader.signature) ?? "")
        else { throw ServiceError.signatureUnreadable }
        let now = clock.nowMilliseconds()
        guard abs(signed.milliseconds - now) <= SignedRequest.windowMilliseconds else {
            throw ServiceError.signatureTooOld
        }
        let key = try accounts.serverKey(keyID, container: Container(route))
        let path = SignedRequest.path(ofTarget: target)
        for message in try signed.messages(target: path, body: request.body) {
            let publicKey = try key?.publicKey ?? ServerSignatures.decoy()
            guard try publicKey.verifies(signature: signed.signature, of: message), let key else { continue }
            guard route.endpoint.isChange else { return (key, nil) }
            let digest = try SHA256.hash(Array("\(keyID)\n".utf8) + message)
            try serverSignatures.withLock {
                try $0.take(digest, until: signed.milliseconds + SignedRequest.windowMilliseconds, at: now)
            }
            return (key, digest)
        }
        throw ServiceError.authenticationFailed
    }

    /// The work of a signed change, which is done once however often the server is started anew: in its own transaction
    /// it is kept that it was done, with the kept answers and as long as they. In memory it would be forgotten.
    func once(signed change: [UInt8]?, _ work: ServiceWork) -> ServiceWork {
        guard let change, case .write(let body) = work else { return work }
        let key = OperationKey(
            database: .publicDatabase, user: "", operationID: "signed \(SignedRequest.base64(change))")
        return .write { writer in
            var wanted = StoreLoad()
            wanted.answers = [key]
            guard try writer.load(wanted).answers[key] == nil else { throw ServiceError.signedTwice }
            let answer = try body(writer)
            var changes = StoreChanges()
            changes.answers = [
                KeptAnswerRow(
                    key: key, requestHash: change, atMilliseconds: self.clock.nowMilliseconds(), answer: [])
            ]
            try writer.apply(changes)
            return answer
        }
    }
}

extension Endpoint {
    /// Whether a server's request changes something, and so must not be done twice because it was overheard.
    fileprivate var isChange: Bool {
        switch self {
        case .recordsModify, .assetsUpload, .assetsRereference: true
        default: false
        }
    }
}

/// The signed changes of the last minutes: each is done once.
///
/// What is remembered is what was signed, since one message has many signatures that fit. Reads may be repeated.
struct ServerSignatures {
    /// So many changes within the window; the next has to wait.
    static let entriesMax = 100_000

    private var known: Set<[UInt8]> = []
    private var ends = FirstInFirstOut<(milliseconds: Int64, digest: [UInt8])>()

    var count: Int { known.count }

    /// Remembers a message until it is too old to be taken; refuses one that is remembered.
    mutating func take(_ digest: [UInt8], until end: Int64, at now: Int64) throws {
        while let oldest = ends.first, oldest.milliseconds < now {
            known.remove(oldest.digest)
            _ = ends.popFirst()
        }
        guard known.count < Self.entriesMax else { throw ServiceError.tooManySignedChanges }
        guard known.insert(digest).inserted else { throw ServiceError.signedTwice }
        ends.append((end, digest))
    }

    /// A key that signs nothing, checked in the place of one that isn't there.
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
    static let signedTwice = signature("this change was made already: sign it anew, with another date")

    static let tooManySignedChanges = WireError(
        .throttled, reason: "more than \(ServerSignatures.entriesMax) signed changes within 20 minutes",
        retryAfterSeconds: 60, ckErrorCode: 7)
}
