import Foundation

// Foundation writes a dictionary or a set into an archive in its iteration order, which differs between
// processes. These two are iterated in ascending order, so that the archive of a record always has the same
// XML. In the archive they are a plain dictionary and a plain set.
//
// Each is equal only to itself, because an archive stores equal objects once, and Foundation treats all
// subclasses that aren't its own as empty when it compares them.

/// A dictionary for an archive, in the order of its keys.
final class SortedDictionary: NSDictionary {
    private var keys: [NSString] = []
    private var values: [String: Any] = [:]

    /// Returns a dictionary of `values`.
    static func of(_ values: [String: Any]) -> NSDictionary {
        let dictionary = SortedDictionary()
        dictionary.keys = values.keys.sorted().map { $0 as NSString }
        dictionary.values = values
        return dictionary
    }

    override var count: Int { keys.count }

    override func object(forKey key: Any) -> Any? {
        (key as? NSString).flatMap { values[String(describing: $0)] }
    }

    override func keyEnumerator() -> NSEnumerator { (keys as NSArray).objectEnumerator() }

    override func isEqual(_ object: Any?) -> Bool { (object as AnyObject?) === self }

    override var hash: Int { ObjectIdentifier(self).hashValue }

    override var classForCoder: AnyClass { NSDictionary.self }
}

/// A set of texts for an archive, in their order.
final class SortedSet: NSSet {
    private var texts: [NSString] = []

    /// Returns a set of `texts`.
    static func of(_ texts: Set<String>) -> NSSet {
        let set = SortedSet()
        set.texts = texts.sorted().map { $0 as NSString }
        return set
    }

    override var count: Int { texts.count }

    override func member(_ object: Any) -> Any? { texts.first { $0.isEqual(object) } }

    override func objectEnumerator() -> NSEnumerator { (texts as NSArray).objectEnumerator() }

    override func isEqual(_ object: Any?) -> Bool { (object as AnyObject?) === self }

    override var hash: Int { ObjectIdentifier(self).hashValue }

    override var classForCoder: AnyClass { NSSet.self }
}
