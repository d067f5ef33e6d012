import CloudKit
import FaultProxy
import Foundation
import HTTPClient
import Seams
import Simulation
import Yap
import YapCloudKit

/// A device of the user that reaches the cloud over HTTP, through a proxy of its own.
///
/// Its methods block: it is used on a thread of its own.
final class HTTPDevice: Sendable {
    let index: Int
    let proxy: FaultProxy
    let faults: SeededFaults
    private let database: YapDatabase
    private let connection: YapDatabaseConnection
    private let sync: CloudSync
    private let client = HTTPClient()
    private let ledger: Lock<Ledger>
    /// Held from before a commit until it is in the ledger, so that no merge is told of before what it merged.
    private let noted = Lock(())

    init(
        _ index: Int, seed: UInt64, serverPort: Int, path: String, ledger: Lock<Ledger>, token: String
    ) throws {
        self.index = index
        self.ledger = ledger
        faults = SeededFaults(seed: seed &* 31 &+ UInt64(index), mix: Self.mix)
        proxy = try FaultProxy(targetPort: serverPort)
        proxy.plan { [faults] _ in faults.next() }
        let clock = HastyTimeSource()
        let random = SeededRandomSource(seed: seed &* 17 &+ UInt64(index))
        var options = YapDatabaseOptions()
        options.random = random
        database = try YapDatabase(path: path, options: options) {
            $0.register(Todo.self, inCollection: "todos")
        }
        connection = database.newConnection()
        let cloud = CloudConnection(
            transport: HTTPTransport(serverURL: "http://127.0.0.1:\(proxy.port)", client: client),
            execution: .threads,
            account: FixedAccount(CloudCredential(webAuthToken: token, deviceID: "device\(index)")),
            timers: HastyTimerSource(), random: random)
        sync = try CloudSync(
            database, container: CKContainer(identifier: "iCloud.yap.test", connection: cloud),
            models: [.model(Todo.self, collection: "todos")], zone: "todos",
            scheduler: HastyScheduler(clock: clock), clock: clock, random: random)
        sync.observeMergeLog { [weak self] in self?.noteMerges($0) }
    }

    private static let mix: SeededFaults.Mix = {
        var mix = SeededFaults.Mix()
        mix.loseRequestPerMille = 80
        mix.cutRequestPerMille = 50
        mix.duplicateRequestPerMille = 80
        mix.delayRequestPerMille = 80
        mix.dropReplyPerMille = 80
        mix.cutReplyPerMille = 80
        return mix
    }()

    // MARK: The person

    /// Changes an item, or makes or deletes it, in one commit.
    func commit(_ key: String, _ edit: @escaping @Sendable (Todo?) -> Todo?) throws {
        try noted.withLock { _ in
            let mark = ledger.withLock { $0.mark(record: key) }
            let (before, after) = try connection.blocking.readWrite { transaction in
                let before = try transaction.object(Todo.self, forKey: key, inCollection: "todos")
                let after = edit(before)
                if let after {
                    try transaction.setObject(after, forKey: key, inCollection: "todos")
                } else if before != nil {
                    try transaction.removeObject(forKey: key, inCollection: "todos")
                }
                return (before, after)
            }
            ledger.withLock { note(key, before, after, mark, in: &$0) }
        }
    }

    private func note(
        _ key: String, _ before: Todo?, _ after: Todo?, _ mark: Ledger.Mark, in ledger: inout Ledger
    ) {
        guard let after else {
            guard before != nil else { return }
            let deletion = Ledger.Value(record: key, field: Ledger.deletion, value: "")
            return ledger.committed(device: index, deletion, mark: mark)
        }
        let old = Dictionary(uniqueKeysWithValues: before?.trackedValues.map { ($0.field, $0.value) } ?? [])
        for (field, value) in after.trackedValues where old[field] != value {
            let committed = Ledger.Value(record: key, field: field, value: value)
            ledger.committed(device: index, committed, mark: mark)
        }
    }

    private func noteMerges(_ entries: [CloudMergeLogEntry]) {
        noted.withLock { _ in
            ledger.withLock { ledger in
                for entry in entries {
                    ledger.merged(device: index, entry, record: entry.recordID.recordName)
                }
            }
        }
    }

    // MARK: The sync

    /// Lets the sync look for what others did; doesn't wait.
    func fetch() { sync.fetch() }

    /// Syncs until nothing is under way any more, and waits for it.
    func syncNow() -> CloudSyncStatus {
        let done = DispatchSemaphore(value: 0)
        let status = Lock<CloudSyncStatus?>(nil)
        let sync = sync
        Task {
            let result = await sync.syncNow()
            status.withLock { $0 = result }
            done.signal()
        }
        done.wait()
        return status.withLock { $0 } ?? sync.currentStatus
    }

    /// The network is good from here on.
    func calm() {
        faults.end()
        sync.retry()
    }

    func todos() throws -> [String: Todo] {
        try connection.blocking.read { transaction in
            var todos = [String: Todo]()
            for row in try transaction.objects(Todo.self, inCollection: "todos") {
                todos[row.key] = row.object
            }
            return todos
        }
    }

    func end() throws {
        proxy.stop()
        client.stop()
        try database.close()
    }
}
