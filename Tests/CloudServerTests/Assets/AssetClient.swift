import CloudServer
import CloudService
import CloudStore
import CloudWire
import Foundation
import SQLiteTestSupport
import System

/// A client that sends and fetches files as a stranger's does: by the addresses it is told, and Apple's keys alone.
struct AssetClient {
    let device: RawDevice
    var database = "private"

    init(port: Int, token: Credential = "ada", database: String = "private") throws {
        device = try RawDevice(port: port, token: token, wantsExtras: false)
        self.database = database
    }

    /// Where a file for the record's field may be sent, as a request's target.
    func uploadTarget(_ name: String = "a", field: String = "photo") throws -> String {
        let request = AssetsUploadRequest(
            tokens: [AssetsUploadRequest.Token(fieldName: field, recordType: "item", recordName: name)])
        let response = try device.post("\(database)/assets/upload", request)
        guard response.status == 200 else { throw Failure("\(response.status) \(response.text)") }
        let tokens = try AssetsUploadResponse(json: response.body).tokens
        guard tokens.count == 1, tokens[0].recordName == name, tokens[0].fieldName == field else {
            throw Failure("not what was asked for: \(tokens)")
        }
        return try target(tokens[0].url)
    }

    /// The path and the query of an address on this server.
    func target(_ url: String) throws -> String {
        let prefix = "http://127.0.0.1:\(device.port)"
        guard url.hasPrefix(prefix) else { throw Failure("leads elsewhere: \(url)") }
        return String(url.dropFirst(prefix.count))
    }

    func send(
        _ body: [UInt8], to target: String, headers: [(name: String, value: String)] = []
    ) throws -> RawResponse {
        try RawConnection(port: device.port).exchange("POST", target, headers: headers, body: body)
    }

    /// Sends a file, and gives what its record's field is set to.
    func upload(_ bytes: [UInt8], _ name: String = "a", field: String = "photo") throws -> Asset {
        let response = try send(bytes, to: uploadTarget(name, field: field))
        guard response.status == 200 else { throw Failure("\(response.status) \(response.text)") }
        return try AssetUploadedResponse(json: response.body).singleFile
    }

    func save(_ asset: Asset, _ name: String = "a", field: String = "photo") throws -> RecordResult {
        let record = WireRecord(
            recordName: name, recordType: "item", fields: [field: Field(.asset(asset))])
        let request = RecordsModifyRequest(
            operations: [RecordOperation(operationType: .forceUpdate, record: record)])
        let response = try device.post("\(database)/records/modify", request)
        guard response.status == 200 else { throw Failure("\(response.status) \(response.text)") }
        return try RecordsResponse(json: response.body).records[0]
    }

    func delete(_ name: String = "a") throws {
        let request = RecordsModifyRequest(
            operations: [
                RecordOperation(operationType: .forceDelete, record: WireRecord(recordName: name))
            ])
        let response = try device.post("\(database)/records/modify", request)
        guard response.status == 200 else { throw Failure("\(response.status) \(response.text)") }
    }

    /// The file as a lookup tells of it.
    func lookUp(_ name: String = "a", field: String = "photo") throws -> Asset {
        let response = try device.post(
            "\(database)/records/lookup", RecordsLookupRequest(records: [.init(recordName: name)]))
        guard case .record(let record) = try RecordsResponse(json: response.body).records.first,
            case .asset(let asset) = record.fields[field]?.value
        else { throw Failure("no file: \(response.text)") }
        return asset
    }

    func fetch(
        _ url: String, method: String = "GET", headers: [(name: String, value: String)] = []
    ) throws -> RawResponse {
        let connection = try RawConnection(port: device.port)
        var target = try target(url)
        target = target.replacingOccurrences(of: "${f}", with: "%24%7Bf%7D")
        return try connection.exchange(method, target, headers: headers)
    }

    /// A file as multipart's clients send it.
    static func form(
        _ bytes: [UInt8], boundary: String = "xYz", name: String = "files"
    ) -> (body: [UInt8], contentType: String) {
        let head =
            "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(name)\"; filename=\"a.jpg\"\r\n"
            + "Content-Type: image/jpeg\r\n\r\n"
        return (
            Array(head.utf8) + bytes + Array("\r\n--\(boundary)--\r\n".utf8),
            "multipart/form-data; boundary=\(boundary)"
        )
    }

    static func bytes(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
        let random = SeededRandomSource(seed: seed)
        return (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    }
}

/// A server with files on a disk, and what is in its folder.
func withAssetServer<Result: Sendable>(
    limits: ServiceLimits = ServiceLimits(), clock: any TimeSource = SystemTimeSource(),
    calls: FileCalls = .system,
    configure: @escaping @Sendable (inout CloudServerOptions) -> Void = { _ in },
    _ body: @escaping @Sendable (TestServer, DiskAssetStore) throws -> Result
) async throws -> Result {
    let folder = try TemporaryFolder()
    let files = DiskAssetStore(path: folder.file("development.assets"), clock: clock, calls: calls)
    return try await onThread {
        let server = try TestServer(limits: limits, assetFiles: files, clock: clock, configure: configure)
        defer {
            server.stop()
            withExtendedLifetime(folder) {}
        }
        return try body(server, files)
    }
}

extension DiskAssetStore {
    /// The names of what was begun and is not finished.
    var unfinished: [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: "\(path)/incoming")) ?? []
    }
}
