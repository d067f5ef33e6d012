import CloudStore
import CloudWire
import Foundation
import SQLite
import SQLiteTestSupport
import Testing

@Suite struct DiskFullTests {
    @Test func onAFullDiskWritersGetTryAgainReadersAreServedAndNothingIsLost() async throws {
        try await withFaultServer { server, owner, vfs in
            vfs.limitGrowth(toBytes: 1_000_000)
            let counts = try write(server.port, clientsCount: 8)
            #expect(counts.saved > 8 && counts.refused > 8, "\(counts)")
            let before = try names(owner)
            #expect(before.count == counts.saved)
            vfs.disarm()
            #expect(try save("after", owner).status == 200)
            #expect(try names(owner).count == counts.saved + 1)
        }
    }

    @Test func aWriteThatCannotBeSyncedGetsTryAgainAndIsNotSaved() async throws {
        try await withFaultServer { _, owner, vfs in
            vfs.arm(.sync, at: 1, .sticky)
            let response = try save("lost", owner)
            #expect(response.status == 503 && response.header("Retry-After") != nil)
            #expect(try WireError(json: response.body).serverErrorCode == .tryAgainLater)
            vfs.disarm()
            #expect(try save("after", owner).status == 200)
            #expect(try names(owner) == ["after"])
        }
    }

    /// Runs `body` with a server whose store's disk fails on demand, and the device that made the zone.
    private func withFaultServer(
        _ body: @escaping @Sendable (TestServer, _ owner: RawDevice, FaultVFS) throws -> Void
    ) async throws {
        let folder = try TemporaryFolder()
        let vfs = FaultVFS()
        var options = OpenOptions()
        options.vfsName = vfs.name
        let store = try SQLiteCloudStore(path: folder.file("store.sqlite"), options: options)
        try await withServer(store: store) { server in
            let owner = try RawDevice(port: server.port, token: "ada")
            try owner.makeZone(LedgerWriter.zone)
            try body(server, owner, vfs)
        }
        withExtendedLifetime(folder) {}
    }

    /// Each client saves until it was told some times that there is no room.
    private func write(_ port: Int, clientsCount: Int) throws -> (saved: Int, refused: Int) {
        let tally = Tally()
        try onThreads(clientsCount) { index in
            let device = try RawDevice(port: port, token: "ada", clientID: "client\(index)")
            var refused = 0
            for number in 0..<200 where refused < 3 {
                let response = try save("r\(index)-\(number)", device)
                guard response.status == 200 else {
                    let error = try WireError(json: response.body)
                    guard error.serverErrorCode == .tryAgainLater, response.header("Retry-After") != nil
                    else {
                        throw Failure("\(response.status) \(response.text)")
                    }
                    refused += 1
                    continue
                }
                tally.add(saved: 1)
            }
            tally.add(refused: refused)
        }
        return tally.counts
    }

    private func save(_ name: String, _ device: RawDevice) throws -> RawResponse {
        var record = RawDevice.record(name, 1)
        record.fields["text"] = Field(.string(String(repeating: "x", count: 20_000)))
        return try device.modify(
            [RecordOperation(operationType: .create, record: record)], zone: LedgerWriter.zone)
    }

    private func names(_ device: RawDevice) throws -> Set<String> {
        var names: Set<String> = []
        var token: String?
        repeat {
            let request = ChangesZoneRequest(zones: [
                .init(
                    zoneID: ZoneID(zoneName: LedgerWriter.zone), syncToken: token,
                    options: ChangesZoneOptions(desiredKeys: ["number"]))
            ])
            let response = try device.post("private/changes/zone", request)
            let zone = try ChangesZoneResponse(json: response.body).zones.first
            guard response.status == 200, case .changes(let page)? = zone else {
                throw Failure("\(response.status) \(response.text.prefix(300))")
            }
            for case .record(let record) in page.records { names.insert(record.recordName ?? "") }
            token = page.moreComing == true ? page.syncToken : nil
        } while token != nil
        return names
    }
}

private final class Tally: @unchecked Sendable {
    // Sendable because the counts are touched only under the lock.
    private let lock = NSLock()
    private var saved = 0
    private var refused = 0

    func add(saved: Int = 0, refused: Int = 0) {
        lock.withLock {
            self.saved += saved
            self.refused += refused
        }
    }

    var counts: (saved: Int, refused: Int) { lock.withLock { (saved, refused) } }
}
