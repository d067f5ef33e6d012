import Abuse
import Foundation

/// Abuser [--short] [--seed N] [--seconds N] [--only NAME[,NAME]] [--yap PATH] [--folder PATH]: an abuser among
/// ninety-nine users. The exit status is 1 when memory, disk or the ledger didn't hold.
@main struct AbuserMain {
    static func main() {
        do {
            let options = try AbuserOptions(Array(CommandLine.arguments.dropFirst()))
            exit(try run(options) ? 0 : 1)
        } catch {
            FileHandle.standardError.write(Data("Abuser: \(error)\n".utf8))
            exit(2)
        }
    }

    private static func run(_ options: AbuserOptions) throws -> Bool {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("yap-abuse-\(getpid())")
        defer { try? FileManager.default.removeItem(at: folder) }
        let run = try AbuseRun(options.plan, in: folder)
        defer { run.server.stop() }
        let bounds = AbuseBounds(options.plan)
        let plan = options.plan
        AbuseReport.say("abuse: seed \(plan.seed), \(plan.usersCount) users, \(plan.secondsEach) s each")
        var report = AbuseReport(bounds, idle: try run.phase([]))
        for attacks in options.plan.attacks.map({ [$0] }) + run.mixtures {
            report.add(try run.phase(attacks))
        }
        report.addAudit(run.killAndAudit(), audited: run.users.auditedCount)
        return report.end()
    }
}
