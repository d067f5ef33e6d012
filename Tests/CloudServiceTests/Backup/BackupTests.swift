import CloudService
import CloudStore
import CloudWire
import Foundation
import SQLiteTestSupport
import System
import TestSeed
import Testing
import Waiting

/// Backups of a folder that is written to, and what comes of them.
@Suite struct BackupTests {
    private let folder: TemporaryFolder
    private let data: DataFolder

    init() throws {
        folder = try TemporaryFolder()
        data = DataFolder(path: folder.file("data"))
        try data.make()
    }

    private func service(_ data: DataFolder, seed: UInt64 = 1) throws -> (TestService, SQLiteCloudStore) {
        let container = TestService.container
        let store = try SQLiteCloudStore(
            path: data.storePath(
                container: container.identifier, environment: container.environment, makesFolders: true))
        return (TestService(store: store, seed: seed), store)
    }

    private func names(_ cloud: TestService) throws -> Set<String> {
        var names = Set<String>()
        var token: String?
        while true {
            let page = try cloud.changes(token, resultsLimit: 400)
            names.formUnion(page.records.compactMap { $0.record?.recordName })
            token = page.syncToken
            if page.moreComing != true { return names }
        }
    }

    @Test func aBackupUnderLoadRestoresToACommittedState() async throws {
        let (cloud, store) = try service(data)
        try cloud.zones(.create)
        let writersCount = 3
        let acknowledged = WatchedValue([Int](repeating: 0, count: writersCount))
        let isOver = Lock(false)
        let data = data
        let folder = folder
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<writersCount {
                group.addTask {
                    try await onAThread {
                        var number = 0
                        while !isOver.withLock({ $0 }) {
                            let pair = ["left", "right"].map {
                                operation(.create, "\($0)-\(writer)-\(number)", ["n": Field(.int64(1))])
                            }
                            try cloud.modify(pair, atomic: true)
                            number += 1
                            let count = number
                            acknowledged.change { $0[writer] = count }
                        }
                    }
                }
            }
            group.addTask {
                try await onAThread {
                    defer { isOver.withLock { $0 = true } }
                    for round in 0..<3 {
                        try acknowledged.wait { $0.allSatisfy { $0 >= 20 * (round + 1) } }
                        let before = acknowledged.value
                        let archive = folder.file("\(round).tar")
                        let summary = try data.backUp(to: archive)
                        #expect(summary.environments == 1)
                        let restored = DataFolder(path: folder.file("restored-\(round)"))
                        _ = try restored.restore(from: archive)
                        let (again, store) = try service(restored)
                        #expect(try store.integrityCheck().isEmpty)
                        let names = try names(again)
                        for writer in 0..<writersCount {
                            let count = names.count { $0.hasPrefix("left-\(writer)-") }
                            #expect(count >= before[writer], "what was acknowledged before is there")
                            for number in 0..<count {
                                #expect(names.contains("left-\(writer)-\(number)"))
                                #expect(names.contains("right-\(writer)-\(number)"))
                            }
                            #expect(names.count { $0.hasPrefix("right-\(writer)-") } == count, "in pairs")
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        store.close()
    }

    @Test func aClientWithOldTokensFindsOutAndEndsEqual() throws {
        let (cloud, store) = try service(data)
        try cloud.zones(.create)
        try cloud.modify((0..<10).map { operation(.create, "r\($0)", ["n": Field(.int64(1))]) })
        let early = try cloud.changes(resultsLimit: 400).syncToken
        let earlyDatabase = try cloud.databaseChanges().syncToken
        _ = try data.backUp(to: folder.file("b.tar"))
        try cloud.modify([operation(.forceDelete, "r3"), operation(.create, "later")])
        let late = try cloud.changes(resultsLimit: 400).syncToken
        store.close()

        let restored = DataFolder(path: folder.file("restored"))
        _ = try restored.restore(from: folder.file("b.tar"))
        let (again, _) = try service(restored, seed: 2)
        // As many changes as the client saw before: the counters alone would not tell.
        try again.modify([operation(.forceDelete, "r4"), operation(.create, "other")])
        for token in [early, late] {
            let error = #expect(throws: WireError.self) { try again.changes(token) }
            #expect(error?.tokenRefusal == .reset)
        }
        let error = #expect(throws: WireError.self) { try again.databaseChanges(earlyDatabase) }
        #expect(error?.tokenRefusal == .reset)
        let expected = Set((0..<10).map { "r\($0)" }).subtracting(["r4"]).union(["other"])
        #expect(try names(again) == expected)
        let zones = try again.databaseChanges()
        #expect(
            zones.zones.compactMap { if case .zone(let zone) = $0 { zone.zoneID.zoneName } else { nil } } == [
                "todos"
            ])
        #expect(try again.databaseChanges(zones.syncToken).zones.isEmpty)
    }

    @Test func filesOfRecordsComeBackAndUploadsUnderWayStayOut() throws {
        let (_, store) = try service(data)
        store.close()
        let container = TestService.container
        let assets = try data.assetsPath(
            container: container.identifier, environment: container.environment)
        let name = String(repeating: "ab", count: 32)
        let random = SeededRandomSource(seed: 5)
        let content = Data((0..<3_000_000).map { _ in UInt8(truncatingIfNeeded: random.next()) })
        try FileManager.default.createDirectory(atPath: "\(assets)/ab", withIntermediateDirectories: true)
        try FileManager.default.createDirectory(
            atPath: "\(assets)/.uploads", withIntermediateDirectories: true)
        for (path, bytes) in [
            ("ab/\(name)", content), ("ab/\(name.dropLast())c", Data()), ("ab/.draft", content),
            (".uploads/1", content),
        ] {
            try bytes.write(to: URL(filePath: "\(assets)/\(path)"))
        }
        let summary = try data.backUp(to: folder.file("b.tar"))
        #expect(summary.assets == 2)
        let restored = DataFolder(path: folder.file("restored"))
        #expect(try restored.restore(from: folder.file("b.tar")) == summary)
        let back = try restored.assetsPath(
            container: container.identifier, environment: container.environment)
        #expect(try Data(contentsOf: URL(filePath: "\(back)/ab/\(name)")) == content)
        #expect(try FileManager.default.contentsOfDirectory(atPath: back) == ["ab"])
        let mode = try FileManager.default.attributesOfItem(atPath: folder.file("b.tar"))[.posixPermissions]
        #expect(mode as? Int == 0o600)
    }

    @Test func anArchiveThatWasChangedOrCutIsRefusedAndLeavesNothing() throws {
        let (cloud, store) = try service(data)
        try cloud.zones(.create)
        try cloud.modify([operation(.create, "r", ["n": Field(.int64(1))])])
        store.close()
        _ = try data.backUp(to: folder.file("b.tar"))
        let archive = try Data(contentsOf: URL(filePath: folder.file("b.tar")))
        let seed = TestSeed.value
        let random = SeededRandomSource(seed: seed)
        var damaged: [Data] = (0..<60).map { _ in
            var copy = archive
            copy[random.next(in: 0..<copy.count)] ^= UInt8(1 << random.next(in: 0..<8))
            return copy
        }
        damaged += (0..<20).map { _ in archive.prefix(random.next(in: 0..<archive.count)) }
        damaged.append(archive + archive)
        for (number, bytes) in damaged.enumerated() {
            try bytes.write(to: URL(filePath: folder.file("damaged.tar")))
            let target = folder.file("restored-\(number)")
            #expect(throws: BackupError.self, "seed \(seed), number \(number)") {
                try DataFolder(path: target).restore(from: folder.file("damaged.tar"))
            }
            #expect(!FileManager.default.fileExists(atPath: target))
        }
    }

    @Test func aBackupOverwritesNothingAndARestoreNeedsAnEmptyFolder() throws {
        try Data("mine".utf8).write(to: URL(filePath: folder.file("b.tar")))
        #expect(throws: BackupError.exists(path: folder.file("b.tar"))) {
            try data.backUp(to: folder.file("b.tar"))
        }
        #expect(try Data(contentsOf: URL(filePath: folder.file("b.tar"))) == Data("mine".utf8))
        _ = try data.backUp(to: folder.file("c.tar"))
        #expect(throws: BackupError.notEmpty(path: data.path)) {
            try data.restore(from: folder.file("c.tar"))
        }
        #expect(data.isMade)
        let left = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        #expect(left == ["b.tar", "c.tar", "data"], "no draft is left")
    }

    @Test func whoGivesUpLeavesNothing() throws {
        struct Enough: Error {}
        let (_, store) = try service(data)
        store.close()
        for stage in ["copying", "archiving", "checking"] {
            #expect(throws: Enough.self) {
                try data.backUp(to: folder.file("b.tar")) {
                    if $0.stage.rawValue == stage { throw Enough() }
                }
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["data"])
        }
        _ = try data.backUp(to: folder.file("b.tar"))
        #expect(throws: Enough.self) {
            try DataFolder(path: folder.file("restored")).restore(from: folder.file("b.tar")) {
                if $0.stage == .restoring && $0.name == "control.sqlite" { throw Enough() }
            }
        }
        #expect(!FileManager.default.fileExists(atPath: folder.file("restored")))
    }
}

func onAThread(_ body: @escaping @Sendable () throws -> Void) async throws {
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
        Thread { continuation.resume(with: Result(catching: body)) }.start()
    }
}
