public import Foundation

/// A user that has requested access to a share. There is none yet.
/// - Note: Coming: with sharing.
public final class CKShareAccessRequester: NSObject, NSSecureCoding, NSCopying, Sendable {
    /// The user's identity.
    public let userIdentity: CKUserIdentity
    /// The lookup info that makes a participant of the user.
    public let participantLookupInfo: CKUserIdentity.LookupInfo

    init(_ userIdentity: CKUserIdentity, lookupInfo: CKUserIdentity.LookupInfo) {
        self.userIdentity = userIdentity
        participantLookupInfo = lookupInfo
    }

    /// Returns the object itself, because it never changes.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    /// Returns true if `object` is the same user.
    public override func isEqual(_ object: Any?) -> Bool {
        (object as? CKShareAccessRequester)?.userIdentity == userIdentity
    }

    /// Hash value. Equal for equal objects.
    public override var hash: Int { userIdentity.hash }

    /// It can be read from archives with secure coding.
    public static var supportsSecureCoding: Bool { true }

    /// Encodes it in a keyed archive.
    public func encode(with coder: NSCoder) {
        coder.encode(userIdentity, forKey: "UserIdentity")
        coder.encode(participantLookupInfo, forKey: "LookupInfo")
    }

    /// Reads it from a keyed archive; nil if it has none.
    public init?(coder: NSCoder) {
        guard let identity = coder.object(CKUserIdentity.self, forKey: "UserIdentity"),
            let info = coder.object(CKUserIdentityLookupInfo.self, forKey: "LookupInfo")
        else { return nil }
        userIdentity = identity
        participantLookupInfo = info
    }
}

/// A user that may not request access to a share. There is none yet.
/// - Note: Coming: with sharing.
public final class CKShareBlockedIdentity: NSObject, NSSecureCoding, NSCopying, Sendable {
    /// The user's identity.
    public let userIdentity: CKUserIdentity

    init(_ userIdentity: CKUserIdentity) {
        self.userIdentity = userIdentity
    }

    /// Returns the object itself, because it never changes.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    /// Returns true if `object` is the same user.
    public override func isEqual(_ object: Any?) -> Bool {
        (object as? CKShareBlockedIdentity)?.userIdentity == userIdentity
    }

    /// Hash value. Equal for equal objects.
    public override var hash: Int { userIdentity.hash }

    /// It can be read from archives with secure coding.
    public static var supportsSecureCoding: Bool { true }

    /// Encodes it in a keyed archive.
    public func encode(with coder: NSCoder) {
        coder.encode(userIdentity, forKey: "UserIdentity")
    }

    /// Reads it from a keyed archive; nil if it has none.
    public init?(coder: NSCoder) {
        guard let identity = coder.object(CKUserIdentity.self, forKey: "UserIdentity") else { return nil }
        userIdentity = identity
    }
}

extension CKShare {
    /// A user that has requested access.
    public typealias AccessRequester = CKShareAccessRequester
    /// A user that may not request access.
    public typealias BlockedIdentity = CKShareBlockedIdentity

    /// The users that have requested access: none, because shares can't be saved yet.
    /// - Note: Coming: with sharing.
    public var requesters: [AccessRequester] { [] }

    /// The users that may not request access: none, because access can't be requested yet.
    /// - Note: Coming: with sharing.
    public var blockedIdentities: [BlockedIdentity] { [] }

    /// Denies access to users that have requested it. There are none yet, so nothing changes.
    /// - Note: Coming: with sharing.
    public func denyRequesters(_ requesters: [AccessRequester]) {}

    /// Blocks users permanently. There are none yet, so nothing changes.
    /// - Note: Coming: with sharing.
    public func blockRequesters(_ requesters: [AccessRequester]) {}

    /// Allows users to request access again. None is blocked yet, so nothing changes.
    /// - Note: Coming: with sharing.
    public func unblockIdentities(_ blockedIdentities: [BlockedIdentity]) {}

    /// Returns the URL for a participant that may open it once: nil, because shares can't be saved yet.
    /// - Note: Coming: with sharing.
    public func oneTimeURL(for participantID: Participant.ID) -> URL? { nil }
}
