public import Foundation
internal import System

/// A participant of a share.
/// - Note: Coming: with sharing.
public final class CKShareParticipant: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    // Sendable because all mutable state is behind a lock.

    /// A participant's ID within the share.
    public typealias ID = String
    /// A participant's role. The values are Apple's.
    public typealias Role = CKShareParticipantRole
    /// The permission of a participant.
    public typealias Permission = CKShareParticipantPermission
    /// The state of an invitation.
    public typealias AcceptanceStatus = CKShareParticipantAcceptanceStatus
    /// A participant's role, in older terms.
    public typealias ParticipantType = CKShareParticipantType

    private struct State {
        var role: Role
        var permission: Permission
    }

    /// The participant's identity.
    public let userIdentity: CKUserIdentity
    /// The participant's ID within the share.
    public let participantID: ID
    /// The state of the invitation.
    public let acceptanceStatus: AcceptanceStatus
    private let state: Lock<State>

    init(
        _ userIdentity: CKUserIdentity, participantID: ID, role: Role, permission: Permission,
        acceptanceStatus: AcceptanceStatus
    ) {
        self.userIdentity = userIdentity
        self.participantID = participantID
        self.acceptanceStatus = acceptanceStatus
        state = Lock(State(role: role, permission: permission))
    }

    /// Makes a participant without an identity: the first user that opens `CKShare.oneTimeURL(for:)`.
    public class func oneTimeURLParticipant() -> CKShareParticipant {
        CKShareParticipant(
            CKUserIdentity(lookupInfo: nil), participantID: SystemRandomSource().nextUUID(),
            role: .privateUser,
            permission: .readOnly, acceptanceStatus: .pending)
    }

    /// True if the participant has requested access: never, because access can't be requested yet.
    public var isApprovedRequester: Bool { false }
    /// The date at which the participant got access; nil, because shares can't be saved yet.
    public var dateAddedToShare: Date? { nil }

    /// The participant's role.
    public var role: Role {
        get { state.withLock { $0.role } }
        set { state.withLock { $0.role = newValue } }
    }

    /// The participant's permission.
    public var permission: Permission {
        get { state.withLock { $0.permission } }
        set { state.withLock { $0.permission = newValue } }
    }

    /// The participant's role, in older terms.
    @available(*, deprecated, renamed: "role")
    public var type: ParticipantType {
        get { ParticipantType(rawValue: role.rawValue) ?? .unknown }
        set { role = Role(rawValue: newValue.rawValue) ?? .unknown }
    }

    /// Returns a copy.
    public func copy(with zone: NSZone? = nil) -> Any {
        CKShareParticipant(
            userIdentity, participantID: participantID, role: role, permission: permission,
            acceptanceStatus: acceptanceStatus)
    }

    /// Returns true if `object` is the same participant.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CKShareParticipant else { return false }
        return other.participantID == participantID && other.userIdentity == userIdentity
    }

    /// Hash value. Equal for equal objects.
    public override var hash: Int { participantID.hashValue }

    // MARK: Archives (keys as Apple's)

    /// Participants can be read from archives with secure coding.
    public static var supportsSecureCoding: Bool { true }

    /// Encodes the participant in a keyed archive.
    public func encode(with coder: NSCoder) {
        coder.encode(userIdentity, forKey: "UserIdentity")
        coder.encode(participantID as NSString, forKey: "ParticipantID")
        coder.encode(role.rawValue, forKey: "Type")
        coder.encode(permission.rawValue, forKey: "Permission")
        coder.encode(acceptanceStatus.rawValue, forKey: "AcceptanceStatus")
    }

    /// Reads a participant from a keyed archive; nil if it has none.
    public convenience init?(coder: NSCoder) {
        guard let identity = coder.object(CKUserIdentity.self, forKey: "UserIdentity") else { return nil }
        self.init(
            identity, participantID: coder.string(forKey: "ParticipantID") ?? "",
            role: Role(rawValue: coder.decodeInteger(forKey: "Type")) ?? .unknown,
            permission: Permission(rawValue: coder.decodeInteger(forKey: "Permission")) ?? .unknown,
            acceptanceStatus: AcceptanceStatus(rawValue: coder.decodeInteger(forKey: "AcceptanceStatus"))
                ?? .unknown)
    }
}

/// A participant's role. The values are Apple's.
public enum CKShareParticipantRole: Int, Sendable {
    /// Unknown.
    case unknown = 0
    /// The owner of the records.
    case owner = 1
    /// A participant that may invite others.
    case administrator = 2
    /// An invited participant.
    case privateUser = 3
    /// A participant by the URL.
    case publicUser = 4
}

/// A participant's role, in older terms.
public enum CKShareParticipantType: Int, Sendable {
    /// Unknown.
    case unknown = 0
    /// The owner of the records.
    case owner = 1
    /// An invited participant.
    case privateUser = 3
    /// A participant by the URL.
    case publicUser = 4
}

/// The permission of a participant. The values are Apple's.
public enum CKShareParticipantPermission: Int, Sendable {
    /// Unknown.
    case unknown = 0
    /// Nothing.
    case none = 1
    /// Read it.
    case readOnly = 2
    /// Read and change it.
    case readWrite = 3
}

/// The state of an invitation. The values are Apple's.
public enum CKShareParticipantAcceptanceStatus: Int, Sendable {
    /// Unknown.
    case unknown = 0
    /// Not yet.
    case pending = 1
    /// Yes.
    case accepted = 2
    /// No longer.
    case removed = 3
}
