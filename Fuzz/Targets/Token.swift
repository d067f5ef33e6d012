import CloudService
import CloudStore
import System

@testable import CloudWire

/// Change tokens: as a text, and when the first byte is odd as the bytes inside of one whose checksum is right.
@Sendable func fuzzToken(_ bytes: [UInt8]) throws {
    var text = String(decoding: bytes.dropFirst(), as: UTF8.self)
    if let first = bytes.first, !first.isMultiple(of: 2) {
        var writer = BinaryWriter()
        for byte in bytes.dropFirst() { writer.byte(byte) }
        writer.appendChecksum()
        text = Base64.encoded(writer.bytes)
    }
    if let token = try? ChangeToken(text: text) {
        try expect((try? ChangeToken(text: token.text)) == token, "a token changes when it is written again")
    }
    if let tag = ChangeTag(text) { try expect(tag.text == text, "a tag with two texts") }
    // Whatever it is, the service says so in words.
    let zones = ChangesZoneRequest(zones: [.init(zoneID: ZoneID(zoneName: "todos"), syncToken: text)])
    let query = RecordsQueryRequest(query: RecordQuery(recordType: "todo"), continuationMarker: text)
    let cloud = FuzzCloud.shared
    _ = try cloud.answer("changes/zone", try zones.json(extras: true))
    _ = try cloud.answer("changes/database", try ChangesDatabaseRequest(syncToken: text).json(extras: true))
    _ = try cloud.answer("records/query", try query.json(extras: true))
}
