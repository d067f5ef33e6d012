import CBenchmarks
import Foundation

/// What a record costs in a zone of a million, against a zone of ten thousand.
func sizeLines() -> [Line] {
    // At most 1.5 times the cost is at least two thirds of the rate.
    let bar = 1 / 1.5
    return [
        Line(name: "service.size.save", unit: "records/s", bar: bar) { try SizeRun.saves(in: $0) },
        Line(name: "service.size.lookup", unit: "requests/s", bar: bar) { try SizeRun.lookups(in: $0) },
        Line(name: "service.size.changes", unit: "pages/s", bar: bar) { try SizeRun.pages(in: $0) },
    ]
}

/// The same load on two services, one with the large zone and one with the small.
private final class SizeRun: LineRun {
    private let large: CloudProcess
    private let small: CloudProcess
    private let requests: (CloudProcess, Int) throws -> LoadRequests
    private let connectionsCount: Int
    private let requestsCount: Int
    private let unitsARequest: Int
    private var sent: [ObjectIdentifier: LoadRequests] = [:]
    private let isRepeated: Bool

    static func saves(in folder: URL) throws -> SizeRun {
        let source = ServiceRequests(seed: 5)
        return try SizeRun(
            folder, connectionsCount: 16, requestsCount: 100, unitsARequest: 50, isRepeated: false
        ) { _, _ in
            LoadRequests((0..<100).map { _ in source.save(source.names(50)) })
        }
    }

    static func lookups(in folder: URL) throws -> SizeRun {
        try SizeRun(folder, connectionsCount: 64, requestsCount: 10_000) { _, count in
            LoadRequests((0..<5_000).map { ServiceRequests.lookup(ZoneFile.name($0 * 7_919 % count)) })
        }
    }

    static func pages(in folder: URL) throws -> SizeRun {
        try SizeRun(folder, connectionsCount: 16, requestsCount: 300) { cloud, _ in
            LoadRequests(try cloud.pages(countMax: 49).requests)
        }
    }

    private init(
        _ folder: URL, connectionsCount: Int, requestsCount: Int, unitsARequest: Int = 1,
        isRepeated: Bool = true,
        requests: @escaping (CloudProcess, Int) throws -> LoadRequests
    ) throws {
        self.connectionsCount = connectionsCount
        self.requestsCount = requestsCount
        self.unitsARequest = unitsARequest
        self.isRepeated = isRepeated
        self.requests = requests
        let largePath = try ZoneFile.make(recordsCount: Self.largeCount, in: folder)
        let smallPath = try ZoneFile.make(recordsCount: Self.smallCount, in: folder)
        let large = try CloudProcess(storePath: largePath)
        self.large = large
        do {
            small = try CloudProcess(storePath: smallPath)
        } catch {
            large.end()
            throw error
        }
    }

    private static let largeCount = 1_000_000
    private static let smallCount = 10_000

    func ours() throws -> Double { try rate(large, Self.largeCount) }
    func reference() throws -> Double { try rate(small, Self.smallCount) }

    func remarks() -> [LineRemark] {
        [LineRemark(text: "\(Self.largeCount) records in the zone against \(Self.smallCount)")]
    }

    func close() {
        large.end()
        small.end()
    }

    private func rate(_ cloud: CloudProcess, _ recordsCount: Int) throws -> Double {
        let identifier = ObjectIdentifier(cloud)
        let requests =
            try isRepeated
            ? sent[identifier] ?? self.requests(cloud, recordsCount) : self.requests(cloud, recordsCount)
        if isRepeated { sent[identifier] = requests }
        let result = try Load.run(
            requests, port: cloud.port, connections: connectionsCount, total: requestsCount,
            forbidding: unitsARequest > 1 ? ServiceLoad.refused : nil)
        return Double(requestsCount * unitsARequest) / result.seconds
    }
}

/// A store's file with one zone of so many records.
@MainActor
enum ZoneFile {
    /// Makes the file: the service makes one record, and SQL copies its row.
    static func make(recordsCount: Int, in folder: URL) throws -> String {
        let path = folder.appendingPathComponent("zone-\(recordsCount).sqlite").path
        let cloud = try CloudProcess(storePath: path)
        do {
            try cloud.exchange(ServiceRequests.makeZone)
            try cloud.exchange(ServiceRequests(seed: 1).save(["template"]))
            cloud.end()
        } catch {
            cloud.end()
            throw error
        }
        try execute(path, sql(recordsCount))
        guard replay_number(path, "SELECT count(*) FROM records") == recordsCount + 1 else {
            throw BenchError("the large zone could not be made")
        }
        return path
    }

    /// The name of a record: neighbours in time are none in the order of names.
    static func name(_ index: Int) -> String {
        String(format: "%08X-0000-4000-8000-%012X", (index + 1) * 2_654_435_761 & 0xFFFF_FFFF, index + 1)
    }

    private static func sql(_ count: Int) -> String {
        """
        PRAGMA synchronous = OFF;
        PRAGMA cache_size = -1500000;
        BEGIN;
        WITH RECURSIVE numbers (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < \(count))
        INSERT INTO records
            (scope, owner, zone, name, type, isDeleted, tagEpoch, counter, parent, createdMilliseconds, createdUser,
            createdDevice, modifiedMilliseconds, modifiedUser, modifiedDevice, fields)
        SELECT scope, owner, zone, printf('%08X-0000-4000-8000-%012X', i * 2654435761 & 4294967295, i), type, isDeleted,
            tagEpoch, counter + i, parent, createdMilliseconds, createdUser, createdDevice, modifiedMilliseconds,
            modifiedUser, modifiedDevice, fields
        FROM numbers CROSS JOIN records WHERE name = 'template';
        UPDATE zones SET counter = counter + \(count);
        COMMIT;
        PRAGMA wal_checkpoint(TRUNCATE);
        """
    }

    private static func execute(_ path: String, _ sql: String) throws {
        var message = [CChar](repeating: 0, count: 200)
        let code = replay_execute(path, sql, &message, message.count)
        guard code == 0 else {
            let text = String(
                decoding: message.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            throw BenchError("SQLite \(code): \(text)")
        }
    }
}
