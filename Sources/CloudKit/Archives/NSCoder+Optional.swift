import Foundation

// Foundation's `decodeObject` traps on a missing key by default, and always on an object of an unexpected class. An
// archive is outside input, so these functions accept every class that a damaged one can contain, and return nil for an
// unexpected one.
extension NSCoder {
    private static let plainClasses: [AnyClass] = [
        NSString.self, NSNumber.self, NSDate.self, NSData.self, NSArray.self, NSDictionary.self, NSSet.self,
        NSNull.self, NSURL.self, NSUUID.self,
    ]

    private static let knownClasses = plainClasses + cloudClasses

    /// Returns the object, if it is a `type`.
    func object<Object: NSObject & NSCoding>(_ type: Object.Type, forKey key: String) -> Object? {
        object(ofAny: [type], forKey: key) as? Object
    }

    /// Returns an object of any class that an archive of ours can hold, or of one of `classes`.
    func object(ofAny classes: [AnyClass] = [], forKey key: String) -> Any? {
        guard containsValue(forKey: key) else { return nil }
        return decodeObject(of: classes + Self.knownClasses, forKey: key)
    }

    func string(forKey key: String) -> String? {
        object(NSString.self, forKey: key).map { String(describing: $0) }
    }

    func date(forKey key: String) -> Date? {
        object(NSDate.self, forKey: key).map {
            Date(timeIntervalSinceReferenceDate: $0.timeIntervalSinceReferenceDate)
        }
    }
}
