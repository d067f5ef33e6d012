public import Foundation

/// Somebody who asked to be let into a share. There is none yet.
/// - Note: Coming: with sharing.
public final class CKShareAccessRequester: NSObject, NSSecureCoding, NSCopying, Sendable {
    /// Who it is.
    public let userIdentity: CKUserIdentity
    /// The lookup info that makes a participant of the user who asked.
    public let participantLookupInfo: CKUserIdentity.LookupInfo

    init(_ userIdentity: CKUserIdentity, lookupInfo: CKUserIdentity.LookupInfo) {
        self.userIdentity = userIdentity
        participantLookupInfo = lookupInfo
    }

    /// It never changes, so this is the object itself.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    /// Whether `object` is the same user.
    public override func isEqual(_ object: Any?) -> Bool {
        (object as? CKShareAccessRequester)?.userIdentity == userIdentity
    }

    /// The same for equal ones.
    public override var hash: Int { userIdentity.hash }

    /// It can be read from archives that name the classes they expect.
    public static var supportsSecureCoding: Bool { true }

    /// Writes it to a keyed archive.
    public func encode(with coder: NSCoder) {
        coder.encode(userIdentity, forKey: "UserIdentity")
        coder.encode(participantLookupInfo, forKey: "LookupInfo")
    }

    /// Reads it from a keyed archive; nil when it holds none.
    public init?(coder: NSCoder) {
        guard let identity = coder.object(CKUserIdentity.self, forKey: "UserIdentity"),
            let info = coder.object(CKUserIdentityLookupInfo.self, forKey: "LookupInfo")
        else { return nil }
        userIdentity = identity
        participantLookupInfo = info
    }
}

/// Somebody who may not ask to be let into a share. There is none yet.
/// - Note: Coming: with sharing.
public final class CKShareBlockedIdentity: NSObject, NSSecureCoding, NSCopying, Sendable {
    /// Who it is.
    public let userIdentity: CKUserIdentity

    init(_ userIdentity: CKUserIdentity) {
        self.userIdentity = userIdentity
    }

    /// It never changes, so this is the object itself.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    /// Whether `object` is the same user.
    public override func isEqual(_ object: Any?) -> Bool {
        (object as? CKShareBlockedIdentity)?.userIdentity == userIdentity
    }

    /// The same for equal ones.
    public override var hash: Int { userIdentity.hash }

    /// It can be read from archives that name the classes they expect.
    public static var supportsSecureCoding: Bool { true }

    /// Writes it to a keyed archive.
    public func encode(with coder: NSCoder) {
        coder.encode(userIdentity, forKey: "UserIdentity")
    }

    /// Reads it from a keyed archive; nil when it holds none.
    public init?(coder: NSCoder) {
        guard let identity = coder.object(CKUserIdentity.self, forKey: "UserIdentity") else { return nil }
        userIdentity = identity
    }
}

extension CKShare {
    /// Somebody who asked to be let in.
    public typealias AccessRequester = CKShareAccessRequester
    /// Somebody who may not ask.
    public typealias BlockedIdentity = CKShareBlockedIdentity

    /// Who asked to be let in: nobody, since no share was saved yet.
    /// - Note: Coming: with sharing.
    public var requesters: [AccessRequester] { [] }

    /// Who may not ask: nobody, since nobody asked yet.
    /// - Note: Coming: with sharing.
    public var blockedIdentities: [BlockedIdentity] { [] }

    /// Turns down who asked. Nobody did yet, so nothing changes.
    /// - Note: Coming: with sharing.
    public func denyRequesters(_ requesters: [AccessRequester]) {}

    /// Turns down who asked, for good. Nobody did yet, so nothing changes.
    /// - Note: Coming: with sharing.
    public func blockRequesters(_ requesters: [AccessRequester]) {}

    /// Lets them ask again. Nobody is blocked yet, so nothing changes.
    /// - Note: Coming: with sharing.
    public func unblockIdentities(_ blockedIdentities: [BlockedIdentity]) {}

    /// The address for a participant who is let in once: nil, since no share was saved yet.
    /// - Note: Coming: with sharing.
    public func oneTimeURL(for participantID: Participant.ID) -> URL? { nil }
}
