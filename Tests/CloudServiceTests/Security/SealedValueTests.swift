import CloudStore
import CloudWire
import System
import Testing

@testable import CloudService

/// What the service gave out with a checksum, a signature or a seal: with one bit turned none of it is taken.
@Suite struct SealedValueTests {
    private let cloud = TestService()

    init() throws {
        try cloud.zones(.create)
        try cloud.modify((0..<4).map { operation(.create, "r\($0)", ["n": Field(.int64(Int64($0)))]) })
    }

    /// The text with each bit turned of its own bytes, and of the bytes that it stands for.
    static func flips(of text: String) -> [String] {
        let bytes = Array(text.utf8)
        var flips = (0..<bytes.count * 8).map { String(decoding: flipped(bytes, $0), as: UTF8.self) }
        if let content = Base64URL.decoded(text) {
            flips += (0..<content.count * 8).map { Base64URL.encoded(flipped(content, $0)) }
        } else if let content = Base64.decoded(text) {
            flips += (0..<content.count * 8).map { Base64.encoded(flipped(content, $0)) }
        }
        return flips
    }

    private static func flipped(_ bytes: [UInt8], _ bit: Int) -> [UInt8] {
        var bytes = bytes
        bytes[bit / 8] ^= 1 << UInt8(bit % 8)
        return bytes
    }

    /// Holds that the value is taken as it is, and never changed, cut or twice.
    private func expectSealed(_ text: String, _ isTaken: (String) throws -> Bool) throws {
        try #require(try isTaken(text))
        let flips = Self.flips(of: text)
        #expect(flips.count >= text.utf8.count * 8)
        for flip in flips where flip != text {
            #expect(try !isTaken(flip), "\(flip) for \(text)")
        }
        for length in 0..<text.utf8.count { #expect(try !isTaken(String(text.prefix(length)))) }
        for other in [text + text, text + "=", " " + text, text + " ", text + "\u{0}"] {
            #expect(try !isTaken(other))
        }
    }

    private func isAnswered(_ endpoint: String, _ message: some JSONMessage) throws -> Bool {
        let response = cloud.service.respond(to: cloud.request(endpoint, try message.json(extras: true)))
        return response.status == 200
            && !String(decoding: response.body, as: UTF8.self).contains("serverErrorCode")
    }

    private func isTaken(_ token: String, reverse: Bool? = nil) throws -> Bool {
        let options = ChangesZoneOptions(resultsLimit: 1, reverse: reverse)
        return try isAnswered(
            "changes/zone",
            ChangesZoneRequest(zones: [.init(zoneID: TestService.zone, syncToken: token, options: options)]))
    }

    @Test func aZonesToken() throws {
        try expectSealed(try #require(try cloud.changes(resultsLimit: 2).syncToken)) { try isTaken($0) }
    }

    @Test func theTokenOfAWalkDownwards() throws {
        let options = ChangesZoneOptions(resultsLimit: 1, reverse: true)
        let answer = try cloud.ask(
            "changes/zone", ChangesZoneRequest(zones: [.init(zoneID: TestService.zone, options: options)]),
            as: ChangesZoneResponse.self)
        guard case .changes(let page)? = answer.zones.first else { throw ServiceError.zoneNotFound }
        try expectSealed(try #require(page.syncToken)) { try isTaken($0, reverse: true) }
    }

    @Test func aDatabasesToken() throws {
        try expectSealed(try #require(try cloud.databaseChanges().syncToken)) {
            try isAnswered("changes/database", ChangesDatabaseRequest(syncToken: $0, resultsLimit: 1))
        }
    }

    @Test func theTokenOfTheCollection() throws {
        try cloud.watch()
        try cloud.change([operation(.create, "told")])
        try expectSealed(try cloud.list().syncToken) { token in
            do { _ = try cloud.list(token) } catch is WireError { return false }
            return true
        }
    }

    @Test func aMarker() throws {
        func request(_ marker: String?) -> RecordsQueryRequest {
            RecordsQueryRequest(
                query: RecordQuery(recordType: "todo"), zoneID: TestService.zone, resultsLimit: 1,
                continuationMarker: marker)
        }
        let page = try cloud.ask("records/query", request(nil), as: RecordsQueryResponse.self)
        try expectSealed(try #require(page.continuationMarker)) { marker in
            // The empty one is none to some clients, and must not mean the first page.
            try isAnswered("records/query", request(marker))
        }
    }

    @Test func aChangeTag() throws {
        let tag = try #require(try cloud.lookup(["r1"])[0].record?.recordChangeTag)
        try expectSealed(tag) { sent in
            // In a batch that fails for another reason, so that the tag stays the current one.
            let results = try cloud.modify([operation(.update, "r1", tag: sent), operation(.create, "r2")])
            return results.summaries == ["ATOMIC_ERROR", "CONFLICT"]
        }
    }

    @Test func aDevicesToken() throws {
        let device = try cloud.device("phone")
        try expectSealed(device.apnsToken) { token in
            do { _ = try cloud.service.takePush(apnsToken: token) } catch is WireError { return false }
            return true
        }
    }

    // MARK: Files

    private func ticket(_ name: String? = nil) throws -> String {
        var request = cloud.request(
            "assets/upload",
            try AssetsUploadRequest(
                tokens: [.init(fieldName: "file", recordName: name)], zoneID: TestService.zone
            ).json())
        request.serverURL = "https://cloud.example.com"
        let answer = try cloud.read(cloud.service.respond(to: request), as: AssetsUploadResponse.self)
        return String(try #require(answer.tokens.first?.url.split(separator: "?t=").last))
    }

    private func uploaded() throws -> Asset {
        let upload = try cloud.service.beginUpload(ticket: ticket())
        try upload.write([1, 2, 3])
        return try upload.finish().singleFile
    }

    @Test func theAddressOfAnUpload() throws {
        try expectSealed(try ticket()) { ticket in
            do throws(WireError) { try cloud.service.beginUpload(ticket: ticket).cancel() } catch {
                return false
            }
            return true
        }
    }

    @Test func aReceipt() throws {
        let asset = try uploaded()
        var count = 0
        try expectSealed(try #require(asset.receipt)) { receipt in
            var sent = asset
            sent.receipt = receipt
            // A record that has the file may keep it without a receipt, so each is another.
            count += 1
            let result = try cloud.modify(
                [operation(.create, "file\(count)", ["file": Field(.asset(sent))])], atomic: false)
            return result[0].record != nil
        }
    }

    @Test func theAddressOfAFile() throws {
        try cloud.modify([operation(.create, "f", ["file": Field(.asset(try uploaded()))])])
        var request = cloud.request("records/lookup", Array(#"{"records":[{"recordName":"f"}],"#.utf8))
        request.body += Array(#""zoneID":{"zoneName":"todos"}}"#.utf8)
        request.serverURL = "https://cloud.example.com"
        let record = try cloud.read(
            cloud.service.respond(to: request), as: RecordsLookupResponse.self
        ).records[0].record
        guard case .asset(let asset)? = record?.fields["file"]?.value, let url = asset.downloadURL else {
            throw ServiceError.noSuchFile
        }
        let parts = url.split(separator: "?t=")
        let checksum = String(parts[0].split(separator: "/").dropLast().last ?? "")
        let ticket = String(parts[1])
        func isTaken(_ checksum: String, _ ticket: String) -> Bool {
            do throws(WireError) {
                _ = try cloud.service.openAsset(checksum: checksum, ticket: ticket)
            } catch { return false }
            return true
        }
        try expectSealed(ticket) { isTaken(checksum, $0) }
        try expectSealed(checksum) { isTaken($0, ticket) }
    }
}
