public import Foundation
internal import System

/// Somebody who has a part in a share.
/// - Note: Coming: with sharing.
public final class CKShareParticipant: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    // Sendable because what an app may change is behind a lock.

    /// A participant's name within the share.
    public typealias ID = String
    /// What somebody is in a share; the values are Apple's.
    public typealias Role = CKShareParticipantRole
    /// What somebody may do.
    public typealias Permission = CKShareParticipantPermission
    /// Whether somebody has taken the invitation.
    public typealias AcceptanceStatus = CKShareParticipantAcceptanceStatus
    /// What somebody is in a share, in older words.
    public typealias ParticipantType = CKShareParticipantType

    private struct State {
        var role: Role
        var permission: Permission
    }

    /// Who it is.
    public let userIdentity: CKUserIdentity
    /// The participant's name within the share.
    public let participantID: ID
    /// Whether the participant has taken the invitation.
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

    /// Makes a participant whom nobody knows yet: who opens `CKShare.oneTimeURL(for:)` first.
    public class func oneTimeURLParticipant() -> CKShareParticipant {
        CKShareParticipant(
            CKUserIdentity(lookupInfo: nil), participantID: SystemRandomSource().nextUUID(),
            role: .privateUser,
            permission: .readOnly, acceptanceStatus: .pending)
    }

    /// Whether the participant asked to be let in: never, since nobody can ask yet.
    public var isApprovedRequester: Bool { false }
    /// When the participant was let in; nil, since no share was saved yet.
    public var dateAddedToShare: Date? { nil }

    /// What the participant is in the share.
    public var role: Role {
        get { state.withLock { $0.role } }
        set { state.withLock { $0.role = newValue } }
    }

    /// What the participant may do.
    public var permission: Permission {
        get { state.withLock { $0.permission } }
        set { state.withLock { $0.permission = newValue } }
    }

    /// What the participant is in the share, in older words.
    @available(*, deprecated, renamed: "role")
    public var type: ParticipantType {
        get { ParticipantType(rawValue: role.rawValue) ?? .unknown }
        set { role = Role(rawValue: newValue.rawValue) ?? .unknown }
    }

    /// A participant of its own with the same values.
    public func copy(with zone: NSZone? = nil) -> Any {
        CKShareParticipant(
            userIdentity, participantID: participantID, role: role, permission: permission,
            acceptanceStatus: acceptanceStatus)
    }

    /// Whether `object` is the same participant.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CKShareParticipant else { return false }
        return other.participantID == participantID && other.userIdentity == userIdentity
    }

    /// The same for equal participants.
    public override var hash: Int { participantID.hashValue }

    // MARK: Archives (keys as Apple's)

    /// Participants can be read from archives that name the classes they expect.
    public static var supportsSecureCoding: Bool { true }

    /// Writes the participant to a keyed archive.
    public func encode(with coder: NSCoder) {
        coder.encode(userIdentity, forKey: "UserIdentity")
        coder.encode(participantID as NSString, forKey: "ParticipantID")
        coder.encode(role.rawValue, forKey: "Type")
        coder.encode(permission.rawValue, forKey: "Permission")
        coder.encode(acceptanceStatus.rawValue, forKey: "AcceptanceStatus")
    }

    /// Reads a participant from a keyed archive; nil when it holds none.
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

/// What somebody is in a share; the values are Apple's.
public enum CKShareParticipantRole: Int, Sendable {
    /// It isn't known.
    case unknown = 0
    /// Whose records they are.
    case owner = 1
    /// Who may invite others.
    case administrator = 2
    /// Who was invited.
    case privateUser = 3
    /// Who came by the address.
    case publicUser = 4
}

/// What somebody is in a share, in older words.
public enum CKShareParticipantType: Int, Sendable {
    /// It isn't known.
    case unknown = 0
    /// Whose records they are.
    case owner = 1
    /// Who was invited.
    case privateUser = 3
    /// Who came by the address.
    case publicUser = 4
}

/// What somebody may do with what is shared; the values are Apple's.
public enum CKShareParticipantPermission: Int, Sendable {
    /// It isn't known.
    case unknown = 0
    /// Nothing.
    case none = 1
    /// Read it.
    case readOnly = 2
    /// Read and change it.
    case readWrite = 3
}

/// Whether somebody has taken an invitation; the values are Apple's.
public enum CKShareParticipantAcceptanceStatus: Int, Sendable {
    /// It isn't known.
    case unknown = 0
    /// Not yet.
    case pending = 1
    /// Yes.
    case accepted = 2
    /// No longer.
    case removed = 3
}
