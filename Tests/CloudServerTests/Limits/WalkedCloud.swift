import CloudStore
import CloudWire
import SQLite
import SQLiteTestSupport
import System
import Testing
import UseCounter

@testable import CloudServer
@testable import CloudService

/// What one request has used, counted and not timed.
struct Use: Equatable {
    var memoryBytes = 0
    var answerBytes = 0
    var rowsRead = 0
    var rowsWritten = 0
    var steps = 0
    var diskBytes = 0

    /// The most of both, cell by cell.
    func max(_ other: Use) -> Use {
        Use(
            memoryBytes: Swift.max(memoryBytes, other.memoryBytes),
            answerBytes: Swift.max(answerBytes, other.answerBytes),
            rowsRead: Swift.max(rowsRead, other.rowsRead),
            rowsWritten: Swift.max(rowsWritten, other.rowsWritten), steps: Swift.max(steps, other.steps),
            diskBytes: Swift.max(diskBytes, other.diskBytes))
    }
}

/// A service as the server has it, with a store and accounts in files, that runs on the calling thread, where all that
/// it uses is counted.
final class WalkedCloud {
    static let container = CloudService.Container(identifier: RawDevice.container)
    static let zone = ZoneID(zoneName: "todos")

    let limits: ServiceLimits
    let clock = ManualTimeSource(milliseconds: 1_453_760_143_000)
    let control: ControlStore
    let service: CloudService
    let session: String
    let userRecordName: String
    private let folder: TemporaryFolder
    private let vfs = FaultVFS()
    private let store: SQLiteCloudStore
    private let apiToken: String

    init(_ limits: ServiceLimits = .lowered) throws {
        UseCounter.attach()
        self.limits = limits
        folder = try TemporaryFolder()
        let dataFolder = DataFolder(path: folder.path)
        _ = try dataFolder.make()
        control = try ControlStore(path: dataFolder.controlPath)
        apiToken = try control.tokens.make(container: RawDevice.container, name: "app")
        let account = try control.accounts.add(name: "ada", passwordHash: "x")
        let made = try control.sessions.make(
            of: account, container: RawDevice.container, environment: "development")
        session = made.token
        userRecordName = try control.accounts.userRecordName(of: account, container: RawDevice.container)
        var options = OpenOptions()
        options.vfsName = vfs.name
        options.checkpointFrames = .max
        store = try SQLiteCloudStore(path: folder.file("walked.db"), options: options)
        service = CloudService(
            store: store, clock: clock, random: SeededRandomSource(seed: 1), container: Self.container,
            accounts: ControlAccounts(control, isDevelopmentForEveryone: true), limits: limits)
        // Made once for a store, by whichever request needs it first.
        _ = try service.secret.value()
    }

    deinit { store.close() }

    func request(
        _ endpoint: Endpoint, _ body: [UInt8] = Array("{}".utf8), scope: DatabaseScope = .private,
        device: String? = nil, operation: String? = nil
    ) -> WireRequest {
        let isOfDevice = EndpointRow.row(of: endpoint).isOfDevice
        let place = isOfDevice ? "device" : "database"
        var request = WireRequest(
            path: "/\(place)/1/\(RawDevice.container)/development/"
                + (isOfDevice ? "" : "\(scope.rawValue)/") + endpoint.rawValue,
            query: [("ckAPIToken", apiToken), ("ckWebAuthToken", session)]
                + (device.map { [("clientId", $0)] } ?? []),
            headers: [(WireHeader.client, "1")] + (operation.map { [(WireHeader.operation, $0)] } ?? []),
            body: body)
        request.serverURL = "https://cloud.example.com"
        return request
    }

    /// Asks for what a request needs to find.
    @discardableResult
    func ask(_ request: WireRequest) throws -> WireResponse {
        let response = service.respond(to: request)
        guard response.status == 200 else {
            throw Failure("\(request.path): \(String(decoding: response.body.prefix(2_000), as: UTF8.self))")
        }
        return response
    }

    @discardableResult
    func modify(
        _ operations: [RecordOperation], zone: ZoneID? = zone, scope: DatabaseScope = .private,
        device: String? = nil
    ) throws -> [RecordResult] {
        let body = try RecordsModifyRequest(operations: operations, zoneID: zone).json(extras: true)
        let response = try ask(request(.recordsModify, body, scope: scope, device: device))
        return try RecordsModifyResponse(json: response.body).records
    }

    /// Makes records, as many at a time as a request may have.
    func save(
        _ count: Int, at most: Int? = nil, type: String = "todo", zone: ZoneID? = zone,
        scope: DatabaseScope = .private, _ fields: (Int) -> [String: Field]
    ) throws {
        let atOnce = most ?? limits.itemsWithExtrasMax
        for first in stride(from: 0, to: count, by: atOnce) {
            let operations = (first..<min(count, first + atOnce)).map {
                Self.save("r\($0)", type: type, fields($0))
            }
            let results = try modify(operations, zone: zone, scope: scope)
            guard let failed = results.first(where: { if case .error = $0 { true } else { false } }) else {
                continue
            }
            throw Failure("\(failed)")
        }
    }

    func makeZones(_ names: [String]) throws {
        for first in stride(from: 0, to: names.count, by: limits.itemsWithExtrasMax) {
            let part = names[first..<min(names.count, first + limits.itemsWithExtrasMax)]
            try ask(request(.zonesModify, try Self.zones(.create, Array(part))))
        }
    }

    static func zones(_ kind: ZoneOperation.Kind, _ names: [String]) throws -> [UInt8] {
        let operations = names.map {
            ZoneOperation(operationType: kind, zone: WireZone(zoneID: ZoneID(zoneName: $0)))
        }
        return try ZonesModifyRequest(operations: operations).json(extras: true)
    }

    static func save(
        _ name: String, type: String = "todo", kind: RecordOperation.Kind = .forceUpdate,
        _ fields: [String: Field] = [:]
    ) -> RecordOperation {
        RecordOperation(
            operationType: kind, record: WireRecord(recordName: name, recordType: type, fields: fields))
    }

    /// Sends a request and counts what it uses; whatever the answer is, since a refusal costs too.
    func use(of request: WireRequest) -> (use: Use, response: WireResponse) {
        var (response, use) = counting { service.respond(to: request) }
        use.answerBytes = response.body.count
        return (use, response)
    }

    /// Counts what `body` uses on this thread.
    func counting<Result>(_ body: () throws -> Result) rethrows -> (result: Result, use: Use) {
        let written = vfs.writtenBytes
        let (result, counts) = try UseCounter.counting(body)
        let use = Use(
            memoryBytes: counts.memoryBytes, rowsRead: counts.rowsRead, rowsWritten: counts.rowsWritten,
            steps: counts.steps, diskBytes: vfs.writtenBytes - written)
        return (result, use)
    }
}

extension ServiceLimits {
    /// Small enough for a test: what a bound is worked out from is smaller, and so is the bound.
    static var lowered: ServiceLimits {
        var limits = ServiceLimits()
        limits.bodyBytesMax = 256 << 10
        limits.recordBytesMax = 128 << 10
        limits.itemsMax = 20
        limits.itemsWithExtrasMax = 40
        limits.answerBytesMax = 1 << 20
        limits.desiredNamesMax = 100
        limits.cascadeRecordsMax = 200
        limits.indexEntriesMax = 500
        limits.indexEntriesOfRequestMax = 4_000
        limits.deleteSelfReferencesMax = 75
        limits.ancestorsMax = 200
        limits.ancestorsOfRequestMax = 1_000
        limits.dependantsMax = 1_000
        limits.queryTermsMax = 16
        limits.queriesMax = 4
        limits.queryRowsExaminedMax = 1_000
        limits.queryZonesMax = 40
        limits.queryProbesMax = 2_000
        limits.queryValuesMax = 200
        limits.subscriptionsMax = 20
        limits.subscriptionBytesMax = 4 << 10
        limits.notificationsMax = 200
        limits.devicesMax = 10
        limits.referencesCountedMax = 10_000
        limits.referencesOfRequestMax = 2_000
        limits.rowsWrittenMax = 10_000
        limits.querySearch.gatheredBytesMax = 2 << 20
        limits.querySearch.namesCountedMax = 2_000
        limits.assets.privateZonesMax = 1_000
        return limits
    }
}
