import CloudStore
import CloudWire
import Foundation
import SQLiteTestSupport
import System
import Testing

@testable import CloudService

/// One quota over both environments of a container, each a file and a service of its own.
@Suite struct OneQuotaTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func limits(_ change: (inout AssetLimits) -> Void) -> ServiceLimits {
        var limits = ServiceLimits()
        // With its names a private record counts about 100.
        limits.assets.rowBytes = 45
        change(&limits.assets)
        return limits
    }

    /// An environment as a server opens it.
    private final class Environment: Sendable {
        let store: SQLiteCloudStore
        let sibling: SiblingStore
        let service: TestService

        init(_ name: String, in folder: TemporaryFolder, _ limits: ServiceLimits) throws {
            let container = CloudService.Container(
                identifier: TestService.container.identifier, environment: name)
            let store = try SQLiteCloudStore(path: folder.file("\(name).sqlite"))
            let sibling = SiblingStore(path: folder.file("\(container.sibling.environment).sqlite"))
            let clock = ManualTimeSource()
            var service = TestService(
                service: CloudService(
                    store: store, clock: clock, random: SeededRandomSource(seed: 1), container: container,
                    users: ["ada": TestService.ada, "bob": TestService.bob], limits: limits,
                    usageElsewhere: { sibling.usage(of: $0) }, schemaMayGrow: true),
                clock: clock)
            service.environment = name
            (self.store, self.sibling, self.service) = (store, sibling, service)
        }

        deinit {
            sibling.close()
            store.close()
        }

        func modify(
            _ operations: [RecordOperation], database: String = "private", user: String = "ada"
        ) throws -> [String] {
            try service.modify(operations, zone: nil, atomic: false, database: database, token: user)
                .summaries
        }

        func create(_ names: String..., database: String = "private", user: String = "ada") throws -> [String]
        {
            try modify(names.map { operation(.create, $0) }, database: database, user: user)
        }

        func delete(_ name: String, database: String = "private") throws -> [String] {
            try modify([operation(.forceDelete, name, type: nil)], database: database)
        }
    }

    private func open(_ name: String, _ limits: ServiceLimits) throws -> Environment {
        try Environment(name, in: folder, limits)
    }

    @Test func whatAUserHasInBothEnvironmentsCountsAgainstOneQuota() throws {
        let limits = limits { $0.privateBytesMax = 450 }
        let (development, production) = (
            try open("development", limits), try open("production", limits)
        )
        #expect(try development.create("a", "b", "c") == ["saved", "saved", "saved"])
        #expect(try production.create("a", "b") == ["saved", "QUOTA_EXCEEDED"])
        #expect(try development.create("d") == ["QUOTA_EXCEEDED"], "and the other way")
        #expect(try production.create("b", user: "bob") == ["saved"], "another user has a quota of their own")
        #expect(try development.delete("a") == ["deleted"], "what shrinks is never refused")
        #expect(try production.create("b") == ["saved"])
        #expect(try production.create("c") == ["QUOTA_EXCEEDED"])
    }

    @Test func theQuotaOfBothEnvironmentsHoldsAfterARestart() throws {
        let limits = limits { $0.privateBytesMax = 250 }
        do {
            let development = try open("development", limits)
            #expect(try development.create("a", "b") == ["saved", "saved"])
        }
        // Nobody has asked for development yet.
        let production = try open("production", limits)
        #expect(try production.create("a") == ["QUOTA_EXCEEDED"])
        let development = try open("development", limits)
        #expect(try development.delete("a") == ["deleted"])
        #expect(try production.create("a") == ["saved"])
    }

    @Test func recordsZonesAndTheShareOfThePublicDatabaseAreCountedOverBothEnvironments() throws {
        let limits = limits {
            $0.privateRecordsMax = 2
            $0.privateZonesMax = 2
            $0.publicBytesOfUserMax = 250
        }
        let (development, production) = (
            try open("development", limits), try open("production", limits)
        )
        #expect(try development.create("a") == ["saved"])
        #expect(try production.create("a", "b") == ["saved", "QUOTA_EXCEEDED"])
        #expect(try development.create("a", "b", database: "public") == ["saved", "saved"])
        #expect(try production.create("a", database: "public") == ["QUOTA_EXCEEDED"])
        #expect(try production.create("a", database: "public", user: "bob") == ["saved"])
        #expect(try development.delete("a", database: "public") == ["deleted"])
        #expect(try production.create("c", database: "public") == ["saved"])
        func makeZone(_ name: String, _ environment: Environment) throws -> Bool {
            guard case .zone? = try environment.service.zones(.create, [ZoneID(zoneName: name)]).first else {
                return false
            }
            return true
        }
        #expect(try makeZone("a", development))
        #expect(try makeZone("b", production))
        #expect(try !makeZone("c", production))
        #expect(try !makeZone("c", development))
        #expect(try makeZone("a", development), "one that is there is no other")
    }

    /// Development commits between production's question and its commit: neither sees the other.
    @Test func writesOfTheSameMomentTakeTheLastRoomTwiceAndTheNextOneNothing() throws {
        let limits = limits { $0.privateBytesMax = 150 }
        let development = try Environment("development", in: folder, limits)
        let store = try SQLiteCloudStore(path: folder.file("production.sqlite"))
        defer { store.close() }
        let sibling = SiblingStore(path: folder.file("development.sqlite"))
        defer { sibling.close() }
        let meanwhile = Lock<[String]?>(nil)
        let clock = ManualTimeSource()
        let service = CloudService(
            store: store, clock: clock, random: SeededRandomSource(seed: 1), container: nil,
            users: ["ada": TestService.ada], limits: limits,
            usageElsewhere: { keys in
                let told = sibling.usage(of: keys)
                if meanwhile.withLock({ $0 }) == nil {
                    meanwhile.withLock { $0 = (try? development.create("a")) ?? ["failed"] }
                }
                return told
            })
        let production = TestService(service: service, clock: clock)
        func create(_ name: String) throws -> [String] {
            try production.modify([operation(.create, name)], zone: nil, atomic: false).summaries
        }
        #expect(try create("a") == ["saved"])
        #expect(meanwhile.withLock { $0 } == ["saved"])
        #expect(try create("b") == ["QUOTA_EXCEEDED"])
        #expect(try development.create("b") == ["QUOTA_EXCEEDED"])
    }

    @Test func anEnvironmentThatWasRemovedCountsNoMoreAndMadeAgainItCountsAnew() throws {
        let limits = limits { $0.privateBytesMax = 250 }
        let production = try open("production", limits)
        do {
            let development = try open("development", limits)
            #expect(try development.create("a", "b") == ["saved", "saved"])
        }
        #expect(try production.create("a") == ["QUOTA_EXCEEDED"])
        for suffix in ["", "-wal", "-shm"] {
            let file = folder.file("development.sqlite" + suffix)
            if FileManager.default.fileExists(atPath: file) {
                try FileManager.default.removeItem(atPath: file)
            }
        }
        #expect(try production.create("a") == ["saved"])
        let development = try open("development", limits)
        #expect(try development.create("a") == ["saved"])
        #expect(try production.create("b") == ["QUOTA_EXCEEDED"])
    }

    @Test func anEnvironmentWithAnUnreadableFileCountsAsEmptyAndBlocksNoOther() throws {
        let limits = limits { $0.privateBytesMax = 150 }
        try Data(repeating: 0x41, count: 5_000).write(to: URL(filePath: folder.file("development.sqlite")))
        let production = try open("production", limits)
        #expect(try production.create("a", "b") == ["saved", "QUOTA_EXCEEDED"])
    }
}
