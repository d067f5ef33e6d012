import Foundation

// Foundation's decodeObject traps on a key that isn't there and, as an unarchiver is made by default, on an
// object of a class that wasn't asked for. An archive is outside input: so every class that a damaged one can
// hold is asked for, and what isn't the expected one is nil.
extension NSCoder {
    private static let plainClasses: [AnyClass] = [
        NSString.self, NSNumber.self, NSDate.self, NSData.self, NSArray.self, NSDictionary.self, NSSet.self,
        NSNull.self, NSURL.self, NSUUID.self,
    ]

    func object<Object: NSObject & NSCoding>(_ type: Object.Type, forKey key: String) -> Object? {
        object(ofAny: [type], forKey: key) as? Object
    }

    func object(ofAny classes: [AnyClass], forKey key: String) -> Any? {
        guard containsValue(forKey: key) else { return nil }
        return decodeObject(of: classes + Self.plainClasses, forKey: key)
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
