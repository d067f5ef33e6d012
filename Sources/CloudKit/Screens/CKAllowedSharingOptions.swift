public import Foundation
internal import System

/// Who may be let into a share, as the share sheet offers it.
/// - Note: Inert: there is no share sheet on Linux.
public struct CKSharingParticipantAccessOption: OptionSet, Sendable, Hashable {
    /// The bits, as Apple numbers them.
    public let rawValue: UInt

    /// Makes the set with these bits.
    public init(rawValue: UInt) {
        self.rawValue = rawValue
    }

    /// Everybody who has the address.
    public static let anyoneWithLink = CKSharingParticipantAccessOption(rawValue: 1)
    /// Who was invited.
    public static let specifiedRecipientsOnly = CKSharingParticipantAccessOption(rawValue: 2)
    /// Both.
    public static let any: CKSharingParticipantAccessOption = [.anyoneWithLink, .specifiedRecipientsOnly]
}

/// What may be allowed to participants, as the share sheet offers it.
/// - Note: Inert: there is no share sheet on Linux.
public struct CKSharingParticipantPermissionOption: OptionSet, Sendable, Hashable {
    /// The bits, as Apple numbers them.
    public let rawValue: UInt

    /// Makes the set with these bits.
    public init(rawValue: UInt) {
        self.rawValue = rawValue
    }

    /// To read.
    public static let readOnly = CKSharingParticipantPermissionOption(rawValue: 1)
    /// To read and change.
    public static let readWrite = CKSharingParticipantPermissionOption(rawValue: 2)
    /// Both.
    public static let any: CKSharingParticipantPermissionOption = [.readOnly, .readWrite]
}

/// What the share sheet offers.
/// - Note: Inert: there is no share sheet on Linux; the values are kept, copied and archived.
public final class CKAllowedSharingOptions: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    // Sendable because all that changes is behind a lock.

    private struct Values: Hashable {
        var permissions: CKSharingParticipantPermissionOption
        var access: CKSharingParticipantAccessOption
        var allowsInvitingOthers = false
        var allowsAccessRequests = false
    }

    private let values: Lock<Values>

    /// Everything.
    public class var standard: CKAllowedSharingOptions {
        CKAllowedSharingOptions(
            allowedParticipantPermissionOptions: .any, allowedParticipantAccessOptions: .any)
    }

    /// Makes options.
    public convenience init(
        allowedParticipantPermissionOptions: CKSharingParticipantPermissionOption,
        allowedParticipantAccessOptions: CKSharingParticipantAccessOption
    ) {
        self.init(
            Values(
                permissions: allowedParticipantPermissionOptions, access: allowedParticipantAccessOptions))
    }

    private init(_ values: Values) {
        self.values = Lock(values)
    }

    /// What may be allowed to participants.
    public var allowedParticipantPermissionOptions: CKSharingParticipantPermissionOption {
        get { values.withLock { $0.permissions } }
        set { values.withLock { $0.permissions = newValue } }
    }

    /// Who may be let in.
    public var allowedParticipantAccessOptions: CKSharingParticipantAccessOption {
        get { values.withLock { $0.access } }
        set { values.withLock { $0.access = newValue } }
    }

    /// Whether participants may be allowed to invite others.
    public var allowsParticipantsToInviteOthers: Bool {
        get { values.withLock { $0.allowsInvitingOthers } }
        set { values.withLock { $0.allowsInvitingOthers = newValue } }
    }

    /// Whether others may be allowed to ask to be let in.
    public var allowsAccessRequests: Bool {
        get { values.withLock { $0.allowsAccessRequests } }
        set { values.withLock { $0.allowsAccessRequests = newValue } }
    }

    /// Options of their own with the same values.
    public func copy(with zone: NSZone? = nil) -> Any { CKAllowedSharingOptions(values.withLock { $0 }) }

    /// Whether `object` offers the same.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CKAllowedSharingOptions else { return false }
        return other === self || other.values.withLock { $0 } == values.withLock { $0 }
    }

    /// The same for equal options.
    public override var hash: Int { values.withLock { $0 }.hashValue }

    /// Options can be read from archives that name the classes they expect.
    public static var supportsSecureCoding: Bool { true }

    /// Writes the options to a keyed archive.
    public func encode(with coder: NSCoder) {
        let values = values.withLock { $0 }
        coder.encode(Int(values.permissions.rawValue), forKey: "PermissionOptions")
        coder.encode(Int(values.access.rawValue), forKey: "AccessOptions")
        coder.encode(values.allowsInvitingOthers, forKey: "AllowsInvitingOthers")
        coder.encode(values.allowsAccessRequests, forKey: "AllowsAccessRequests")
    }

    /// Reads options from a keyed archive.
    public init?(coder: NSCoder) {
        let permissions = UInt(clamping: coder.decodeInteger(forKey: "PermissionOptions"))
        let access = UInt(clamping: coder.decodeInteger(forKey: "AccessOptions"))
        values = Lock(
            Values(
                permissions: CKSharingParticipantPermissionOption(rawValue: permissions),
                access: CKSharingParticipantAccessOption(rawValue: access),
                allowsInvitingOthers: coder.decodeBool(forKey: "AllowsInvitingOthers"),
                allowsAccessRequests: coder.decodeBool(forKey: "AllowsAccessRequests")))
    }
}
