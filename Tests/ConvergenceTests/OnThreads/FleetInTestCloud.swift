import CloudKit
import CloudKitTesting
import CloudStore
import CloudWire
import Foundation
import Simulation
import System

/// `TestCloud` with threads, in this process: it loses requests and answers, and carries some twice.
final class FleetInTestCloud: FleetCloud {
    private static let user = "ada"

    let isWatched = true
    private let cloud: TestCloud
    private let devices = Lock<[Int: TestDevice]>([:])
    private let faultsMayCome = Lock(true)
    /// How far the ledger has read the zone's changes. Held during an upload, so that it reads the service's own order.
    private let readCounter = Lock<Int64>(0)
    private let readFailures = Lock<[String]>([])

    init(seed: UInt64, ledger: Lock<Ledger>) {
        cloud = TestCloud(seed: seed, execution: .threads)
        let random = SeededRandomSource(seed: seed &* 37)
        cloud.networkFault = { [faultsMayCome] _ in
            guard faultsMayCome.withLock({ $0 }) else { return .none }
            switch random.next(in: 0..<12) {
            case 0: return .loseRequest
            case 1: return .loseReply
            case 2: return .duplicate
            default: return .none
            }
        }
        cloud.carrier = { [weak self] request, completion in
            self?.carry(request, ledger, completion)
        }
    }

    private func carry(
        _ request: WireRequest, _ ledger: Lock<Ledger>,
        _ completion: @escaping @Sendable (Result<WireResponse, CKError>) -> Void
    ) {
        guard request.path.hasSuffix("records/modify") else {
            return completion(.success(cloud.answer(to: request)))
        }
        let response = readCounter.withLock { counter in
            let response = cloud.answer(to: request)
            do {
                let rows = try column.rows(after: counter)
                ledger.withLock { $0.serverHas(rows) }
                counter = rows.last?.counter ?? counter
            } catch {
                readFailures.withLock { $0.append("the rows after \(counter) were not read: \(error)") }
            }
            return response
        }
        completion(.success(response))
    }

    private var column: ServerColumn {
        let zone = ZoneKey(database: .privateDatabase(of: "_" + Self.user), zoneName: "todos")
        return ServerColumn(store: cloud.store, zone: zone)
    }

    var failures: [String] { readFailures.withLock { $0 } }

    func container(ofDevice index: Int) throws -> CKContainer {
        devices.withLock { devices in
            let device = devices[index] ?? cloud.device(user: Self.user)
            devices[index] = device
            return device.container
        }
    }

    func calm() {
        faultsMayCome.withLock { $0 = false }
    }

    func todos() throws -> [String: Todo] { try column.todos() }

    func end() {}
}
