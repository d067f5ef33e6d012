public import CoreLocation
public import Foundation

// Foundation on Linux sorts by key paths only. A key path through a subscript stores the key, and returns it when it is
// evaluated.
extension NSSortDescriptor {
    /// Makes an order by the field `key`.
    public convenience init(key: String?, ascending: Bool) {
        self.init(keyPath: \SortKeys[key ?? ""], ascending: ascending)
    }

    /// The field to sort by; nil for a descriptor made with a key path.
    public var key: String? {
        guard let keyPath = keyPath as? KeyPath<SortKeys, String> else { return nil }
        return SortKeys()[keyPath: keyPath]
    }
}

/// The root of the sort descriptors' key paths. Empty.
final class SortKeys: NSObject, Sendable {
    subscript(key: String) -> String { key }
}

/// An order by the distance to a location, nearest first.
open class CKLocationSortDescriptor: NSSortDescriptor, NSSecureCoding {
    /// The location.
    public let relativeLocation: CLLocation

    /// Makes an order by the distance between the field `key` and `relativeLocation`.
    public init(key: String, relativeLocation: CLLocation) {
        self.relativeLocation = relativeLocation
        super.init(keyPath: \SortKeys[key], ascending: true)
    }

    /// Descriptors can be read from archives with secure coding.
    public static var supportsSecureCoding: Bool { true }

    /// Reads a descriptor from a keyed archive; nil if it has none.
    public required init?(coder: NSCoder) {
        guard let location = coder.object(CLLocation.self, forKey: "RelativeLocation"),
            let key = coder.string(forKey: "Key")
        else { return nil }
        relativeLocation = location
        super.init(keyPath: \SortKeys[key], ascending: true)
    }

    /// Encodes key and location in a keyed archive.
    open func encode(with coder: NSCoder) {
        coder.encode((key ?? "") as NSString, forKey: "Key")
        coder.encode(relativeLocation, forKey: "RelativeLocation")
    }

    /// Returns the descriptor itself, because a descriptor never changes.
    open override func copy(with zone: NSZone? = nil) -> Any { self }
}
