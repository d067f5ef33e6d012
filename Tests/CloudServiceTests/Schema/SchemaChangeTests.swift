import CloudService
import CloudStore
import CloudWire
import SQLiteTestSupport
import Testing

/// What the operator does to a schema.
@Suite struct SchemaChangeTests {
    private func schema(_ items: String, before: String = "") throws -> Schema {
        try SchemaLanguage.parse("DEFINE SCHEMA \(before) RECORD TYPE T (\(items));").complete
    }

    private func texts(_ old: Schema, _ new: Schema) -> [String] { old.changes(to: new).map(\.text) }

    @Test func eachDifferenceIsListedOnceInAFixedOrder() throws {
        let old = try schema(
            "a INT64 QUERYABLE, b STRING, GRANT READ TO \"_world\"", before: "CREATE ROLE old;")
        let new = try schema(
            "a DOUBLE QUERYABLE SORTABLE, c BYTES, GRANT READ, WRITE TO \"_world\", GRANT READ TO editor",
            before: "CREATE ROLE editor; RECORD TYPE U (x INT64 QUERYABLE);")
        #expect(
            texts(old, new) == [
                "+ role editor", "- role old", "~ field T.a: INT64 -> DOUBLE",
                "~ index T.a: QUERYABLE -> QUERYABLE SORTABLE", "- field T.b: STRING", "+ field T.c: BYTES",
                "~ grant in T to _world: READ -> READ, WRITE", "+ grant in T to editor: READ",
                "+ record type U", "+ field U.x: INT64", "+ index U.x: QUERYABLE",
            ])
        #expect(texts(new, new) == [])
    }

    @Test func aDeployOnlyAdds() throws {
        let production = try schema(
            "a INT64 QUERYABLE, GRANT READ TO \"_world\", GRANT READ TO old", before: "CREATE ROLE old;")
        let development = try schema(
            "a INT64 SORTABLE, b STRING QUERYABLE, GRANT WRITE TO \"_world\"", before: "CREATE ROLE new;")
        let plan = SchemaDeployment(from: development, to: production)
        #expect(plan.refusals == [])
        #expect(
            plan.changes.map(\.text) == [
                "+ role new", "~ index T.a: QUERYABLE -> QUERYABLE SORTABLE", "+ field T.b: STRING",
                "+ index T.b: QUERYABLE", "~ grant in T to _world: READ -> READ, WRITE",
            ])
        #expect(
            plan.kept.map(\.text) == [
                "- role old", "~ index T.a: QUERYABLE SORTABLE -> SORTABLE",
                "~ grant in T to _world: READ, WRITE -> WRITE", "- grant in T to old: READ",
            ])
        #expect(SchemaDeployment(from: development, to: plan.result).changes == [])
        let exact = SchemaDeployment(from: development, to: production, removes: true)
        #expect(exact.result == development && exact.kept == [])
    }

    @Test func aDeployThatWouldTakeOrChangeAFieldIsRefusedWithEachReason() throws {
        let production = try schema("a INT64, b STRING, c DOUBLE", before: "RECORD TYPE S ();")
        let development = try schema("a STRING, c ENCRYPTED DOUBLE")
        for removes in [false, true] {
            #expect(
                SchemaDeployment(from: development, to: production, removes: removes).refusals == [
                    "development's schema has no record type 'S'",
                    "in development's schema the field 'a' of record type 'T' is STRING, not INT64",
                    "development's schema has no field 'b' in record type 'T'",
                    "in development's schema the field 'c' of record type 'T' is ENCRYPTED DOUBLE, not DOUBLE",
                ])
        }
        let number = try schema(
            "a NUMBER PREFERRED AS INT64, b STRING, c DOUBLE", before: "RECORD TYPE S ();")
        #expect(
            SchemaDeployment(from: number, to: production).refusals == [], "it is decided on, no other type")
    }

    @Test func whatRecordsHoldCannotBeTakenFromTheSchema() throws {
        let cloud = try TestService(
            environment: "development",
            schema: "DEFINE SCHEMA RECORD TYPE T (a INT64, b INT64); RECORD TYPE Empty (a INT64);")
        try cloud.zones(.create)
        try cloud.modify([operation(.create, "x", type: "T", ["a": Field(.int64(1))])])
        func refusal(_ text: String) throws -> [String] {
            let new = try SchemaLanguage.parse("DEFINE SCHEMA " + text)
            return try #require(throws: SchemaRefusal.self) {
                try cloud.service.schemaMaintenance.changeSchema { _ in new }
            }
            .reasons
        }
        let before = try cloud.service.schemaMaintenance.currentSchema()
        #expect(try refusal("") == ["there are records of type 'T', as x"])
        #expect(
            try refusal("RECORD TYPE T (b STRING);")
                == ["the field 'a' of record type 'T' has values, as in x"])
        #expect(
            try refusal("RECORD TYPE T (a STRING);")
                == ["the field 'a' of record type 'T' has values, as in x"])
        #expect(try cloud.service.schemaMaintenance.currentSchema() == before)
        // What holds nothing goes, also from a type that has records.
        let new = try SchemaLanguage.parse("DEFINE SCHEMA RECORD TYPE T (a INT64, b STRING);")
        try cloud.service.schemaMaintenance.changeSchema { _ in new }
        #expect(try cloud.service.schemaMaintenance.currentSchema() == new.complete)
        try cloud.modify([operation(.delete, "x", type: "T")])
        try cloud.service.schemaMaintenance.changeSchema { _ in Schema() }
        #expect(try cloud.service.schemaMaintenance.currentSchema() == Schema.initial)
    }

    @Test func recordsThatAreOlderThanSchemasMakeOne() throws {
        let folder = try TemporaryFolder()
        for store in [MemoryCloudStore(), try SQLiteCloudStore(path: folder.file("s.db"))] as [any CloudStore]
        {
            let stamp = StoreStamp(timestampMilliseconds: 1, userRecordName: "_ada", deviceID: "1")
            func row(
                _ name: String, _ type: String, _ fields: [String: Field], in database: StoredDatabaseKey
            )
                -> StoredRecord
            {
                StoredRecord(
                    key: RecordKey(
                        zone: ZoneKey(database: database, zoneName: "_defaultZone"), recordName: name),
                    recordType: type, tagEpoch: 7, counter: 0, created: stamp, modified: stamp,
                    fields: FieldsBinary.encode(fields))
            }
            var changes = StoreChanges()
            changes.records = [
                row("a", "T", ["f": Field(.string("x"))], in: .publicDatabase),
                row(
                    "b", "T", ["f": Field(.int64(1)), "g": Field(.int64(1))], in: .privateDatabase(of: "_ada")
                ),
                row("c", "U", [:], in: .privateDatabase(of: "_bob")),
            ]
            // As they are in a file that was upgraded.
            changes.indexes = changes.records.map {
                RecordIndexRow(key: $0.key, recordType: $0.recordType, entries: [])
            }
            try store.write { [changes] in try $0.apply(changes) }
            let cloud = try TestService(environment: "production", store: store)
            #expect(try cloud.saveFields(#"{"f":{"value":"y"}}"#, environment: "production").error != nil)
            try cloud.service.schemaMaintenance.adoptSchema()
            let schema = try cloud.service.schemaMaintenance.currentSchema()
            #expect(schema.recordTypes.keys.sorted() == ["T", "U", "Users"])
            #expect(schema.recordTypes["T"]?.fields.mapValues(\.type) == ["f": .string, "g": .int64])
            #expect(
                try cloud.saveFields(#"{"f":{"value":"y"}}"#, environment: "production", name: "new").summary
                    == "saved")
            try cloud.service.schemaMaintenance.adoptSchema()
            #expect(try cloud.service.schemaMaintenance.currentSchema() == schema)
        }
    }

    @Test func aResetLeavesNothingAndDevicesFindOut() throws {
        let folder = try TemporaryFolder()
        let stores: [any CloudStore] = [
            MemoryCloudStore(), try SQLiteCloudStore(path: folder.file("store.db")),
        ]
        for store in stores {
            let cloud = TestService(store: store)
            try cloud.zones(.create)
            try cloud.modify([operation(.create, "a", ["f": Field(.int64(1))])])
            try cloud.modify([operation(.create, "b")], zone: nil, database: "public")
            let token = try cloud.databaseChanges().syncToken
            let target = try schema("f STRING")
            try cloud.service.schemaMaintenance.reset(to: target)
            #expect(try cloud.service.schemaMaintenance.currentSchema() == target)
            #expect(try cloud.lookup(["a"]).summaries == ["ZONE_NOT_FOUND"])
            #expect(try cloud.lookup(["b"], zone: nil, database: "public").summaries == ["NOT_FOUND"])
            let refused = try #require(throws: WireError.self) { try cloud.databaseChanges(token) }
            #expect(refused.tokenRefusal == .reset)
            #expect(try cloud.databaseChanges().zones == [])
            try cloud.zones(.create)
            #expect(
                try cloud.modify([operation(.create, "a", type: "T", ["f": Field(.string("x"))])])
                    .summaries == ["saved"])
        }
    }
}
