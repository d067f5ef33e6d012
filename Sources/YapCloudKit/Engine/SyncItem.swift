package import CloudKit
package import Foundation

/// One change of the queue as it was handed to an operation.
package struct SyncItem: Hashable, Sendable {
    /// What is to be done with the record.
    package enum Kind: Int64, Sendable {
        case save = 0
        case delete = 1
    }

    package let recordID: CKRecord.ID
    package let kind: Kind
    /// The change-set it is in.
    package let sequence: Int64
    /// The life of the record that it belongs to: a record deleted and made again has two.
    package let incarnation: Int64
    /// The tag that a save went out with. The stored tag is replaced only if it is still this one.
    package let sentTag: String?
    /// Whether no row of the app stood for the record any more when it was sent.
    package let isOwnerless: Bool
    /// When the version that is known here was made, by the server's clock; nil when none is known.
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
