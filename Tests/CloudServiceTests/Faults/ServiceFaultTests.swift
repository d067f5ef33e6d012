import CloudService
import CloudStore
import CloudWire
import Foundation
import SQLite
import SQLiteTestSupport
import StoreAudit
import System
import TestSeed
import Testing

/// Every call that the service makes to the disk fails, one after the other, while clients write side by side: what was
/// acknowledged is there, what was refused is not, what was not known is there wholly or not at all, and when the disk
/// is well again, so is the service.
@Suite struct ServiceFaultTests {
    enum Workload: CaseIterable {
        /// Batches of one user, some of them refused.
        case batches
        /// Private and public records, cascades, a counter, subscriptions and pushes.
        case everything
        /// Records so large that the write-ahead log is started again.
        case large
        /// New types and fields with their indexes, files, query subscriptions and what they tell.
        case features
    }

    struct Sweep: CustomTestStringConvertible {
        let workload: Workload
        let kind: FaultKind
        let duration: FaultDuration
        /// One of how many places is taken.
        var step = 6
        var testDescription: String { "\(workload) \(kind) \(duration)" }
    }

    static let sweeps =
        [
            Sweep(workload: .batches, kind: .diskFull, duration: .sticky),
            Sweep(workload: .batches, kind: .write, duration: .once),
            Sweep(workload: .everything, kind: .diskFull, duration: .once),
            Sweep(workload: .everything, kind: .write, duration: .sticky),
            // Each of its 350 places would take minutes.
            Sweep(workload: .features, kind: .diskFull, duration: .sticky, step: 12),
            Sweep(workload: .features, kind: .write, duration: .once, step: 12),
            Sweep(workload: .large, kind: .truncate, duration: .once, step: 1),
            Sweep(workload: .large, kind: .truncate, duration: .sticky, step: 1),
        ]
        + [.batches, .everything, .features].flatMap { workload in
            FaultDuration.allCases.map { Sweep(workload: workload, kind: .sync, duration: $0, step: 1) }
        }

    @Test(arguments: sweeps)
    func whereverTheDiskFailsUnderConcurrentRequestsNothingAcknowledgedIsLost(_ sweep: Sweep) throws {
        var firedCount = 0
        var totals = (acknowledged: 0, refused: 0)
        for nth in Places.oneIn(sweep.step) {
            let run = try ServiceFaultRun(sweep.workload)
            guard try run.run(sweep.kind, at: nth, sweep.duration) else { break }
            firedCount += 1
            totals.acknowledged += run.clients.reduce(0) { $0 + $1.acknowledgedCount }
            totals.refused += run.clients.reduce(0) { $0 + $1.refusedCount }
        }
        print("service faults: \(sweep.testDescription): \(firedCount) places, \(totals)")
        #expect(firedCount > (sweep.workload == .large ? 0 : 4) && totals.acknowledged > firedCount)
        if sweep.kind == .diskFull && sweep.duration == .sticky { #expect(totals.refused > 0) }
    }
}

/// A service on a disk that fails, and its clients.
final class ServiceFaultRun: Sendable {
    let clients: [LedgerClient]
    private let workload: ServiceFaultTests.Workload
    private let folder: TemporaryFolder
    private let vfs: FaultVFS
    private let files: DiskAssetStore
    private let cloud: TestService
    private let thread: CloudServiceThread

    init(_ workload: ServiceFaultTests.Workload) throws {
        self.workload = workload
        folder = try TemporaryFolder()
        vfs = FaultVFS()
        var options = OpenOptions()
        options.vfsName = vfs.name
        if workload == .large { options.journalSizeLimitBytes = 0 }
        try FileManager.default.copyItem(
            atPath: Self.template.get().file("store.db"), toPath: folder.file("store.db"))
        files = DiskAssetStore(path: folder.file("store.assets"), clock: ManualTimeSource())
        cloud = Self.service(
            try SQLiteCloudStore(path: folder.file("store.db"), options: options), files, seed: 2)
        let thread = CloudServiceThread(cloud.service, readerCount: 2)
        self.thread = thread
        clients = ["a", "b", "c"].map { [cloud] in LedgerClient(name: $0, cloud: cloud, thread: thread) }
        if workload == .everything {
            for client in clients.prefix(2) { try subscribe(client) }
        }
    }

    private static func service(
        _ store: SQLiteCloudStore, _ files: DiskAssetStore, seed: UInt64 = 1
    ) -> TestService {
        let clock = ManualTimeSource()
        let service = CloudService(
            store: store, clock: clock, random: SeededRandomSource(seed: seed),
            container: TestService.container,
            users: ["ada": TestService.ada], assetFiles: files)
        return TestService(service: service, clock: clock)
    }

    /// The same after a restart, where all that was left to do has been done.
    private func restarted(_ path: String) throws -> TestService {
        let cloud = Self.service(try SQLiteCloudStore(path: path), files)
        while try cloud.service.preparePushes() {}
        return cloud
    }

    /// A store with a zone and the shared record, made once.
    private static let template = Result {
        let folder = try TemporaryFolder()
        let cloud = TestService(store: try SQLiteCloudStore(path: folder.file("store.db")))
        try cloud.zones(.create)
        try cloud.modify([operation(.create, "shared", ["number": Field(.int64(0))])])
        return folder
    }

    private func subscribe(_ client: LedgerClient) throws {
        let subscription = WireSubscription(subscriptionID: "s-\(client.name)", subscriptionType: .database)
        let request = SubscriptionsModifyRequest(operations: [
            .init(operationType: .create, subscription: subscription)
        ])
        _ = try client.ask("subscriptions/modify", request, .private)
        var token = cloud.request(
            "", try TokensCreateRequest(apnsEnvironment: .development, clientID: client.name).json())
        token.path = "/device/1/\(TestService.container.identifier)/development/tokens/create"
        #expect(cloud.service.respond(to: token).status == 200)
    }

    /// Returns false when the workload has fewer calls than that.
    func run(_ kind: FaultKind, at nth: Int, _ duration: FaultDuration) throws -> Bool {
        let context = "\(workload) \(kind) \(duration) at \(nth)"
        vfs.arm(kind, at: nth, duration)
        let failures = Lock<[String]>([])
        DispatchQueue.concurrentPerform(iterations: clients.count) { index in
            do {
                try work(clients[index])
            } catch {
                failures.withLock { $0.append("\(context): \(error)") }
            }
        }
        #expect(failures.withLock { $0 } == [])
        let fired = vfs.firedCount > 0
        // As if the process died here, with the disk as it is.
        let image = try crashImage()
        vfs.disarm()
        guard fired else {
            thread.stop()
            #expect(clients.flatMap(\.wrong) == [], "\(context)")
            return false
        }
        try expectSound(restarted(image), path: image, context + ", crashed")
        // The same service goes on when the disk does.
        let after = LedgerClient(name: "after", cloud: cloud, thread: thread)
        try after.write(.init(scope: .private, number: 0))
        #expect(after.acknowledgedCount == 1, "\(context): the service doesn't recover")
        thread.stop()
        while try cloud.service.preparePushes() {}
        try expectSound(cloud, path: folder.file("store.db"), context + ", recovered")
        try expectSound(
            restarted(folder.file("store.db")), path: folder.file("store.db"), context + ", reopened")
        return true
    }

    private func work(_ client: LedgerClient) throws {
        switch workload {
        case .batches:
            try client.write(.init(scope: .private, number: 0), bytes: 3_000)
            try client.write(.init(scope: .private, number: 1), isPoisoned: true)
            try client.write(.init(scope: .private, number: 1))
        case .everything:
            try client.write(.init(scope: .private, number: 0))
            try client.write(.init(scope: .public, number: 0))
            try client.count()
            try client.write(.init(scope: .private, number: 0), deletes: true)
        case .features: try client.useFeatures()
        case .large:
            for _ in 0..<3 { try client.write(.init(scope: .private, number: 0), bytes: 300_000) }
        }
    }

    private func crashImage() throws -> String {
        let copy = folder.file("copy.db")
        for suffix in ["", "-wal"] {
            let source = folder.file("store.db") + suffix
            guard FileManager.default.fileExists(atPath: source) else { continue }
            try FileManager.default.copyItem(atPath: source, toPath: copy + suffix)
        }
        return copy
    }

    private func expectSound(_ cloud: TestService, path: String, _ context: String) throws {
        #expect(try StoreAudit.findings(path: path) == [], "\(context)")
        for client in clients {
            #expect(try client.differences(from: cloud, context) == [])
            guard workload == .features else { continue }
            #expect(try client.featureDifferences(from: cloud, context) == [])
        }
        let shared = try cloud.lookup(["shared"])[0].record?.fields["number"]?.value
        guard case .int64(let number)? = shared else {
            Issue.record("\(context): the counter is gone")
            return
        }
        let sure = clients.reduce(0) { $0 + $1.surelyCounted }
        let perhaps = clients.reduce(0) { $0 + $1.perhapsCounted }
        #expect(sure...(sure + perhaps) ~= Int(number), "\(context): the counter")
    }
}
