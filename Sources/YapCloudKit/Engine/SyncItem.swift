package import CloudKit
package import Foundation

/// One change of the queue as an operation got it.
package struct SyncItem: Hashable, Sendable {
    /// Whether the record is saved or deleted.
    package enum Kind: Int64, Sendable {
        case save = 0
        case delete = 1
    }

    package let recordID: CKRecord.ID
    package let kind: Kind
    /// The change-set that has the change.
    package let sequence: Int64
    /// The incarnation of the record that the change belongs to. A record that was deleted and created again has two.
    package let incarnation: Int64
    /// The change tag that a save was sent with. The stored tag is replaced only if it is still this one.
    package let sentTag: String?
    /// True if no row of the app belonged to the record any more when the change was sent.
    package let isOwnerless: Bool
    /// When the known version was made, by the server's clock, or nil if none is known.
    package let knownModification: Date?

    package init(
        recordID: CKRecord.ID, kind: Kind, sequence: Int64, incarnation: Int64, sentTag: String?,
        isOwnerless: Bool = false, knownModification: Date? = nil
    ) {
        self.recordID = recordID
        self.kind = kind
        self.sequence = sequence
        self.incarnation = incarnation
        self.sentTag = sentTag
        self.isOwnerless = isOwnerless
        self.knownModification = knownModification
    }
}
