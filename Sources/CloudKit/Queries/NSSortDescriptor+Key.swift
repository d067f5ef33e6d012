public import CoreLocation
public import Foundation

// Foundation on Linux sorts by key paths only. A key path through a subscript keeps the key, and gives it back when it
// is followed.
extension NSSortDescriptor {
    /// Makes an order by the field `key`.
    public convenience init(key: String?, ascending: Bool) {
        self.init(keyPath: \SortKeys[key ?? ""], ascending: ascending)
    }

    /// The field that decides; nil for a descriptor that was made with a key path.
    public var key: String? {
        guard let keyPath = keyPath as? KeyPath<SortKeys, String> else { return nil }
        return SortKeys()[keyPath: keyPath]
    }
}

/// What sort descriptors' key paths begin with. Holds nothing.
final class SortKeys: NSObject, Sendable {
    subscript(key: String) -> String { key }
}

/// An order by the distance to a place, nearest first.
open class CKLocationSortDescriptor: NSSortDescriptor, NSSecureCoding {
    /// The place.
    public let relativeLocation: CLLocation

    /// Makes an order by the distance between the field `key` and `relativeLocation`.
    public init(key: String, relativeLocation: CLLocation) {
        self.relativeLocation = relativeLocation
        super.init(keyPath: \SortKeys[key], ascending: true)
    }

    /// Descriptors can be read from archives that name the classes they expect.
    public static var supportsSecureCoding: Bool { true }

    /// Reads a descriptor from a keyed archive; nil when it holds none.
    public required init?(coder: NSCoder) {
        guard let location = coder.object(CLLocation.self, forKey: "RelativeLocation"),
            let key = coder.string(forKey: "Key")
        else { return nil }
        relativeLocation = location
        super.init(keyPath: \SortKeys[key], ascending: true)
    }

    /// Writes key and place to a keyed archive.
    open func encode(with coder: NSCoder) {
        coder.encode((key ?? "") as NSString, forKey: "Key")
        coder.encode(relativeLocation, forKey: "RelativeLocation")
    }

    /// A descriptor never changes, so this is the descriptor itself.
    open override func copy(with zone: NSZone? = nil) -> Any { self }
}
