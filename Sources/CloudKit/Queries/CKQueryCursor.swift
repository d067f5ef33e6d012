internal import CloudWire
public import Foundation

/// Where a page of a query ended: the next one goes on from there. Opaque.
public final class CKQueryCursor: NSObject, NSSecureCoding, NSCopying, Sendable {
    /// The whole request for the next page.
    let request: RecordsQueryRequest

    init(_ request: RecordsQueryRequest) {
        self.request = request
    }

    /// A cursor never changes, so this is the cursor itself.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    /// Whether `object` is the same place in the same query.
    public override func isEqual(_ object: Any?) -> Bool {
        (object as? CKQueryCursor)?.request == request
    }

    /// The same for equal cursors.
    public override var hash: Int { request.hashValue }

    // MARK: Archives (keys as Apple's)

    /// Cursors can be read from archives that name the classes they expect.
    public static var supportsSecureCoding: Bool { true }

    /// Writes the cursor to a keyed archive.
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

    /// Reads a cursor from a keyed archive; nil when it holds none.
    public init?(coder: NSCoder) {
        guard let data = coder.object(NSData.self, forKey: "CursorData"),
            let request = try? RecordsQueryRequest(json: [UInt8](data as Data))
        else { return nil }
        self.request = request
    }
}
