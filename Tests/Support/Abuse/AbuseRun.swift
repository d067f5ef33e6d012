import Foundation
import System

/// What a run does.
package struct AbusePlan: Sendable {
    /// The program that is attacked. Without another it is the one beside this program, which was built with it.
    package var yap = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        .deletingLastPathComponent().appendingPathComponent("yap").path
    package var seed: UInt64 = 1
    /// How long each attack takes, and the idle time before.
    package var secondsEach = 10.0
    package var size = Abuser.Size()
    package var quotas = AbusedServer.Quotas()
    package var usersCount = 99
    package var attacks = Attacks.all
    /// How many mixtures of three attacks are drawn.
    package var mixturesCount = 3
    package var kills = 2

    package init() {}

    /// A minute in all.
    package mutating func shorten() {
        size = .short
        secondsEach = 2
        mixturesCount = 1
        quotas = AbusedServer.Quotas(
            privateBytes: 48 << 20, publicBytesOfUser: 32 << 20, unsavedBytes: 16 << 20)
    }
}

/// What one attack came to.
package struct AbusePhase: Sendable {
    package var name: String
    package var latencies: Latencies
    /// What the server had in memory at most, in bytes.
    package var memoryBytes: Int
    /// The folder on the disk, in bytes.
    package var diskBytes: Int
    /// What the abuser was answered, by status.
    package var answers: [Int: Int]
    /// Requests of ordinary users that were made again, by the status of their answer.
    package var retries: [Int: Int]
    /// The part of the processor time that the clients took.
    package var clientsPart: Double
    /// What must not have happened.
    package var failures: [String]
}

/// A server, ninety-nine ordinary users, and the abuser.
package final class AbuseRun {
    package let plan: AbusePlan
    package let server: AbusedServer
    package let users: OrdinaryUsers
    package let abuser: Abuser

    /// Starts the server in a folder that isn't there yet, and sets everybody up.
    package init(_ plan: AbusePlan, in folder: URL) throws {
        ProcessReading.raiseDescriptorLimit()
        self.plan = plan
        server = try AbusedServer(
            yap: plan.yap, folder: folder, accountsCount: plan.usersCount + 1, quotas: plan.quotas)
        try server.start()
        users = try OrdinaryUsers(server, seed: plan.seed)
        abuser = try Abuser(server, size: plan.size, seed: plan.seed)
        users.setUp()
        try abuser.prepare(plan.attacks)
    }

    /// The attacks of mixtures that follow from the seed.
    package var mixtures: [[any Attack]] {
        let random = SeededRandomSource(seed: plan.seed)
        return (0..<plan.mixturesCount).map { _ in
            var left = plan.attacks
            return (0..<min(3, left.count)).map { _ in left.remove(at: random.next(in: 0..<left.count)) }
        }
    }

    /// Lets the users work for the plan's time while the abuser does these attacks at once; none: idle.
    package func phase(_ attacks: [any Attack]) throws -> AbusePhase {
        if !attacks.isEmpty { try abuser.awaitTurn() }
        let failuresBefore = users.failures.count
        let retriesBefore = users.retries
        let milliseconds = Int64(plan.secondsEach * 1000)
        ProcessReading.forgetPeak(of: server.process)
        let before = (clients: Self.own(), server: ProcessReading.processorSeconds(of: server.process))
        if !attacks.isEmpty { abuser.attack(attacks, milliseconds: milliseconds) }
        let latencies = users.work(milliseconds: milliseconds)
        let answers = attacks.isEmpty ? [:] : abuser.join()
        let clients = Self.own() - before.clients
        let served = ProcessReading.processorSeconds(of: server.process) - before.server
        var phase = AbusePhase(
            name: attacks.isEmpty ? "idle" : attacks.map(\.name).joined(separator: "+"),
            latencies: latencies, memoryBytes: ProcessReading.peakBytes(of: server.process),
            diskBytes: ProcessReading.diskBytes(of: server.folder), answers: answers,
            retries: users.retries.merging(retriesBefore, uniquingKeysWith: -).filter { $0.value > 0 },
            clientsPart: clients / max(0.001, clients + served),
            failures: Array(users.failures.dropFirst(failuresBefore)))
        if !server.isRunning { phase.failures.append("the server ended") }
        return phase
    }

    /// Kills the server while the users work, starts it again, and reads back what was acknowledged.
    /// - Returns: What must not have happened.
    package func killAndAudit() -> [String] {
        let before = users.failures.count
        users.workThroughKills(plan.kills, everyMilliseconds: 1_500) { [server] in
            server.kill()
            try server.start()
        }
        users.audit()
        return Array(users.failures.dropFirst(before))
    }

    private static func own() -> Double { ProcessReading.processorSeconds(of: getpid()) }
}
