public import Foundation

/// A notification's ID. The same notification may arrive more than once.
public final class CKNotificationID: NSObject, NSSecureCoding, NSCopying, Sendable {
    package let value: String

    package init(_ value: String) {
        self.value = value
    }

    /// Returns the ID itself, because an ID never changes.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    /// Returns true if `object` is the same ID.
    public override func isEqual(_ object: Any?) -> Bool { (object as? CKNotificationID)?.value == value }

    /// The same for equal IDs.
    public override var hash: Int { value.hashValue }

    /// The ID, for logs.
    public override var description: String { "<CKNotificationID: \(value)>" }

    /// IDs can be read from archives with secure coding.
    public static var supportsSecureCoding: Bool { true }

    /// Encodes the ID in a keyed archive.
    public func encode(with coder: NSCoder) {
        coder.encode(value as NSString, forKey: "NotificationID")
    }

    /// Reads an ID from a keyed archive; nil if it has none.
    public init?(coder: NSCoder) {
        guard let value = coder.string(forKey: "NotificationID") else { return nil }
        self.value = value
    }
}
