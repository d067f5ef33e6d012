import System

/// Those whom the abuser must not disturb, on a thread and connections of their own.
package final class OrdinaryUsers {
    static let triesMax = 30

    let loop: ClientLoop
    let requests: Requests
    /// Half of the longest rest between two pieces of a user's work.
    let restMilliseconds: Int
    var port: Int { server.port }
    /// How long answers took in the present phase.
    package internal(set) var latencies = Latencies()
    /// Requests that were made again, by the status of their answer.
    package internal(set) var retries: [Int: Int] = [:]
    /// What must not have happened.
    package private(set) var failures: [String] = []
    /// How many acknowledged records the audits have read back.
    package internal(set) var auditedCount = 0
    private(set) var phase = 0
    private(set) var isPaused = true
    /// While the server may be away, connections end.
    private(set) var mayBeAway = false
    var underWay = 0
    private let server: AbusedServer
    private var users: [OrdinaryUser] = []

    /// One for each account but the last.
    package init(_ server: AbusedServer, seed: UInt64, restMilliseconds: Int = 800) throws {
        loop = try ClientLoop()
        requests = server.requests
        self.server = server
        self.restMilliseconds = restMilliseconds
        users = server.tokens.dropLast().enumerated().map { number, token in
            OrdinaryUser(
                number, token: token, in: self, random: SeededRandomSource(seed: seed &+ UInt64(number)))
        }
    }

    /// How many writes were acknowledged and not overwritten since.
    package var acknowledgedCount: Int { users.reduce(0) { $0 + $1.ledger.count } }

    package func setUp() { all { $0.setUp($1) } }

    /// Reads back everything that was acknowledged.
    package func audit() { all { $0.audit($1) } }

    private func all(_ body: (OrdinaryUser, @escaping () -> Void) -> Void) {
        var left = users.count
        for user in users { body(user) { left -= 1 } }
        if !loop.run(milliseconds: 120_000, until: { left == 0 }) {
            failed(nil, "\(left) users wait for ever")
        }
    }

    /// Works for so long, and then until the last answer is there.
    ///
    /// - Parameter isDone: ends the time early.
    /// - Returns: How long answers took.
    package func work(milliseconds: Int64, until isDone: () -> Bool = { false }) -> Latencies {
        phase += 1
        latencies = Latencies()
        isPaused = false
        for user in users { user.begin() }
        loop.run(milliseconds: milliseconds, until: isDone)
        isPaused = true
        if !loop.run(milliseconds: 90_000, until: { underWay == 0 }) {
            failed(nil, "\(underWay) requests of ordinary users had no answer within 90 s")
        }
        return latencies
    }

    /// Works while `body` takes the server away and brings it back, each time after so many milliseconds.
    package func workThroughKills(_ count: Int, everyMilliseconds: Int64, _ body: @escaping () throws -> Void)
    {
        mayBeAway = true
        for number in 1...count {
            loop.after(milliseconds: everyMilliseconds * Int64(number)) { [self] in
                do { try body() } catch { failed(nil, "the server did not come back: \(error)") }
            }
        }
        _ = work(milliseconds: everyMilliseconds * Int64(count + 1))
        mayBeAway = false
    }

    func failed(_ user: OrdinaryUser?, _ what: String) {
        failures.append(user.map { "user \($0.number): \(what)" } ?? what)
    }
}
