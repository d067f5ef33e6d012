import CloudKit
import CloudServer
import CloudService
import CloudStore
import FaultProxy
import Foundation
import HTTPClient
import Simulation
import SyncDevices
import System

/// The real server on a port, with a proxy before each device that loses, cuts, delays and repeats.
final class FleetOverHTTP: FleetCloud {
    private static let user = ServiceUser(userRecordName: "_ada")
    private static let token = "ada's token"

    private struct Link {
        let proxy: FaultProxy
        let faults: SeededFaults
        let client: HTTPClient
    }

    // A device may have given a request up that arrives later.
    let isWatched = false
    let failures: [String] = []
    private let seed: UInt64
    private let store: SQLiteCloudStore
    private let server: CloudServer
    private let links = Lock<[Int: Link]>([:])

    init(seed: UInt64, folder: URL, ledger: Lock<Ledger>) throws {
        self.seed = seed
        let store = try SQLiteCloudStore(path: folder.appending(path: "cloud.sqlite").path)
        self.store = store
        let watched = WatchedStore(store) { rows in ledger.withLock { $0.serverHas(rows) } }
        server = CloudServer(
            CloudService(
                store: watched, clock: SystemTimeSource(), random: SeededRandomSource(seed: seed),
                users: [Self.token: Self.user]))
        try server.start()
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

    func container(ofDevice index: Int) throws -> CKContainer {
        let link = try links.withLock { links in
            let link = try links[index] ?? newLink(index)
            links[index] = link
            return link
        }
        let connection = CloudConnection(
            transport: HTTPTransport(serverURL: "http://127.0.0.1:\(link.proxy.port)", client: link.client),
            execution: .threads,
            account: FixedAccount(CloudCredential(webAuthToken: Self.token, deviceID: "device\(index)")),
            timers: HastyTimerSource(), random: SeededRandomSource(seed: seed &* 19 &+ UInt64(index)))
        return CKContainer(identifier: "iCloud.yap.test", connection: connection)
    }

    private func newLink(_ index: Int) throws -> Link {
        let faults = SeededFaults(seed: seed &* 31 &+ UInt64(index), mix: Self.mix)
        let proxy = try FaultProxy(targetPort: server.port)
        proxy.plan { _ in faults.next() }
        return Link(proxy: proxy, faults: faults, client: HTTPClient())
    }

    private var allLinks: [Link] { links.withLock { Array($0.values) } }

    func calm() {
        for link in allLinks { link.faults.end() }
    }

    /// What the proxies did.
    var faults: ProxyCounts {
        var counts = ProxyCounts()
        for link in allLinks { counts.add(link.proxy.counts) }
        return counts
    }

    func todos() throws -> [String: Todo] {
        let zone = ZoneKey(database: .privateDatabase(of: Self.user.userRecordName), zoneName: "todos")
        return try ServerColumn(store: store, zone: zone).todos()
    }

    func end() {
        for link in allLinks {
            link.proxy.stop()
            link.client.stop()
        }
        server.stop()
    }
}

extension ProxyCounts {
    mutating func add(_ other: ProxyCounts) {
        exchanges += other.exchanges
        requestsLost += other.requestsLost
        requestsCut += other.requestsCut
        requestsDuplicated += other.requestsDuplicated
        requestsDelayed += other.requestsDelayed
        repliesDropped += other.repliesDropped
        repliesCut += other.repliesCut
    }
}
