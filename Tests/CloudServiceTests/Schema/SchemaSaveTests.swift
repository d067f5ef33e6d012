import CloudService
import CloudStore
import CloudWire
import SQLiteTestSupport
import System
import Testing

extension TestService {
    /// A service of one environment, with a schema when one is given.
    init(
        environment: String, schema text: String? = nil, store: any CloudStore = MemoryCloudStore(),
        seed: UInt64 = 3
    ) throws {
        let clock = ManualTimeSource()
        self.init(
            service: CloudService(
                store: store, clock: clock, random: SeededRandomSource(seed: seed),
                container: CloudService.Container(
                    identifier: Self.container.identifier, environment: environment),
                users: ["ada": Self.ada, "bob": Self.bob]),
            clock: clock)
        if let text {
            let schema = try SchemaLanguage.parse(text)
            try service.schemaMaintenance.changeSchema { _ in schema }
        }
    }

    func save(
        _ body: String, environment: String = "development", database: String = "public",
        token: String? = "ada"
    ) throws -> [RecordResult] {
        let request = WireRequest(
            path: "/database/1/\(Self.container.identifier)/\(environment)/\(database)/records/modify",
            query: token.map { [("ckWebAuthToken", $0)] } ?? [], headers: [("x-yap-client", "1")],
            body: Array(body.utf8))
        return try read(service.respond(to: request), as: RecordsModifyResponse.self).records
    }

    /// Saves one record of type T with the fields of a JSON object.
    func saveFields(_ fields: String, environment: String = "development", name: String = "x") throws
        -> RecordResult
    {
        try #require(
            try save(
                #"{"operations":[{"operationType":"forceUpdate","record":{"recordName":"\#(name)","#
                    + #""recordType":"T","fields":\#(fields)}}]}"#, environment: environment
            ).first)
    }
}

@Suite struct SchemaSaveTests {
    private static let schema = """
        DEFINE SCHEMA RECORD TYPE T (
            text STRING, number INT64, fraction DOUBLE, time TIMESTAMP, bytes BYTES, place LOCATION,
            target REFERENCE, secret ENCRYPTED STRING, blob ENCRYPTED BYTES, tags LIST<STRING>,
            numbers LIST<DOUBLE>, times LIST<TIMESTAMP>, counted NUMBER PREFERRED AS INT64,
            GRANT READ, CREATE, WRITE TO "_icloud"
        );
        """

    /// A field as JSON, and the type and value that it is kept as, or the reason for which it isn't.
    static let values: [(field: String, outcome: String)] = [
        (#""text":{"value":"a"}"#, "STRING"),
        (#""text":{"value":1}"#, "INT64 for field 'text' for type 'T', defined to be: STRING"),
        (#""number":{"value":1}"#, "INT64"), (#""number":{"value":"12"}"#, "INT64"),
        (#""number":{"value":1.0,"type":"DOUBLE"}"#, "INT64"),
        (#""number":{"value":1.5}"#, "DOUBLE for field 'number' for type 'T', defined to be: INT64"),
        (#""number":{"value":true}"#, "INT64"),
        (#""number":{"value":"x"}"#, "STRING for field 'number'"),
        (#""number":{"value":"1","type":"STRING"}"#, "STRING for field 'number'"),
        (#""fraction":{"value":1}"#, "DOUBLE"), (#""fraction":{"value":1,"type":"INT64"}"#, "DOUBLE"),
        (#""fraction":{"value":9007199254740993}"#, "INT64 for field 'fraction'"),
        (#""time":{"value":1700000000000}"#, "TIMESTAMP"),
        (#""time":{"value":1700000000000,"type":"INT64"}"#, "INT64 for field 'time'"),
        (#""time":{"value":0.5}"#, "DOUBLE for field 'time'"),
        (#""bytes":{"value":"AQI="}"#, "BYTES"), (#""bytes":{"value":"?"}"#, "STRING for field 'bytes'"),
        (#""bytes":{"value":"AQI=","type":"STRING"}"#, "STRING for field 'bytes'"),
        (#""place":{"value":{"latitude":1,"longitude":2}}"#, "LOCATION"),
        (#""target":{"value":{"recordName":"y","action":"NONE"}}"#, "REFERENCE"),
        (#""target":{"value":"y"}"#, "STRING for field 'target'"),
        (#""tags":{"value":[]}"#, "STRING_LIST"), (#""tags":{"value":["a"]}"#, "STRING_LIST"),
        (#""tags":{"value":"a"}"#, "STRING for field 'tags' for type 'T', defined to be: STRING_LIST"),
        (#""numbers":{"value":[1,2]}"#, "DOUBLE_LIST"), (#""times":{"value":[1]}"#, "TIMESTAMP_LIST"),
        (#""times":{"value":["a"]}"#, "STRING_LIST for field 'times'"),
        (#""counted":{"value":3}"#, "INT64"), (#""counted":{"value":3.5}"#, "DOUBLE for field 'counted'"),
        (#""secret":{"value":"a","isEncrypted":true}"#, "STRING"),
        (#""secret":{"value":"a"}"#, "Attempt to save non encrypted data in encrypted field type"),
        (#""blob":{"value":"AQI="}"#, "ENCRYPTED_BYTES"),
        (#""blob":{"value":"AQI=","type":"ENCRYPTED_BYTES"}"#, "ENCRYPTED_BYTES"),
        (#""blob":{"value":"AQI=","type":"BYTES"}"#, "Attempt to save non encrypted data"),
        (
            #""text":{"value":"a","isEncrypted":true}"#,
            "Attempt to save encrypted data in non encrypted field type"
        ),
        (#""bytes":{"value":"AQI=","type":"ENCRYPTED_BYTES"}"#, "Attempt to save encrypted data in non"),
    ]

    @Test(arguments: values, ["development", "production"])
    func aValueBecomesOneOfTheFieldsTypeOrIsRefused(
        row: (field: String, outcome: String), environment: String
    ) throws {
        let cloud = try TestService(environment: environment, schema: Self.schema)
        let result = try cloud.saveFields("{\(row.field)}", environment: environment)
        if let error = result.error {
            #expect(error.serverErrorCode == .badRequest && error.ckErrorCode == 12)
            #expect(error.recordName == "x")
            #expect(try #require(error.reason).contains(row.outcome), "\(error)")
        } else {
            #expect(result.record?.fields.values.first?.type?.rawValue == row.outcome, "\(row)")
        }
        #expect(
            try cloud.service.schemaMaintenance.currentSchema() == SchemaLanguage.parse(Self.schema).complete,
            "what is known stays as it is")
    }

    /// What a save would add, and what production says to it.
    static let additions: [(body: String, schemaHas: String, reason: String)] = [
        (
            #"{"recordName":"x","recordType":"New","fields":{"a":{"value":1}}}"#,
            "a               NUMBER PREFERRED AS INT64 QUERYABLE SORTABLE",
            "Cannot create new type New in production schema"
        ),
        (
            #"{"recordName":"x","recordType":"T","fields":{"a":{"value":"b"}}}"#,
            "a               STRING QUERYABLE SEARCHABLE SORTABLE",
            "Cannot create or modify field 'a' in record 'T' in production schema"
        ),
        (
            #"{"recordName":"x","recordType":"T","fields":{"a":{"value":"b","isEncrypted":true}}}"#,
            "a               ENCRYPTED STRING",
            "Cannot create or modify field 'a' in record 'T' in production schema"
        ),
        (
            #"{"recordName":"x","recordType":"T","fields":{"a":{"value":["b"]}}}"#,
            "a               LIST<STRING> QUERYABLE SEARCHABLE",
            "Cannot create or modify field 'a' in record 'T' in production schema"
        ),
        (
            #"{"recordName":"x","recordType":"T","fields":{"a":{"value":"AQI=","type":"BYTES"}}}"#,
            "a               BYTES", "Cannot create or modify field 'a' in record 'T' in production schema"
        ),
    ]

    @Test(arguments: additions) func inDevelopmentASaveMakesTypesFieldsAndIndexesAndInProductionItIsRefused(
        body: String, schemaHas: String, reason: String
    ) throws {
        let text = "DEFINE SCHEMA RECORD TYPE T (GRANT READ, CREATE, WRITE TO \"_icloud\");"
        let request = #"{"operations":[{"operationType":"create","record":\#(body)}]}"#
        let development = try TestService(environment: "development", schema: text)
        #expect(try development.save(request).summaries == ["saved"])
        let grown = try development.service.schemaMaintenance.currentSchema()
        #expect(SchemaLanguage.print(grown).contains(schemaHas), "\(SchemaLanguage.print(grown))")
        let production = try TestService(environment: "production", schema: text)
        let results = try production.save(request, environment: "production")
        #expect(results[0].error?.reason == reason && results[0].error?.serverErrorCode == .badRequest)
        #expect(results[0].error?.recordName == "x" && results[0].error?.ckErrorCode == 12)
        #expect(
            try production.service.schemaMaintenance.currentSchema() == SchemaLanguage.parse(text).complete)
    }

    @Test func aNewTypeHasTheUsualGrantsAndCanBeAskedForWithoutAFilter() throws {
        let cloud = TestService()
        try cloud.modify([operation(.create, "a", type: "New")], zone: nil)
        let type = try #require(try cloud.service.schemaMaintenance.currentSchema().recordTypes["New"])
        #expect(type.grants == ["_creator": .write, "_icloud": .create, "_world": .read])
        #expect(type.systemIndexes == ["___recordID": .queryable])
    }

    @Test func whatCannotBeAFieldIsRefusedInItsRecordAlone() throws {
        let cloud = TestService()
        func reason(_ fields: String) throws -> String {
            try #require(try cloud.saveFields(fields).error?.reason)
        }
        #expect(
            try reason(#"{"a":{"value":[]}}"#)
                == "cannot use an empty list to initialize a new field (field 'a' in record type 'T' should be "
                + "more precise)")
        #expect(try reason(#"{"___a":{"value":1}}"#).contains("are reserved"))
        #expect(
            try reason(#"{"a":{"value":{"recordName":"y","action":"NONE"},"isEncrypted":true}}"#)
                .contains("can't be encrypted"))
        #expect(try cloud.saveFields(#"{"a":{"value":null}}"#).summary == "saved")
        let schema = try cloud.service.schemaMaintenance.currentSchema()
        #expect(schema.recordTypes["T"]?.fields == [:], "an empty field needs none")
    }

    @Test func aRefusedSaveAddsNothingToTheSchema() throws {
        let cloud = TestService()
        try cloud.zones(.create)
        let before = try cloud.service.schemaMaintenance.currentSchema()
        // Refused by itself, by an atomic neighbour, by a missing target, and as a whole.
        try cloud.modify([operation(.update, "a", ["f1": Field(.string("x"))])])
        try cloud.modify([
            operation(.create, "b", ["f2": Field(.string("x"))]),
            operation(.update, "c", ["f3": Field(.string("x"))]),
        ])
        try cloud.modify([operation(.create, "d", ["f4": reference("nowhere", .validate)])])
        try cloud.modify(
            [operation(.create, "e", ["f5": Field(.string(String(repeating: "x", count: 1_500_000)))])])
        #expect(try cloud.service.schemaMaintenance.currentSchema() == before)
        // What another record of the batch needs is there all the same.
        try cloud.modify(
            [
                operation(.create, "g", ["f6": Field(.string("x"))]),
                operation(.update, "h", ["f6": Field(.int64(1)), "f7": Field(.int64(1))]),
                operation(.create, "i", ["f6": Field(.string("y")), "f8": Field(.int64(1))]),
            ], atomic: false)
        let fields = try #require(
            try cloud.service.schemaMaintenance.currentSchema().recordTypes["todo"]?.fields)
        #expect(fields.keys.sorted() == ["f6", "f8"])
    }

    @Test func twoRecordsOfABatchCannotMakeOneFieldOfTwoTypes() throws {
        let cloud = TestService()
        let results = try cloud.modify(
            [
                operation(.create, "a", ["f": Field(.string("x"))]),
                operation(.create, "b", ["f": Field(.int64(1))]),
            ], zone: nil)
        #expect(results.summaries == ["saved", "BAD_REQUEST"])
    }

    @Test func aMemberOfAGroupThatIsUndoneAddsNothing() throws {
        struct Undone: Error {}
        let store = ScriptedStore()
        let cloud = TestService(store: store)
        store.onApply = { writer in if writer.lastNames == ["bad"] { throw Undone() } }
        let requests = try ["good", "bad", "fine"].map { name in
            cloud.request(
                "records/modify",
                try RecordsModifyRequest(
                    operations: [operation(.create, name, [name: Field(.int64(1))])], zoneID: nil
                ).json(extras: true))
        }
        for request in requests { _ = cloud.service.begin(request) }
        let statuses = cloud.service.commitGroup().map(\.response.status)
        #expect(statuses.count { $0 == 200 } == 2)
        let fields = try #require(
            try cloud.service.schemaMaintenance.currentSchema().recordTypes["todo"]?.fields)
        #expect(fields.keys.sorted() == ["fine", "good"])
        store.onApply = { _ in }
        try cloud.modify([operation(.create, "bad", ["bad": Field(.string("x"))])], zone: nil)
        #expect(
            try cloud.service.schemaMaintenance.currentSchema().recordTypes["todo"]?.fields["bad"]?.type
                == .string)
    }

    @Test func twoProcessesThatAddFieldsJustInTimeLoseNone() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("store.db")
        let clouds = try [1, 2].map { seed in
            TestService(store: try SQLiteCloudStore(path: path), seed: seed)
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, cloud) in clouds.enumerated() {
                group.addTask {
                    for field in 0..<20 {
                        let results = try cloud.modify(
                            [
                                operation(
                                    .create, "r\(number)-\(field)", ["f\(number)_\(field)": Field(.int64(1))])
                            ], zone: nil)
                        #expect(results.summaries == ["saved"])
                    }
                }
            }
            try await group.waitForAll()
        }
        for cloud in clouds {
            #expect(
                try cloud.service.schemaMaintenance.currentSchema().recordTypes["todo"]?.fields.count == 40)
        }
    }

    @Test func aSchemaThatAnotherProcessChangedHoldsFromTheNextRequestOn() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("store.db")
        let text = "DEFINE SCHEMA RECORD TYPE T (GRANT READ, CREATE, WRITE TO \"_icloud\");"
        let server = try TestService(
            environment: "production", schema: text, store: try SQLiteCloudStore(path: path))
        #expect(try server.saveFields(#"{"a":{"value":1}}"#, environment: "production").error != nil)
        _ = try TestService(
            environment: "production", schema: text.replacing("(GRANT", with: "(a INT64, GRANT"),
            store: try SQLiteCloudStore(path: path), seed: 4)
        #expect(try server.saveFields(#"{"a":{"value":1}}"#, environment: "production").summary == "saved")
    }

    @Test func aSchemaGrowsOnlySoFar() throws {
        var limits = ServiceLimits()
        limits.schemaFieldsMax = 3
        limits.recordTypesMax = 2
        let cloud = TestService(limits: limits)
        func save(_ name: String, _ type: String, _ field: String) throws -> String {
            try cloud.modify(
                [operation(.create, name, type: type, [field: Field(.int64(1))])], zone: nil
            ).summaries[0]
        }
        // The users' type and its field count.
        #expect(try save("a", "todo", "x") == "saved")
        #expect(try save("b", "note", "x") == "BAD_REQUEST")
        #expect(try save("c", "todo", "y") == "saved")
        #expect(try save("d", "todo", "z") == "BAD_REQUEST")
    }
}
