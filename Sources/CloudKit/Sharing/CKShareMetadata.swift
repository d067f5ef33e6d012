public import Foundation

/// What an invited user knows of a share. Nobody can be invited yet, so none comes from the service.
/// - Note: Coming: with sharing.
public final class CKShareMetadata: NSObject, NSSecureCoding, NSCopying, Sendable {
    /// The container of the shared records.
    public let containerIdentifier: String
    /// The share.
    public let share: CKShare
    /// The record from which the shared ones hang; nil for a zone.
    public let hierarchicalRootRecordID: CKRecord.ID?
    /// That record, when it was asked for.
    public let rootRecord: CKRecord?
    /// What the user is in the share.
    public let participantRole: CKShare.ParticipantRole
    /// Whether the user has taken the invitation.
    public let participantStatus: CKShare.ParticipantAcceptanceStatus
    /// What the user may do.
    public let participantPermission: CKShare.ParticipantPermission
    /// Whose records they are.
    public let ownerIdentity: CKUserIdentity

    /// The record from which the shared ones hang.
    @available(*, deprecated, renamed: "hierarchicalRootRecordID")
    public var rootRecordID: CKRecord.ID { hierarchicalRootRecordID ?? share.recordID }

    /// What the user is in the share, in older words.
    @available(*, deprecated, renamed: "participantRole")
    public var participantType: CKShare.ParticipantType {
        CKShare.ParticipantType(rawValue: participantRole.rawValue) ?? .unknown
    }

    /// It never changes, so this is the object itself.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    /// Whether `object` is of the same share.
    public override func isEqual(_ object: Any?) -> Bool {
        (object as? CKShareMetadata)?.share.recordID == share.recordID
    }

    /// The same for equal ones.
    public override var hash: Int { share.recordID.hash }

    // MARK: Archives (keys as Apple's)

    /// It can be read from archives that name the classes they expect.
    public static var supportsSecureCoding: Bool { true }

    /// Writes it to a keyed archive.
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

    /// Reads it from a keyed archive; nil when it holds none.
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
