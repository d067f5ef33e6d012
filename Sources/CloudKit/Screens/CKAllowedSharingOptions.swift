public import Foundation
internal import System

/// The kinds of access that the share sheet offers.
/// - Note: Inert: there is no share sheet on Linux.
public struct CKSharingParticipantAccessOption: OptionSet, Sendable, Hashable {
    /// The bits, as Apple numbers them.
    public let rawValue: UInt

    /// Makes the set with these bits.
    public init(rawValue: UInt) {
        self.rawValue = rawValue
    }

    /// Everyone with the URL.
    public static let anyoneWithLink = CKSharingParticipantAccessOption(rawValue: 1)
    /// Invited users only.
    public static let specifiedRecipientsOnly = CKSharingParticipantAccessOption(rawValue: 2)
    /// Both.
    public static let any: CKSharingParticipantAccessOption = [.anyoneWithLink, .specifiedRecipientsOnly]
}

/// The permissions that the share sheet offers.
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

/// The options that the share sheet offers.
/// - Note: Inert: there is no share sheet on Linux; the values are stored, copied and archived.
public final class CKAllowedSharingOptions: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    // Sendable because all mutable state is behind a lock.

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

    /// The allowed permissions.
    public var allowedParticipantPermissionOptions: CKSharingParticipantPermissionOption {
        get { values.withLock { $0.permissions } }
        set { values.withLock { $0.permissions = newValue } }
    }

    /// The allowed kinds of access.
    public var allowedParticipantAccessOptions: CKSharingParticipantAccessOption {
        get { values.withLock { $0.access } }
        set { values.withLock { $0.access = newValue } }
    }

    /// True if participants may invite others.
    public var allowsParticipantsToInviteOthers: Bool {
        get { values.withLock { $0.allowsInvitingOthers } }
        set { values.withLock { $0.allowsInvitingOthers = newValue } }
    }

    /// True if others may request access.
    public var allowsAccessRequests: Bool {
        get { values.withLock { $0.allowsAccessRequests } }
        set { values.withLock { $0.allowsAccessRequests = newValue } }
    }

    /// Returns a copy.
    public func copy(with zone: NSZone? = nil) -> Any { CKAllowedSharingOptions(values.withLock { $0 }) }

    /// Returns true if `object` offers the same.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CKAllowedSharingOptions else { return false }
        return other === self || other.values.withLock { $0 } == values.withLock { $0 }
    }

    /// The same for equal options.
    public override var hash: Int { values.withLock { $0 }.hashValue }

    /// Options can be read from archives with secure coding.
    public static var supportsSecureCoding: Bool { true }

    /// Encodes the options in a keyed archive.
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
