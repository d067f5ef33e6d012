import Foundation
import SQLite
import SQLiteTestSupport
import System
import Testing

@testable import CloudStore

/// A container that is removed is gone at once for everybody, and in the end from the disk, whatever comes between.
@Suite struct ContainerRemovalTests {
    private static let old = "iCloud.old"
    private static let other = "iCloud.other"
    private let temporary: TemporaryFolder
    private let folder: DataFolder
    private let control: ControlStore

    init() throws {
        temporary = try TemporaryFolder()
        folder = DataFolder(path: temporary.file("data"))
        try folder.make()
        control = try ControlStore(path: folder.controlPath)
        try control.accounts.add(name: "ann", passwordHash: "x")
        try fill()
    }

    /// Both containers with stores, files of records, an app's token, a key, a session and who may be found.
    private func fill() throws {
        let ann = try #require(try control.accounts.find(named: "ann"))
        for container in [Self.old, Self.other] where try control.containers.add(container) {
            _ = try control.tokens.make(container: container, name: "app")
            for environment in ["development", "production"] {
                try fill(container, environment)
                let session = try control.sessions.make(
                    of: ann, container: container, environment: environment
                ).session
                try control.people.setDiscoverability(
                    ControlDiscoverability(isDiscoverable: true), of: session)
            }
        }
    }

    private func fill(_ container: String, _ environment: String) throws {
        let path = try folder.storePath(container: container, environment: environment, makesFolders: true)
        let store = try SQLiteCloudStore(path: path)
        // As a server that was killed leaves it, with a log beside it.
        withExtendedLifetime(store) {}
        let assets = try folder.assetsPath(container: container, environment: environment)
        for name in ["00/a", "00/b", "ff/c", "incoming/1-1"] {
            let file = "\(assets)/\(name)"
            try FileManager.default.createDirectory(
                atPath: Folders.parent(of: file), withIntermediateDirectories: true)
            try Data("file".utf8).write(to: URL(filePath: file))
        }
    }

    /// What the folder and the control file have of a container, by name.
    private func left(of container: String, _ environment: String? = nil) throws -> [String] {
        let root = "\(folder.path)/containers/\(container)"
        let files = (try? FileManager.default.subpathsOfDirectory(atPath: root)) ?? []
        let ofEnvironment = files.filter { environment == nil || $0.hasPrefix("\(environment ?? "").") }
        let connection = try Connection(path: folder.controlPath)
        var rows: [String] = []
        for table in ["sessions", "serverKeys", "apiTokens", "discoverable", "removals"] {
            let hasEnvironment = ["sessions", "serverKeys", "removals"].contains(table)
            guard environment == nil || hasEnvironment else { continue }
            let sql = "SELECT count(*) FROM \(table) WHERE container = '\(container)'"
            let only = environment.map { " AND environment = '\($0)'" } ?? ""
            let count = try connection.withStatement(sql + only) { try $0.step() ? $0.int64(at: 0) : 0 }
            if count > 0 { rows.append("\(count) \(table)") }
        }
        return (environment == nil && FileManager.default.fileExists(atPath: root) ? ["folder"] : [])
            + ofEnvironment.sorted() + rows
    }

    /// Lets a process begin the removal, and be killed before this step. True: it ended before.
    private func removeInAProcess(_ environment: String?, killedAt step: Int) throws -> Bool {
        let program = try #require(Bundle.main.executableURL).deletingLastPathComponent()
            .appendingPathComponent("RemovalChild").path
        let line = [program, folder.path, Self.old, environment ?? "-", "\(step)"]
        var words: [UnsafeMutablePointer<CChar>?] = line.map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var id: pid_t = 0
        let code = posix_spawn(&id, program, nil, nil, &words, environ)
        try #require(code == 0)
        var status: Int32 = 0
        while waitpid(id, &status, 0) < 0 && errno == EINTR {}
        #expect(status == 0 || status & 0x7F == SIGKILL, "step \(step): \(status)")
        return status == 0
    }

    /// A server and a command remove the same container: one finds that the other has ended it.
    @Test func aRemovalThatAnotherProcessEndsMeanwhileLeavesNoFolder() throws {
        let removal = try control.containers.beginRemoval(container: Self.old)
        let other = EnvironmentRemover(folder, control)
        let isFirst = Lock(true)
        let remover = EnvironmentRemover(folder, control) { step in
            let isNow = isFirst.withLock { isFirst in
                defer { isFirst = false }
                return isFirst
            }
            guard step == .hold, isNow else { return }
            let outcome = try other.run(removal)
            #expect(outcome == .done)
        }
        #expect(try remover.run(removal) == .done)
        #expect(try left(of: Self.old).isEmpty)
    }

    @Test(arguments: [nil, "development", "production"] as [String?])
    func aRemovalThatIsKilledAtAnyStepIsRefusedFromTheMarkOnAndEndsInTheNextRun(
        _ environment: String?
    ) throws {
        let others = try left(of: Self.other)
        let kept = environment.map { $0 == "development" ? "production" : "development" }
        let ofKept = try kept.map { try left(of: Self.old, $0) }
        var step = 0
        while true {
            let isDone = try removeInAProcess(environment, killedAt: step)
            if !isDone {
                for name in environment.map({ [$0] }) ?? ["development", "production"] {
                    #expect(
                        try !control.containers.serves(container: Self.old, environment: name), "step \(step)"
                    )
                    #expect(try folder.hold(container: Self.old, environment: name, in: control) == nil)
                    #expect(try !folder.environments().contains { $0 == (Self.old, name) })
                }
                if environment == nil {
                    #expect(throws: ControlError.isBeingRemoved(container: Self.old, environment: nil)) {
                        try control.containers.add(Self.old)
                    }
                }
                let removal = try #require(try control.containers.removals().first)
                #expect(try EnvironmentRemover(folder, control).run(removal) == .done)
            }
            #expect(try control.containers.removals().isEmpty)
            let ofOld = try left(of: Self.old, environment).filter { !$0.hasSuffix(".lock") }
            #expect(ofOld == [], "step \(step)")
            #expect(try left(of: Self.other) == others)
            if let kept { #expect(try left(of: Self.old, kept) == ofKept) }
            if isDone { break }
            // Made again, for the next step.
            if let environment {
                try fill(Self.old, environment)
                let ann = try #require(try control.accounts.find(named: "ann"))
                _ = try control.sessions.make(of: ann, container: Self.old, environment: environment)
            } else {
                try fill()
            }
            step += 1
        }
        #expect(step > 15, "\(step) steps")
    }

    @Test func openFilesAreNotTouchedUntilTheyAreClosed() throws {
        let hold = try #require(
            try folder.hold(container: Self.old, environment: "production", in: control))
        let removal = try control.containers.beginRemoval(container: Self.old)
        let before = try left(of: Self.old)
        #expect(try EnvironmentRemover(folder, control).run(removal) == .inUse)
        #expect(try left(of: Self.old).filter { !$0.hasSuffix("development.lock") } == before)
        withExtendedLifetime(hold) {}
        #expect(try folder.hold(container: Self.old, environment: "production", in: control) == nil)
    }

    @Test func duringABackupNoFileIsCollectedAndUnusedFilesAreNotInIt() throws {
        let removal = try control.containers.beginRemoval(container: Self.old)
        let archive = temporary.file("b.tar")
        let outcomes = Lock<[EnvironmentRemover.Outcome]>([])
        _ = try folder.backUp(to: archive) { _ in
            let outcome = try EnvironmentRemover(folder, control).run(removal)
            outcomes.withLock { $0.append(outcome) }
        }
        #expect(outcomes.withLock { !$0.isEmpty && $0.allSatisfy { $0 == .inUse } })
        let restored = DataFolder(path: temporary.file("restored"))
        _ = try restored.restore(from: archive)
        #expect(try restored.environments().map(\.container) == [Self.other, Self.other])
        // What the backup has of the mark, the restored folder's server ends.
        let copy = try ControlStore(path: restored.controlPath)
        let left = try #require(try copy.containers.removals().first)
        #expect(try EnvironmentRemover(restored, copy).run(left) == .done)
        #expect(try copy.tokens.list(container: Self.old).isEmpty)
    }

    /// The second of two that remove the same must not take along what was made again meanwhile.
    @Test func aRemovalDoesNothingToAContainerThatWasMadeAgain() throws {
        let stale = try control.containers.beginRemoval(container: Self.old)
        #expect(try control.containers.beginRemoval(container: Self.old) == stale, "marked once")
        #expect(try EnvironmentRemover(folder, control).run(stale) == .done)
        try fill()
        let made = try left(of: Self.old)
        #expect(try EnvironmentRemover(folder, control).run(stale) == .done)
        try control.containers.endRemoval(stale)
        #expect(try control.sessions.remove(in: stale, after: nil) == nil)
        #expect(try !control.people.remove(in: stale))
        #expect(try left(of: Self.old) == made)
    }

    @Test func nothingIsMadeInWhatIsBeingRemoved() throws {
        let ann = try #require(try control.accounts.find(named: "ann"))
        let session = try control.sessions.make(of: ann, container: Self.old, environment: "production")
            .session
        _ = try control.containers.beginRemoval(container: Self.old, environment: "production")
        let refused = ControlError.isBeingRemoved(container: Self.old, environment: "production")
        #expect(throws: refused) {
            try control.sessions.make(of: ann, container: Self.old, environment: "production")
        }
        #expect(throws: refused) {
            try control.people.setDiscoverability(ControlDiscoverability(isDiscoverable: true), of: session)
        }
        _ = try control.sessions.make(of: ann, container: Self.old, environment: "development")
        // The whole container takes the environment along.
        let whole = try control.containers.beginRemoval(container: Self.old)
        #expect(try control.containers.removals() == [whole])
        #expect(throws: ControlError.isBeingRemoved(container: Self.old, environment: nil)) {
            try control.tokens.make(container: Self.old, name: "late")
        }
        #expect(throws: ControlError.noSuchContainer("iCloud.never")) {
            try control.containers.beginRemoval(container: "iCloud.never")
        }
    }

    @Test func sessionsGoSoManyAtATime() throws {
        let ann = try #require(try control.accounts.find(named: "ann"))
        try Connection(path: folder.controlPath).execute(
            """
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2500)
            INSERT INTO sessions (digest, account, container, environment, createdMilliseconds, expiresMilliseconds)
            SELECT randomblob(32), \(ann.id), '\(Self.old)', 'development', 0, 1 FROM n
            """)
        let removal = try control.containers.beginRemoval(container: Self.old)
        var (calls, last) = (0, [UInt8]?.none)
        repeat {
            last = try control.sessions.remove(in: removal, after: last)
            calls += 1
        } while last != nil
        #expect(calls == 3)
        #expect(try control.sessions.list().allSatisfy { $0.container == Self.other })
    }
}
