public import Foundation

/// A notification's name: the same one may be told more than once.
public final class CKNotificationID: NSObject, NSSecureCoding, NSCopying, Sendable {
    package let value: String

    package init(_ value: String) {
        self.value = value
    }

    /// A name never changes, so this is the name itself.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    /// Whether `object` names the same notification.
    public override func isEqual(_ object: Any?) -> Bool { (object as? CKNotificationID)?.value == value }

    /// The same for equal names.
    public override var hash: Int { value.hashValue }

    /// The name, for logs.
    public override var description: String { "<CKNotificationID: \(value)>" }

    /// Names can be read from archives that name the classes they expect.
    public static var supportsSecureCoding: Bool { true }

    /// Writes the name to a keyed archive.
    public func encode(with coder: NSCoder) {
        coder.encode(value as NSString, forKey: "NotificationID")
    }

    /// Reads a name from a keyed archive; nil when it holds none.
    public init?(coder: NSCoder) {
        guard let value = coder.string(forKey: "NotificationID") else { return nil }
        self.value = value
    }
}
