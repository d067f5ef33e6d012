import CloudService
import CloudStore
import CloudWire
import Foundation
import System

/// The service in a process of its own, over a store at a path.
@MainActor
final class CloudProcess {
    let port: Int
    let process: ChildProcess

    /// - Parameter isIndexed: whether each field has all its indexes, as development makes them; else none has, as in a
    ///   schema of production where nothing asks for them.
    init(storePath: String, isIndexed: Bool = true) throws {
        if !isIndexed { try benchSchema(storePath) }
        process = try ChildProcess(ChildProcess.ownPath, [ChildMode.serveCloud, storePath])
        guard let port = Int(process.readLine()) else {
            process.end()
            throw BenchError("the service did not start")
        }
        self.port = port
    }

    func end() { process.end() }

    /// How many write transactions the store has committed.
    func commitsCount() throws -> Int {
        guard let count = Int(try process.ask("commits")) else {
            throw BenchError("the service doesn't tell its commits")
        }
        return count
    }

    /// Sends a request and returns its answer's body; an answer that is an error throws.
    @discardableResult
    func exchange(_ request: [UInt8]) throws -> [UInt8] {
        let body = try Load.exchange(request, port: port)
        guard !String(decoding: body, as: UTF8.self).contains("serverErrorCode") else {
            throw BenchError("refused: \(String(decoding: body.prefix(300), as: UTF8.self))")
        }
        return body
    }

    /// Saves new records, and returns their names.
    func fill(_ count: Int, _ requests: ServiceRequests) throws -> [String] {
        let names = requests.names(count)
        let batches = stride(from: 0, to: count, by: 200).map { names[$0..<min(count, $0 + 200)] }
        _ = try Load.run(
            LoadRequests(batches.map { requests.save($0) }), port: port, connections: 8, total: batches.count,
            forbidding: "serverErrorCode")
        return names
    }

    /// The requests for the zone's first pages of 200, and the bodies of their answers.
    func pages(countMax: Int) throws -> (requests: [[UInt8]], answers: [[UInt8]]) {
        var requests: [[UInt8]] = []
        var answers: [[UInt8]] = []
        var token: String?
        while requests.count < countMax {
            let request = ServiceRequests.changes(after: token)
            let answer = try exchange(request)
            requests.append(request)
            answers.append(answer)
            let response = try ChangesZoneResponse(json: answer)
            guard case .changes(let page)? = response.zones.first, page.moreComing == true else { break }
            token = page.syncToken
        }
        return (requests, answers)
    }
}

/// Counts the transactions of a store.
final class CountingStore: CloudStore {
    private let store: SQLiteCloudStore
    private let commits = Lock(0)

    init(path: String) throws {
        store = try SQLiteCloudStore(path: path)
    }

    var commitsCount: Int { commits.withLock { $0 } }

    func read<Result>(_ body: (any CloudStoreReader) throws -> Result) throws -> Result {
        try store.read(body)
    }

    func write<Result>(_ body: (any CloudStoreWriter) throws -> Result) throws -> Result {
        let result = try store.write(body)
        commits.withLock { $0 += 1 }
        return result
    }
}

/// Makes a store in which the lines' type has all its fields and no index.
func benchSchema(_ storePath: String) throws {
    let store = try SQLiteCloudStore(path: storePath)
    defer { store.close() }
    try benchService(store).schemaMaintenance.changeSchema { _ in
        try SchemaLanguage.parse(ServiceRequests.schema)
    }
}

/// The service that the lines talk to, in the child process and, for recording, in this one.
func benchService(_ store: any CloudStore, groupLimits: GroupLimits = GroupLimits()) -> CloudService {
    var users = [ServiceRequests.token: ServiceUser(userRecordName: ServiceRequests.userRecordName)]
    for number in 0..<ServiceRequests.otherUsersCount {
        users[ServiceRequests.token(ofUser: number)] = ServiceUser(userRecordName: "_bench\(number)")
    }
    return CloudService(
        store: store, clock: SystemTimeSource(), random: SystemRandomSource(),
        container: CloudService.Container(identifier: ServiceRequests.container),
        users: users, groupLimits: groupLimits)
}
