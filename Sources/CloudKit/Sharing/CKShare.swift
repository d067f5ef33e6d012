public import Foundation
internal import System

// The global name is Apple's.
// swift-format-ignore: AlwaysUseLowerCamelCase
/// The name of the record that shares a whole zone.
public let CKRecordNameZoneWideShare = "cloudkit.zoneshare"

/// A record that shares other records: a record with its descendants, or a zone.
///
/// It can be made, filled and archived. The service doesn't support sharing yet, so saving one fails with
/// `CKError.serverRejectedRequest`.
/// - Note: Coming: with sharing.
public final class CKShare: CKRecord, @unchecked Sendable {
    // Sendable because all mutable state is behind a lock.

    /// A participant of the share.
    public typealias Participant = CKShareParticipant
    /// The metadata of a share.
    public typealias Metadata = CKShareMetadata
    /// A participant's role.
    public typealias ParticipantRole = CKShareParticipantRole
    /// A participant's role, in older terms.
    public typealias ParticipantType = CKShareParticipantType
    /// The permission of a participant.
    public typealias ParticipantPermission = CKShareParticipantPermission
    /// The state of an invitation.
    public typealias ParticipantAcceptanceStatus = CKShareParticipantAcceptanceStatus

    /// The keys of a share's own fields.
    public enum SystemFieldKey {
        /// The title of an invitation.
        public static let title: CKRecord.FieldKey = "cloudkit.title"
        /// The picture of an invitation.
        public static let thumbnailImageData: CKRecord.FieldKey = "cloudkit.thumbnailImageData"
        /// The kind of the shared item, as a uniform type identifier.
        public static let shareType: CKRecord.FieldKey = "cloudkit.type"
    }

    private struct Parts {
        var publicPermission = ParticipantPermission.none
        var participants: [Participant] = []
        var allowsAccessRequests = false
    }

    private let parts = Lock(Parts())

    /// Makes a share of `rootRecord` and its descendants.
    public convenience init(rootRecord: CKRecord) {
        let zoneID = rootRecord.recordID.zoneID
        self.init(
            rootRecord: rootRecord,
            shareID: CKRecordID(recordName: "Share-" + SystemRandomSource().nextUUID(), zoneID: zoneID))
    }

    /// Makes a share of `rootRecord` under a name of the app's.
    public convenience init(rootRecord: CKRecord, shareID: CKRecord.ID) {
        self.init(state: RecordState(recordType: CKRecord.SystemType.share, recordID: shareID))
        rootRecord.withState { $0.share = CKReference(recordID: shareID, action: .none) }
    }

    /// Makes a share of a whole zone.
    public convenience init(recordZoneID: CKRecordZone.ID) {
        let shareID = CKRecordID(recordName: CKRecordNameZoneWideShare, zoneID: recordZoneID)
        self.init(state: RecordState(recordType: CKRecord.SystemType.share, recordID: shareID))
    }

    /// A share requires a record or a zone.
    @available(*, unavailable, message: "use init(rootRecord:) or init(recordZoneID:)")
    public convenience init(recordType: CKRecord.RecordType, recordID: CKRecord.ID = CKRecord.ID()) {
        self.init(state: RecordState(recordType: recordType, recordID: recordID))
    }

    /// A share requires a record or a zone.
    @available(*, unavailable, message: "use init(rootRecord:) or init(recordZoneID:)")
    public convenience init(recordType: CKRecord.RecordType, zoneID: CKRecordZone.ID) {
        self.init(state: RecordState(recordType: recordType, recordID: CKRecord.ID(zoneID: zoneID)))
    }

    /// Reads a share from a keyed archive; nil if it has none.
    public required init?(coder: NSCoder) {
        super.init(coder: coder)
        let participants = coder.object(forKey: "Participants")
        let permission = ParticipantPermission(rawValue: coder.decodeInteger(forKey: "PublicPermission"))
        let allowsAccessRequests =
            coder.containsValue(forKey: "AllowsAccessRequests")
            && coder.decodeBool(forKey: "AllowsAccessRequests")
        parts.withLock {
            $0.allowsAccessRequests = allowsAccessRequests
            $0.participants = (participants as? [Participant]) ?? []
            $0.publicPermission = permission ?? .none
        }
    }

    package override init(state: RecordState) {
        super.init(state: state)
    }

    /// Encodes the share in a keyed archive.
    public override func encode(with coder: NSCoder) {
        super.encode(with: coder)
        let parts = parts.withLock { $0 }
        coder.encode(parts.participants as NSArray, forKey: "Participants")
        coder.encode(parts.publicPermission.rawValue, forKey: "PublicPermission")
        if parts.allowsAccessRequests { coder.encode(true, forKey: "AllowsAccessRequests") }
    }

    /// Returns a copy.
    public override func copy(with zone: NSZone? = nil) -> Any {
        let copy = CKShare(state: state)
        var parts = parts.withLock { $0 }
        parts.participants = parts.participants.compactMap { $0.copy() as? Participant }
        copy.parts.withLock { [parts] in $0 = parts }
        return copy
    }

    /// The permission of everyone with the URL.
    public var publicPermission: ParticipantPermission {
        get { parts.withLock { $0.publicPermission } }
        set { parts.withLock { $0.publicPermission = newValue } }
    }

    /// True if users that weren't invited may request access.
    public var allowsAccessRequests: Bool {
        get { parts.withLock { $0.allowsAccessRequests } }
        set { parts.withLock { $0.allowsAccessRequests = newValue } }
    }

    /// The URL of the invitation; nil, because shares can't be saved yet.
    public var url: URL? { nil }

    /// All participants.
    public var participants: [Participant] { parts.withLock { $0.participants } }

    /// The owner of the records.
    public var owner: Participant? { participants.first { $0.role == .owner } }

    /// The user as a participant; nil in a share that wasn't saved.
    public var currentUserParticipant: Participant? { nil }

    /// Adds a participant, or changes their permission.
    public func addParticipant(_ participant: Participant) {
        parts.withLock { parts in
            parts.participants.removeAll { $0 == participant }
            parts.participants.append(participant)
        }
    }

    /// Removes a participant.
    public func removeParticipant(_ participant: Participant) {
        parts.withLock { $0.participants.removeAll { $0 == participant } }
    }
}

extension CKError {
    static let noSharing = CKError(
        .serverRejectedRequest, "The service has no sharing yet: a share can't be saved, fetched or accepted."
    )
}
