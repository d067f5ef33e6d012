import Foundation
import System

/// One user who means harm, with an address of its own, and the server's strangers at that address.
///
/// Sendable though its loop isn't: it prepares on the caller's thread and attacks on its own, never on both, which
/// `attack` and `join` hold apart.
package final class Abuser: @unchecked Sendable {
    /// How much an attack takes.
    package struct Size: Sendable {
        package var largeRecords = 48
        package var queriedRecords = 24_000
        package var zoneRecords = 100_000
        package var parallelWrites = 1_300
        package var idleConnections = 4_000

        package init() {}

        /// For a minute in all.
        package static var short: Size {
            var size = Size()
            size.largeRecords = 16
            size.queriedRecords = 4_000
            size.zoneRecords = 4_000
            size.parallelWrites = 300
            size.idleConnections = 600
            return size
        }
    }

    package let size: Size
    package let user: Caller
    package let stranger = Caller(address: "10.9.9.9", token: nil, clientID: "stranger")
    package let random: SeededRandomSource
    let server: AbusedServer
    let requests: Requests
    let loop: ClientLoop
    private static let triesMax = 30
    private let ended = DispatchSemaphore(value: 0)
    private var floods: [Flood] = []
    private var connection: ClientConnection?

    package init(_ server: AbusedServer, size: Size, seed: UInt64) throws {
        self.server = server
        self.size = size
        requests = server.requests
        random = SeededRandomSource(seed: seed)
        loop = try ClientLoop()
        user = Caller(address: "10.9.9.9", token: server.tokens.last, clientID: "abuser")
    }

    /// Saves what the attacks need. Call it before the first of them: one that fills the quota leaves no room for the
    /// records of the others.
    package func prepare(_ attacks: [any Attack]) throws {
        for attack in attacks { try attack.prepare(self) }
    }

    /// Waits until the server does what the abuser asks for again: the writes of the attack before let it rest.
    package func awaitTurn() throws {
        try save("zones/modify", Abuser.zone("turn", "create"))
    }

    /// Attacks for so long, on a thread of its own.
    package func attack(_ attacks: [any Attack], milliseconds: Int64) {
        Thread.detachNewThread { [self] in
            floods = attacks.flatMap { $0.begin(self) }
            loop.run(milliseconds: milliseconds)
            for flood in floods { flood.end() }
            connection?.close()
            ended.signal()
        }
    }

    /// Waits until the attack is over.
    /// - Returns: What came back, by status.
    package func join() -> [Int: Int] {
        ended.wait()
        defer { floods = [] }
        return floods.reduce(into: [:]) { sum, flood in sum.merge(flood.answers, uniquingKeysWith: +) }
    }

    /// Asks, and waits for the answer.
    func ask(_ request: [UInt8]) throws -> Answer {
        if connection?.isOpen != true { connection = try ClientConnection(loop, port: server.port) }
        var found: Answer?
        connection?.send(request) { found = $0 }
        guard loop.run(milliseconds: 120_000, until: { found != nil }), let found else {
            throw AbuseError("no answer within two minutes")
        }
        return found
    }

    /// Asks until it is done.
    @discardableResult
    func save(_ action: String, _ body: String, in database: String = "private") throws -> Answer {
        try done(requests.database(action, body, from: user, in: database), action)
    }

    /// Asks until the server doesn't say that it should be tried again.
    func done(_ request: [UInt8], _ what: String) throws -> Answer {
        for _ in 0..<Self.triesMax {
            let answer = try ask(request)
            if answer.status == 503 || answer.status == 429 || answer.text.contains("TRY_AGAIN_LATER") {
                loop.run(milliseconds: Int64((answer.retryAfterSeconds ?? 1) * 1000))
                continue
            }
            guard answer.status == 200, !answer.text.contains("serverErrorCode") else {
                throw AbuseError("\(what): \(answer.status) \(answer.text.prefix(300))")
            }
            return answer
        }
        throw AbuseError("\(what): still told to try again")
    }

    /// Saves so many records, 200 at a time; `record` is what stands in each beside its name.
    func fill(
        _ count: Int, zone: String? = nil, in database: String = "private", name: (Int) -> String,
        record: (Int) -> String
    ) throws {
        for start in stride(from: 0, to: count, by: 200) {
            let operations = (start..<min(count, start + 200)).map { number in
                #"{"operationType":"forceUpdate","record":{"recordName":"\#(name(number))",\#(record(number))}}"#
            }
            try save("records/modify", Abuser.modify(operations, zone: zone), in: database)
        }
    }

    static func modify(_ operations: [String], zone: String? = nil) -> String {
        let zone = zone.map { #","zoneID":{"zoneName":"\#($0)"}"# } ?? ""
        return #"{"operations":[\#(operations.joined(separator: ","))]\#(zone)}"#
    }

    static func zone(_ name: String, _ operation: String) -> String {
        #"{"operations":[{"operationType":"\#(operation)","zone":{"zoneID":{"zoneName":"\#(name)"}}}]}"#
    }
}
