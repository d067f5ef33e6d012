internal import CloudWire
public import Foundation

/// The end of a page of a query, where the next page begins. Opaque.
public final class CKQueryCursor: NSObject, NSSecureCoding, NSCopying, Sendable {
    /// The whole request for the next page.
    let request: RecordsQueryRequest

    init(_ request: RecordsQueryRequest) {
        self.request = request
    }

    /// Returns the cursor itself, because a cursor never changes.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    /// Returns true if `object` is the same position in the same query.
    public override func isEqual(_ object: Any?) -> Bool {
        (object as? CKQueryCursor)?.request == request
    }

    /// The same for equal cursors.
    public override var hash: Int { request.hashValue }

    // MARK: Archives (keys as Apple's)

    /// Cursors can be read from archives with secure coding.
    public static var supportsSecureCoding: Bool { true }

    /// Encodes the cursor in a keyed archive.
    public func encode(with coder: NSCoder) {
        guard let json = try? request.json() else { return }
        coder.encode(Data(json) as NSData, forKey: "CursorData")
        if let zoneID = request.zoneID {
            coder.encode(
                CKRecordZoneID(
                    zoneName: zoneID.zoneName, ownerName: zoneID.ownerRecordName ?? CKCurrentUserDefaultName),
                forKey: "ZoneID")
        }
    }

    /// Reads a cursor from a keyed archive; nil if it has none.
    public init?(coder: NSCoder) {
        guard let data = coder.object(NSData.self, forKey: "CursorData"),
            let request = try? RecordsQueryRequest(json: [UInt8](data as Data))
        else { return nil }
        self.request = request
    }
}
