import CoreLocation
public import Foundation
internal import System

/// A query: the records of a type that match a predicate, in an order.
public final class CKQuery: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    // Sendable because the order is behind a lock, and predicates are never changed.

    /// The type of the records.
    public let recordType: CKRecord.RecordType
    /// The predicate, made from a format string.
    public let predicate: NSPredicate
    private let sorts: Lock<[NSSortDescriptor]?>

    /// Makes a query. The operation fails if the server can't evaluate the predicate.
    /// - Parameters:
    ///   - recordType: the type of the records.
    ///   - predicate: made from a format string, or `NSPredicate(value: true)` for all records.
    public init(recordType: CKRecord.RecordType, predicate: NSPredicate) {
        self.recordType = recordType
        self.predicate = predicate
        sorts = Lock(nil)
    }

    /// The order, most significant descriptor first; nil leaves it to the server.
    public var sortDescriptors: [NSSortDescriptor]? {
        get { sorts.withLock { $0 } }
        set {
            // The previous descriptors are released after the lock, because one may have a closure of the app.
            _ = sorts.withLock { sorts in
                defer { sorts = newValue }
                return sorts
            }
        }
    }

    /// Returns a copy.
    public func copy(with zone: NSZone? = nil) -> Any {
        let copy = CKQuery(recordType: recordType, predicate: predicate)
        copy.sortDescriptors = sortDescriptors
        return copy
    }

    /// Type and predicate, for logs.
    public override var description: String {
        let format =
            (try? Predicate(predicate)).map { PredicateWriter($0).format } ?? "an unreadable predicate"
        return "<CKQuery: \(recordType) where \(format)>"
    }

    // MARK: Archives

    /// Queries can be read from archives with secure coding.
    public static var supportsSecureCoding: Bool { true }

    /// Encodes the query in a keyed archive. A predicate that can't be read is left out, and the archive can't be
    /// decoded.
    public func encode(with coder: NSCoder) {
        coder.encode(recordType as NSString, forKey: "RecordType")
        coder.encode(predicate: predicate)
        if let sortDescriptors {
            let sorts = sortDescriptors.map { ArchivedSort($0) }
            coder.encode(sorts as NSArray, forKey: "SortDescriptors")
        }
    }

    /// Reads a query from a keyed archive; nil if it has none.
    public init?(coder: NSCoder) {
        guard let recordType = coder.string(forKey: "RecordType"), let predicate = coder.predicate() else {
            return nil
        }
        self.recordType = recordType
        self.predicate = predicate
        let archived = coder.object(forKey: "SortDescriptors")
        sorts = Lock((archived as? [ArchivedSort])?.map(\.descriptor))
    }
}

extension NSCoder {
    /// Encodes `predicate` as a format string and its arguments.
    func encode(predicate: NSPredicate) {
        guard let read = try? Predicate(predicate) else { return }
        let written = PredicateWriter(read)
        encode(written.format as NSString, forKey: "PredicateFormat")
        encode(NSArray(array: written.arguments), forKey: "PredicateArguments")
    }

    /// Returns the predicate that `encode(predicate:)` has encoded, or nil if it doesn't exist.
    func predicate() -> NSPredicate? {
        guard let format = string(forKey: "PredicateFormat"),
            let arguments = object(forKey: "PredicateArguments") as? [Any]
        else { return nil }
        return NSPredicate(format: format, argumentArray: arguments)
    }
}

/// A sort descriptor in an archive. Foundation's own form on Linux can't be decoded.
final class ArchivedSort: NSObject, NSSecureCoding, Sendable {
    private let key: String
    private let isAscending: Bool
    private let place: CLLocation?

    init(_ descriptor: NSSortDescriptor) {
        key = descriptor.key ?? ""
        isAscending = descriptor.ascending
        place = (descriptor as? CKLocationSortDescriptor)?.relativeLocation
    }

    var descriptor: NSSortDescriptor {
        guard let place else { return NSSortDescriptor(key: key, ascending: isAscending) }
        return CKLocationSortDescriptor(key: key, relativeLocation: place)
    }

    static var supportsSecureCoding: Bool { true }

    func encode(with coder: NSCoder) {
        coder.encode(key as NSString, forKey: "Key")
        coder.encode(isAscending, forKey: "Ascending")
        if let place { coder.encode(place, forKey: "RelativeLocation") }
    }

    init?(coder: NSCoder) {
        guard let key = coder.string(forKey: "Key") else { return nil }
        self.key = key
        isAscending = coder.decodeBool(forKey: "Ascending")
        place = coder.object(CLLocation.self, forKey: "RelativeLocation")
    }
}
