import CloudStore
import Crypto
import SQLite
import SQLiteTestSupport
import System
import Testing

@Suite struct MigrationTests {
    @Test func aFileOfVersionOneIsBroughtToThisVersionWithAllThatIsInIt() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("store.db")
        let connection = try Connection(path: path)
        try connection.execute(OlderFormat.one(fields: "010203"))
        try connection.close()
        for _ in 1...2 {
            let store = try SQLiteCloudStore(path: path)
            let loaded = try store.load {
                $0.databases = [Rows.database]
                $0.zones = [Rows.zone]
                $0.records = [Rows.key("a")]
                $0.dependantsOf = [Rows.key("b")]
                $0.usageOf = [
                    UsageKey(scope: .privateDatabase, user: "_ada"),
                    UsageKey(scope: .publicDatabase, user: ""),
                ]
            }
            #expect(
                loaded.databases[Rows.database]
                    == DatabaseRow(key: Rows.database, epoch: 11, counter: 12, subscriptionCount: 0))
            #expect(loaded.zones[Rows.zone]?.counter == 22)
            #expect(loaded.records[Rows.key("a")] == Rows.record("a", counter: 22))
            #expect(loaded.dependants[Rows.key("b")]?.count == 1)
            let ada = UsageKey(scope: .privateDatabase, user: "_ada")
            let counted = UsageRow(key: ada, size: StoredSize(records: 1, recordBytes: 3, zones: 1))
            #expect(loaded.usage == [ada: counted], "what was there is counted once")
            #expect(loaded.zones[Rows.zone]?.size == StoredSize(records: 1, recordBytes: 3))
            #expect(try store.integrityCheck() == [])
            try store.apply { $0.pushTasks = [PushTaskRow(zone: Rows.zone, maker: nil)] }
        }
        let new = folder.file("new.db")
        _ = try SQLiteCloudStore(path: new)
        #expect(try schema(of: path) == schema(of: new), "an old file ends as a new one begins")
    }

    @Test func aControlFileOfVersionTwoKeepsItsAccountsAndItsTokensAreGoodInBothEnvironments() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("control.db")
        let connection = try Connection(path: path)
        try connection.execute(OlderFormat.controlTwo(token: Hex.text(SHA256.hash("of before"))))
        try connection.close()
        for _ in 1...2 {
            let store = try ControlStore(path: path)
            #expect(try store.tokens.list().map(\.environments) == [.both])
            #expect(try store.tokens.app(apiToken: "of before")?.environments == .both)
            let ann = try #require(try store.accounts.find(named: "ann"))
            #expect(ann.email == "ann@example.com" && !ann.isDeveloper)
            #expect(try store.integrityCheck() == [])
        }
        let new = folder.file("new.db")
        try ControlStore.make(path: new)
        #expect(try schema(of: path) == schema(of: new), "an old file ends as a new one begins")
    }

    private func schema(of path: String) throws -> [String] {
        let connection = try Connection(path: path)
        return try connection.withStatement(
            "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name"
        ) {
            var lines: [String] = []
            while try $0.step() { lines.append($0.text(at: 0)) }
            return lines
        }
    }
}
