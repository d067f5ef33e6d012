public import Foundation

/// What happens to a record if its target is deleted.
public enum CKReferenceAction: UInt, Sendable {
    /// Nothing.
    case none = 0
    /// It is deleted too.
    case deleteSelf = 1
}

/// A reference to another record of the same zone.
public final class CKReference: NSObject, NSSecureCoding, NSCopying, Sendable {
    /// The target.
    public let recordID: CKRecordID
    /// What happens if the target is deleted.
    public let action: CKReferenceAction

    /// The same enumeration under its old nested name.
    @available(*, deprecated, renamed: "CKRecord.ReferenceAction")
    public typealias Action = CKReferenceAction

    /// Makes a reference to the record with `recordID`.
    public init(recordID: CKRecordID, action: CKReferenceAction) {
        self.recordID = recordID
        self.action = action
    }

    /// Makes a reference to `record`.
    public convenience init(record: CKRecord, action: CKReferenceAction) {
        self.init(recordID: record.recordID, action: action)
    }

    /// Returns the reference itself, because a reference never changes.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    /// Returns true if `object` has the same target and action.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CKReference else { return false }
        return recordID == other.recordID && action == other.action
    }

    /// The same for equal references.
    public override var hash: Int { recordID.hash }

    /// Target and action, for logs.
    public override var description: String { "<CKReference: \(recordID), \(action)>" }

    // MARK: Archives

    /// References can be read from archives with secure coding.
    public static var supportsSecureCoding: Bool { true }

    /// Encodes the reference in a keyed archive.
    public func encode(with coder: NSCoder) {
        coder.encode(recordID, forKey: "RecordID")
        coder.encode(Int(action.rawValue), forKey: "ReferenceAction")
    }

    /// Reads a reference from a keyed archive; nil if it has none.
    public init?(coder: NSCoder) {
        guard let recordID = coder.object(CKRecordID.self, forKey: "RecordID") else { return nil }
        self.recordID = recordID
        action = coder.decodeInteger(forKey: "ReferenceAction") == 1 ? .deleteSelf : .none
    }
}
