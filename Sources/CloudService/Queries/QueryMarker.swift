import CloudStore
import CloudWire
import Crypto
import System

/// The end of a query's page, stored in `continuationMarker`. Only this service can read and create markers.
///
/// It contains the position in the query's order, so pages neither skip nor repeat an unchanged record when
/// others are written in between. The position may be that of a record that the caller may not see.
struct QueryMarker {
    private static let version: UInt8 = 1
    private static let textBytesMax = 64 << 10

    /// Hash of the query and its database. A marker of another query is rejected.
    private let hash: [UInt8]
    private let seal: Seal

    init(_ query: RecordQuery, database: StoredDatabaseKey, zone: ZoneKey?, secret: [UInt8]) throws {
        seal = try Seal(secret: secret, purpose: "query marker")
        var plain = query
        plain.unknown = [:]
        plain.isFilterBareObject = false
        let request = RecordsQueryRequest(
            query: plain,
            zoneID: zone.map { ZoneID(zoneName: $0.zoneName, ownerRecordName: $0.database.owner) })
        let content = try request.json(extras: true)
        hash = Array(
            try SHA256.hash(Array("\(database.scope.rawValue) \(database.owner) ".utf8) + content).prefix(12))
    }

    /// - Parameter position: the position, or nil if nothing was read yet.
    func text(_ position: QueryPosition?) throws -> String {
        let position = position ?? Self.beginning
        var writer = BinaryWriter()
        writer.byte(Self.version)
        writer.blob(hash)
        writer.unsigned(UInt64(position.keys.count))
        for key in position.keys { writer.blob(key) }
        writer.text(position.recordName)
        writer.text(position.zoneName)
        if let walk = position.walk {
            writer.byte(1)
            writer.signed(Int64(walk.condition ?? -1))
            writer.signed(Int64(walk.scan))
        } else {
            writer.byte(0)
        }
        return Base64.encoded(try seal.sealed(writer.bytes))
    }

    /// Represents the beginning. All other positions have keys.
    private static let beginning = QueryPosition(keys: [], recordName: "", zoneName: "")

    /// - Returns: the position, or nil for the beginning.
    /// - Throws: BAD_REQUEST for a damaged marker, or the marker of another query.
    func position(_ text: String, keysCount: Int) throws(WireError) -> QueryPosition? {
        guard text.utf8.count <= Self.textBytesMax, let bytes = Base64.decoded(text),
            let content = try? seal.opened(bytes), let position = try? decoded(content[...])
        else { throw ServiceError.markerRefused }
        if position == Self.beginning { return nil }
        guard position.keys.count == (position.walk == nil ? keysCount : 1),
            (position.walk == nil) == (keysCount > 0)
        else { throw ServiceError.markerRefused }
        return position
    }

    private func decoded(_ content: ArraySlice<UInt8>) throws(BinaryError) -> QueryPosition {
        var reader = BinaryReader(content)
        guard try reader.byte() == Self.version, try reader.blob() == hash else {
            throw reader.error("another query's marker")
        }
        var keys: [[UInt8]] = []
        for _ in 0..<(try reader.count()) { keys.append(try reader.blob()) }
        let recordName = try reader.text()
        let zoneName = try reader.text()
        var walk: QueryWalk?
        if try reader.byte() == 1 {
            let condition = try reader.signed()
            let scan = try reader.signed()
            guard -1...1_000 ~= condition, 0...100_000 ~= scan else { throw reader.error("no such walk") }
            walk = QueryWalk(condition: condition < 0 ? nil : Int(condition), scan: Int(scan))
        }
        try reader.expectEnd()
        return QueryPosition(keys: keys, recordName: recordName, zoneName: zoneName, walk: walk)
    }
}

extension ServiceError {
    static let markerRefused = badRequest("the continuationMarker is damaged, or of another query")
}
