import CloudStore
import SQLiteTestSupport
import Testing

/// What every store promises of the schema and the users' roles.
@Suite struct SchemaStoreTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test(arguments: TestStore.all) func thereIsOneSchemaAndItsVersionIsReadAlone(_ kind: TestStore) throws {
        let store = try kind.make(folder)
        #expect(try store.read { try $0.schemaVersion() } == nil)
        #expect(try store.load { $0.schema = true }.schema == nil)
        for row in [SchemaRow(version: .max, content: [1, 2]), SchemaRow(version: 7, content: [])] {
            try store.apply { $0.schema = row }
            #expect(try store.read { try $0.schemaVersion() } == row.version)
            #expect(try store.load { $0.schema = true }.schema == row)
        }
        #expect(try store.load { _ in }.schema == nil, "it comes when it is asked for")
    }

    @Test(arguments: TestStore.all) func aSchemaOfARefusedWriteIsNotThere(_ kind: TestStore) throws {
        struct Refused: Error {}
        let store = try kind.make(folder)
        var changes = StoreChanges()
        changes.schema = SchemaRow(version: 1, content: [1])
        changes.roles = [UserRolesRow(user: "_ada", roles: ["editor"])]
        #expect(!changes.isEmpty)
        try store.write { [changes] writer in
            _ = #expect(throws: Refused.self) {
                try writer.member {
                    try writer.apply(changes)
                    #expect(try writer.schemaVersion() == 1)
                    throw Refused()
                }
            }
        }
        #expect(try store.read { try $0.schemaVersion() } == nil)
        #expect(try store.load { $0.rolesOf = ["_ada"] }.roles == [:])
    }

    @Test(arguments: TestStore.all) func aUsersRolesAreSortedAndNoneIsNoRow(_ kind: TestStore) throws {
        let store = try kind.make(folder)
        try store.apply {
            $0.roles = [
                UserRolesRow(user: "_ada", roles: ["writer", "editor", "writer"]),
                UserRolesRow(user: "_bob", roles: ["editor"]), UserRolesRow(user: "_carl", roles: ["reader"]),
            ]
        }
        let ada = UserRolesRow(user: "_ada", roles: ["editor", "writer"])
        let bob = UserRolesRow(user: "_bob", roles: ["editor"])
        let carl = UserRolesRow(user: "_carl", roles: ["reader"])
        #expect(try store.load { $0.rolesOf = ["_ada", "_dora"] }.roles == ["_ada": ada])
        let first = try store.read { try $0.userRoles(after: nil, usersMax: 2) }
        #expect(first.rows == [ada, bob] && first.moreComing)
        let second = try store.read { try $0.userRoles(after: "_bob", usersMax: 2) }
        #expect(second.rows == [carl] && !second.moreComing)
        try store.apply {
            $0.roles = [
                UserRolesRow(user: "_ada", roles: []), UserRolesRow(user: "_bob", roles: ["writer"]),
            ]
        }
        #expect(
            try store.read { try $0.userRoles(after: nil, usersMax: 9) }.rows == [
                UserRolesRow(user: "_bob", roles: ["writer"]), carl,
            ])
    }

    @Test(arguments: TestStore.all) func erasedDataLeavesSchemaAndRolesAndWhatIsWrittenWithIt(
        _ kind: TestStore
    )
        throws
    {
        let store = try kind.make(folder)
        let other = StoredDatabaseKey.publicDatabase
        let schema = SchemaRow(version: 3, content: [3])
        let roles = UserRolesRow(user: "_ada", roles: ["editor"])
        try store.apply {
            $0.schema = schema
            $0.roles = [roles]
            $0.databases = [DatabaseRow(key: Rows.database, epoch: 1, counter: 1)]
            $0.zones = [ZoneRow(key: Rows.zone, epoch: 1, counter: 1, databaseCounter: 1)]
            $0.records = [
                Rows.record("a", counter: 1),
                Rows.record("b", counter: 0, in: ZoneKey(database: other, zoneName: "_defaultZone")),
            ]
            $0.addedReferences = [
                ReferenceRow(target: Rows.key("b"), sourceName: "a", kind: .parent)
            ]
            $0.pushTasks = [PushTaskRow(zone: Rows.zone, maker: nil)]
        }
        try store.apply {
            $0.erasesData = true
            $0.databases = [DatabaseRow(key: other, epoch: 9, counter: 0)]
        }
        let loaded = try store.load {
            $0.schema = true
            $0.rolesOf = ["_ada"]
            $0.databases = [Rows.database, other]
            $0.zones = [Rows.zone]
            $0.dependantsOf = [Rows.key("b")]
            $0.pushTasks = [Rows.zone]
        }
        #expect(loaded.schema == schema && loaded.roles == ["_ada": roles])
        #expect(loaded.databases.keys.sorted() == [other])
        #expect(loaded.zones.isEmpty && loaded.pushTasks.isEmpty)
        #expect(loaded.dependants[Rows.key("b")] == [])
        #expect(try store.record("a") == nil)
        #expect(try store.record("b", in: ZoneKey(database: other, zoneName: "_defaultZone")) == nil)
    }
}
