import CloudStore
import CloudWire
import Dispatch
import SQLiteTestSupport
import System
import TestSeed
import Testing

@testable import CloudService

/// Random writes, subscriptions and acknowledgements against a naive model of who must be told what.
@Suite struct NotificationModelTests {
    /// What somebody wants to hear of.
    private struct Wish {
        let user: String
        let id: String
        let database: String
        let type: String
        let list: String?
        let triggers: Set<Int64>
        let once: Bool
    }

    private struct Known {
        let type: String
        var list: String
    }

    private static let users = ["ada", "bob"]
    private static let lists = ["home", "work", "far"]

    @Test(arguments: 1...6) func subscribersAreNotifiedOfExactlyTheMatchesOfTheirQueries(round: Int) throws {
        let seed = TestSeed.value
        print("notification model: seed \(seed)")
        let random = SeededRandomSource(seed: seed)
        let folder = try TemporaryFolder()
        let store: any CloudStore =
            round % 2 == 0 ? MemoryCloudStore() : try SQLiteCloudStore(path: folder.file("store.db"))
        let cloud = TestService(store: store, seed: seed)
        try cloud.learn()
        var wishes: [String: Wish] = [:]
        var records: [String: Known] = [:]
        var expected: [String: [String]] = ["ada": [], "bob": []]
        for step in 0..<150 {
            switch random.next(in: 0..<10) {
            case 0: try subscribe(cloud, random, &wishes)
            case 1: try unsubscribe(cloud, random, &wishes)
            default: try write(cloud, random, step, &records, &wishes, &expected)
            }
            // Sometimes many changes wait, sometimes they are told at once.
            if random.next(in: 0..<3) == 0 { while try cloud.service.preparePushes() {} }
        }
        while try cloud.service.preparePushes() {}
        for user in Self.users {
            #expect(
                try cloud.collection(user).map(\.summary).sorted() == expected[user]?.sorted(), "seed \(seed)"
            )
            let page = try cloud.list(limit: 1, user: user)
            #expect(page.notifications.count <= 1)
        }
    }

    private func subscribe(
        _ cloud: TestService, _ random: SeededRandomSource, _ wishes: inout [String: Wish]
    ) throws {
        // What waits is told by the subscriptions as they were.
        while try cloud.service.preparePushes() {}
        let user = Self.users[Int(random.next(in: 0..<2))]
        let database = random.next(in: 0..<2) == 0 ? "private" : "public"
        let id = "s\(random.next(in: 0..<5))"
        let triggers = Set(
            (1...3).filter { _ in random.next(in: 0..<2) == 0 } + [Int64(random.next(in: 1..<4))])
        let names: [Int64: WireSubscription.Trigger] = [1: .create, 2: .update, 3: .delete]
        let list = random.next(in: 0..<3) == 0 ? nil : Self.lists[Int(random.next(in: 0..<3))]
        let wish = Wish(
            user: user, id: id, database: database, type: random.next(in: 0..<2) == 0 ? "todo" : "other",
            list: list, triggers: triggers, once: random.next(in: 0..<4) == 0)
        try cloud.watch(
            id, type: wish.type, filters: list.map { [equals("list", $0)] } ?? [],
            on: triggers.sorted().compactMap { names[$0] }, once: wish.once, database: database, user: user)
        wishes["\(user)/\(database)/\(id)"] = wish
    }

    private func unsubscribe(
        _ cloud: TestService, _ random: SeededRandomSource, _ wishes: inout [String: Wish]
    ) throws {
        while try cloud.service.preparePushes() {}
        let names = wishes.keys.sorted()
        guard !names.isEmpty else { return }
        let name = names[random.next(in: 0..<names.count)]
        guard let wish = wishes.removeValue(forKey: name) else { return }
        _ = try cloud.subscriptions(
            .delete, [WireSubscription(subscriptionID: wish.id)], database: wish.database, token: wish.user)
    }

    /// A batch of writes of one user in one database, each record once.
    private func write(
        _ cloud: TestService, _ random: SeededRandomSource, _ step: Int, _ records: inout [String: Known],
        _ wishes: inout [String: Wish], _ expected: inout [String: [String]]
    ) throws {
        let user = Self.users[Int(random.next(in: 0..<2))]
        let database = random.next(in: 0..<2) == 0 ? "private" : "public"
        var operations: [RecordOperation] = []
        var names = Set<String>()
        var saves: [(String, Int64, Known)] = []
        var deletions: [(String, Int64, Known)] = []
        for _ in 0..<random.next(in: 1..<4) {
            let name = "\(user)-r\(random.next(in: 0..<6))"
            guard names.insert(name).inserted else { continue }
            let key = "\(database)/\(name)"
            let list = Self.lists[Int(random.next(in: 0..<3))]
            if let known = records[key], random.next(in: 0..<3) == 0 {
                operations.append(operation(.forceDelete, name))
                deletions.append((name, 3, known))
                records[key] = nil
            } else {
                let type = records[key]?.type ?? (random.next(in: 0..<2) == 0 ? "todo" : "other")
                let known = Known(type: type, list: list)
                saves.append((name, records[key] == nil ? 1 : 2, known))
                operations.append(operation(.forceUpdate, name, type: type, ["list": text(list)]))
                records[key] = known
            }
        }
        let answers = try cloud.modify(operations, zone: nil, database: database, token: user)
        #expect(answers.allSatisfy { $0.error == nil }, "\(answers)")
        let signs: [Int64: String] = [1: "+", 2: "*", 3: "-"]
        // Of a subscription that fires once the first that it meets: saves come before deletions.
        for (name, reason, known) in saves + deletions {
            for (key, wish) in wishes.sorted(by: { $0.key < $1.key })
            where wish.database == database && (database == "public" || wish.user == user)
                && wish.type == known.type && wish.triggers.contains(reason)
                && (wish.list == nil || wish.list == known.list)
            {
                expected[wish.user]?.append("\(wish.id):\(name)\(signs[reason] ?? "")")
                if wish.once { wishes[key] = nil }
            }
        }
    }

    /// Many writers at a time, through the threads: one of them fires it.
    @Test func oneThatFiresOnceFiresOnceHoweverManyWriteAtATime() throws {
        let folder = try TemporaryFolder()
        let cloud = TestService(store: try SQLiteCloudStore(path: folder.file("store.db")))
        try cloud.zones(.create)
        try cloud.learn()
        for id in ["a", "b"] { try cloud.watch(id, once: true) }
        let thread = CloudServiceThread(cloud.service)
        let done = DispatchSemaphore(value: 0)
        let statuses = Lock<[Int]>([])
        for number in 0..<100 {
            let message = RecordsModifyRequest(
                operations: [operation(.create, "r\(number)"), operation(.create, "s\(number)")],
                zoneID: TestService.zone)
            thread.send(cloud.request("records/modify", try message.json())) { response in
                statuses.withLock { $0.append(response.status) }
                done.signal()
            }
        }
        for _ in 0..<100 { done.wait() }
        thread.stop()
        while try cloud.service.preparePushes() {}
        #expect(statuses.withLock { $0 } == Array(repeating: 200, count: 100))
        let told = try cloud.collection().compactMap(\.ck.cause?.subscriptionID)
        #expect(told.sorted() == ["a", "b"])
    }

    @Test func onlySubscribersWithReadPermissionAreNotified() throws {
        let store = MemoryCloudStore()
        let cloud = TestService(store: store)
        try cloud.learn()
        try cloud.service.change(store) { schema in
            schema.recordTypes["todo"]?.grants = [
                SystemRole.signedIn: [.create], SystemRole.creator: [.read, .write],
            ]
        }
        for user in Self.users { try cloud.watch(database: "public", user: user) }
        try cloud.change([operation(.create, "a")], zone: nil, database: "public", user: "bob")
        #expect(try cloud.collection("bob").map(\.summary) == ["watch:a+"])
        #expect(try cloud.collection("ada").isEmpty)
        try cloud.service.change(store) { schema in
            schema.roles = ["reader"]
            schema.recordTypes["todo"]?.grants["reader"] = [.read]
        }
        var changes = StoreChanges()
        changes.roles = [UserRolesRow(user: "_ada", roles: ["reader"])]
        let roles = changes
        try store.write { try $0.apply(roles) }
        try cloud.change([operation(.create, "b")], zone: nil, database: "public", user: "bob")
        #expect(try cloud.collection("ada").map(\.summary) == ["watch:b+"])
    }
}

extension CloudService {
    fileprivate func change(_ store: MemoryCloudStore, _ body: (inout Schema) -> Void) throws {
        try store.write { writer in
            var schema = try self.schemas.schema(in: writer)
            body(&schema)
            var changes = StoreChanges()
            changes.schema = schema.row(version: schemaMaintenance.random.next())
            try writer.apply(changes)
        }
    }
}
