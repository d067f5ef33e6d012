import Foundation

// Foundation's decodeObject traps on a key that isn't there; an archive is outside input, so absence must be
// a value.
extension NSCoder {
    func object<Object: NSObject & NSCoding>(_ type: Object.Type, forKey key: String) -> Object? {
        containsValue(forKey: key) ? decodeObject(of: type, forKey: key) : nil
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
