import Foundation

/// Represents an unsupported value until the save reports it: among the objects of a record, and in archives.
final class UnsupportedRecordValue: NSObject, NSSecureCoding, __CKRecordObjCValue, Sendable {
    let reason: String

    init(reason: String) {
        self.reason = reason
    }

    /// The reason, for code that reads the record without knowing this class.
    override var description: String { reason }

    static var supportsSecureCoding: Bool { true }

    func encode(with coder: NSCoder) {
        coder.encode(reason as NSString, forKey: "Reason")
    }

    init?(coder: NSCoder) {
        reason = coder.string(forKey: "Reason") ?? "a value that no field can hold"
    }
}
