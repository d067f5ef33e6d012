// The global names are Apple's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import Foundation

/// The owner name that means "the user of this device".
public let CKCurrentUserDefaultName = "__defaultOwner__"

/// The identity of a zone: its name and whose it is.
public final class CKRecordZoneID: NSObject, NSSecureCoding, NSCopying, Sendable {
    /// The name of the zone that every database has.
    public static let defaultZoneName = "_defaultZone"
    /// The zone that every database has.
    public static let `default` = CKRecordZoneID(
        zoneName: defaultZoneName, ownerName: CKCurrentUserDefaultName)

    /// The zone's name, at most 255 characters.
    public let zoneName: String
    /// The user record name of the owner, or `CKCurrentUserDefaultName`.
    public let ownerName: String

    /// Makes the identity of the zone `zoneName` of `ownerName`.
    public init(
        zoneName: String = CKRecordZoneID.defaultZoneName, ownerName: String = CKCurrentUserDefaultName
    ) {
        self.zoneName = zoneName
        self.ownerName = ownerName
    }

    /// Makes the identity of the zone `zoneName` of `ownerName`, or of the user's own when that is nil.
    @available(*, deprecated, renamed: "init(zoneName:ownerName:)")
    @_disfavoredOverload
    public convenience init(
        zoneName: String = CKRecordZoneID.defaultZoneName, ownerName: String?
    ) {
        self.init(zoneName: zoneName, ownerName: ownerName ?? CKCurrentUserDefaultName)
    }

    /// A zone ID never changes, so this is the ID itself.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    /// Whether `object` names the same zone of the same owner.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CKRecordZoneID else { return false }
        return self === other || zoneName == other.zoneName && ownerName == other.ownerName
    }

    /// The same for equal IDs.
    public override var hash: Int {
        var hasher = Hasher()
        hasher.combine(zoneName)
        hasher.combine(ownerName)
        return hasher.finalize()
    }

    /// Zone and owner, for logs.
    public override var description: String { "<CKRecordZoneID: \(zoneName):\(ownerName)>" }

    // MARK: Archives (keys as Apple's)

    /// Zone IDs can be read from archives that name the classes they expect.
    public static var supportsSecureCoding: Bool { true }

    /// Writes the ID to a keyed archive.
    public func encode(with coder: NSCoder) {
        coder.encode(zoneName as NSString, forKey: "ZoneName")
        coder.encode(ownerName as NSString, forKey: "ownerName")
    }

    /// Reads an ID from a keyed archive; nil when it holds none.
    public init?(coder: NSCoder) {
        guard let zoneName = coder.string(forKey: "ZoneName") else { return nil }
        self.zoneName = zoneName
        ownerName = coder.string(forKey: "ownerName") ?? CKCurrentUserDefaultName
    }
}
