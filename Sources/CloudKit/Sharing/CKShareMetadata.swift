public import Foundation

/// The metadata of a share, for an invited user. The service has none, because users can't be invited yet.
/// - Note: Coming: with sharing.
public final class CKShareMetadata: NSObject, NSSecureCoding, NSCopying, Sendable {
    /// The container of the shared records.
    public let containerIdentifier: String
    /// The share.
    public let share: CKShare
    /// The root of the shared records; nil for a zone.
    public let hierarchicalRootRecordID: CKRecord.ID?
    /// The root record, if it was requested.
    public let rootRecord: CKRecord?
    /// The user's role.
    public let participantRole: CKShare.ParticipantRole
    /// The state of the user's invitation.
    public let participantStatus: CKShare.ParticipantAcceptanceStatus
    /// The user's permission.
    public let participantPermission: CKShare.ParticipantPermission
    /// The owner of the records.
    public let ownerIdentity: CKUserIdentity

    /// The root of the shared records.
    @available(*, deprecated, renamed: "hierarchicalRootRecordID")
    public var rootRecordID: CKRecord.ID { hierarchicalRootRecordID ?? share.recordID }

    /// The user's role, in older terms.
    @available(*, deprecated, renamed: "participantRole")
    public var participantType: CKShare.ParticipantType {
        CKShare.ParticipantType(rawValue: participantRole.rawValue) ?? .unknown
    }

    /// Returns the object itself, because it never changes.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    /// Returns true if `object` is of the same share.
    public override func isEqual(_ object: Any?) -> Bool {
        (object as? CKShareMetadata)?.share.recordID == share.recordID
    }

    /// Hash value. Equal for equal objects.
    public override var hash: Int { share.recordID.hash }

    // MARK: Archives (keys as Apple's)

    /// It can be read from archives with secure coding.
    public static var supportsSecureCoding: Bool { true }

    /// Encodes it in a keyed archive.
    public func encode(with coder: NSCoder) {
        coder.encode(ArchivedContainerID(containerIdentifier), forKey: "ContainerID")
        coder.encode(share, forKey: "Share")
        if let hierarchicalRootRecordID { coder.encode(hierarchicalRootRecordID, forKey: "RootRecordID") }
        if let rootRecord { coder.encode(rootRecord, forKey: "RootRecord") }
        coder.encode(participantRole.rawValue, forKey: "ParticipantType")
        coder.encode(participantStatus.rawValue, forKey: "ParticipantStatus")
        coder.encode(participantPermission.rawValue, forKey: "ParticipantPermission")
        coder.encode(ownerIdentity, forKey: "OwnerIdentity")
    }

    /// Reads it from a keyed archive; nil if it has none.
    public init?(coder: NSCoder) {
        guard let share = coder.object(CKShare.self, forKey: "Share"),
            let owner = coder.object(CKUserIdentity.self, forKey: "OwnerIdentity")
        else { return nil }
        self.share = share
        ownerIdentity = owner
        containerIdentifier = coder.object(ArchivedContainerID.self, forKey: "ContainerID")?.identifier ?? ""
        hierarchicalRootRecordID = coder.object(CKRecordID.self, forKey: "RootRecordID")
        rootRecord = coder.object(CKRecord.self, forKey: "RootRecord")
        participantRole =
            CKShare.ParticipantRole(rawValue: coder.decodeInteger(forKey: "ParticipantType")) ?? .unknown
        participantStatus =
            CKShare.ParticipantAcceptanceStatus(rawValue: coder.decodeInteger(forKey: "ParticipantStatus"))
            ?? .unknown
        participantPermission =
            CKShare.ParticipantPermission(rawValue: coder.decodeInteger(forKey: "ParticipantPermission"))
            ?? .unknown
    }
}

/// A container's identifier as Apple's archives have it.
final class ArchivedContainerID: NSObject, NSSecureCoding, Sendable {
    let identifier: String

    init(_ identifier: String) {
        self.identifier = identifier
    }

    static var supportsSecureCoding: Bool { true }

    func encode(with coder: NSCoder) {
        coder.encode(identifier as NSString, forKey: "ContainerIdentifier")
    }

    init?(coder: NSCoder) {
        guard let identifier = coder.string(forKey: "ContainerIdentifier") else { return nil }
        self.identifier = identifier
    }
}
