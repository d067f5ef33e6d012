import CloudStore
import CloudWire
import Testing

@testable import CloudService

/// Which records a filter matches, one by one.
@Suite struct QueryMatcherTests {
    static let zone = ZoneKey(database: .privateDatabase(of: "_ada"), zoneName: "todos")
    static let schema: Schema = {
        var type = RecordType()
        let all: FieldIndexes = [.queryable, .sortable]
        type.fields = [
            "text": FieldDefinition(.string, indexes: [.queryable, .sortable, .searchable]),
            "note": FieldDefinition(.string, indexes: .searchable),
            "number": FieldDefinition(.int64, indexes: all), "part": FieldDefinition(.double, indexes: all),
            "time": FieldDefinition(.timestamp, indexes: all),
            "bytes": FieldDefinition(.bytes, indexes: .queryable),
            "link": FieldDefinition(.reference, indexes: .queryable),
            "place": FieldDefinition(.location, indexes: all),
            "tags": FieldDefinition(.stringList, indexes: [.queryable, .searchable]),
            "numbers": FieldDefinition(.int64List, indexes: .queryable),
            "links": FieldDefinition(.referenceList, indexes: .queryable), "bare": FieldDefinition(.string),
            "secret": FieldDefinition(.string, isEncrypted: true, indexes: .queryable),
        ]
        type.systemIndexes = [
            "___recordID": .queryable, "___createdBy": .queryable, "___createTime": all,
            "___modTime": .queryable,
            "___modifiedBy": .queryable, "___etag": .queryable,
        ]
        var schema = Schema()
        schema.recordTypes["todo"] = type
        schema.recordTypes["bare"] = RecordType()
        return schema
    }()

    static func row(_ name: String, parent: String? = nil, millis: Int64 = 1_000, by: String = "_ada")
        -> StoredRecord
    {
        let stamp = StoreStamp(timestampMilliseconds: millis, userRecordName: by, deviceID: "1")
        return StoredRecord(
            key: RecordKey(zone: zone, recordName: name), recordType: "todo", tagEpoch: 7, counter: 1,
            parent: parent,
            created: stamp, modified: stamp, fields: [])
    }

    static func query(_ filters: String, sorts: String = "[]", type: String = "todo") throws -> RecordQuery {
        let body = #"{"query":{"recordType":"\#(type)","filterBy":\#(filters),"sortBy":\#(sorts)}}"#
        return try #require(try RecordsQueryRequest(json: Array(body.utf8)).query)
    }

    static func matcher(_ filters: String, sorts: String = "[]", type: String = "todo") throws -> QueryMatcher
    {
        try QueryMatcher(
            query(filters, sorts: sorts, type: type), schema: schema, database: zone.database,
            userRecordName: "_ada",
            limits: ServiceLimits())
    }

    static let full: [String: Field] = [
        "text": Field(.string("Buy Crème fraîche, twice")), "note": Field(.string("日本 trip")),
        "number": Field(.int64(-5)), "part": Field(.double(0.5)),
        "time": Field(.timestamp(milliseconds: 100)),
        "bytes": Field(.bytes([1, 2])), "link": Field(.reference(Reference(recordName: "other"))),
        "place": Field(.location(Location(latitude: 52.52, longitude: 13.405))),
        "tags": Field(.list(.stringList, [.string("red"), .string("green")])),
        "numbers": Field(.list(.int64List, [.int64(1), .int64(2)])),
        "links": Field(
            .list(.referenceList, [.reference(Reference(recordName: "a", zoneID: ZoneID(zoneName: "b")))])),
    ]

    /// Filters, whether they match the full record, and whether one without any field.
    static let table: [(filter: String, full: Bool, empty: Bool)] = [
        (#"{"comparator":"EQUALS","fieldName":"number","fieldValue":{"value":-5}}"#, true, false),
        (
            #"{"comparator":"EQUALS","fieldName":"number","fieldValue":{"value":"-5","type":"INT64"}}"#, true,
            false
        ),
        (#"{"comparator":"EQUALS","fieldName":"number","fieldValue":{"value":-4}}"#, false, false),
        (#"{"comparator":"EQUALS","fieldName":"part","fieldValue":{"value":0.5}}"#, true, false),
        (#"{"comparator":"EQUALS","fieldName":"time","fieldValue":{"value":100}}"#, true, false),
        (#"{"comparator":"EQUALS","fieldName":"bytes","fieldValue":{"value":"AQI="}}"#, true, false),
        (
            #"{"comparator":"EQUALS","fieldName":"bytes","fieldValue":{"value":"AQI=","type":"BYTES"}}"#,
            true, false
        ),
        (#"{"comparator":"EQUALS","fieldName":"text","fieldValue":{"value":"Buy"}}"#, false, false),
        (#"{"comparator":"NOT_EQUALS","fieldName":"number","fieldValue":{"value":-5}}"#, false, true),
        (#"{"comparator":"NOT_EQUALS","fieldName":"number","fieldValue":{"value":7}}"#, true, true),
        (#"{"comparator":"LESS_THAN","fieldName":"number","fieldValue":{"value":-5}}"#, false, false),
        (#"{"comparator":"LESS_THAN","fieldName":"number","fieldValue":{"value":3}}"#, true, false),
        (#"{"comparator":"LESS_THAN_OR_EQUALS","fieldName":"part","fieldValue":{"value":0.5}}"#, true, false),
        (#"{"comparator":"LESS_THAN_OR_EQUALS","fieldName":"part","fieldValue":{"value":-1}}"#, false, false),
        (#"{"comparator":"GREATER_THAN","fieldName":"time","fieldValue":{"value":99}}"#, true, false),
        (#"{"comparator":"GREATER_THAN","fieldName":"time","fieldValue":{"value":100}}"#, false, false),
        (
            #"{"comparator":"GREATER_THAN_OR_EQUALS","fieldName":"text","fieldValue":{"value":"Buy"}}"#, true,
            false
        ),
        (#"{"comparator":"GREATER_THAN","fieldName":"text","fieldValue":{"value":"Z"}}"#, false, false),
        (#"{"comparator":"IN","fieldName":"number","fieldValue":{"value":[1,-5]}}"#, true, false),
        (
            #"{"comparator":"IN","fieldName":"number","fieldValue":{"value":[],"type":"INT64_LIST"}}"#, false,
            false
        ),
        (#"{"comparator":"NOT_IN","fieldName":"number","fieldValue":{"value":[1,2]}}"#, true, true),
        (#"{"comparator":"NOT_IN","fieldName":"number","fieldValue":{"value":[-5]}}"#, false, true),
        (#"{"comparator":"LIST_CONTAINS","fieldName":"tags","fieldValue":{"value":"green"}}"#, true, false),
        (#"{"comparator":"LIST_CONTAINS","fieldName":"tags","fieldValue":{"value":"gree"}}"#, false, false),
        (#"{"comparator":"NOT_LIST_CONTAINS","fieldName":"numbers","fieldValue":{"value":2}}"#, false, true),
        (
            #"{"comparator":"LIST_CONTAINS_ANY","fieldName":"numbers","fieldValue":{"value":[9,2]}}"#, true,
            false
        ),
        (
            #"{"comparator":"NOT_LIST_CONTAINS_ANY","fieldName":"numbers","fieldValue":{"value":[9]}}"#, true,
            true
        ),
        (
            #"{"comparator":"LIST_CONTAINS_ALL","fieldName":"numbers","fieldValue":{"value":[1,2]}}"#, true,
            false
        ),
        (
            #"{"comparator":"LIST_CONTAINS_ALL","fieldName":"numbers","fieldValue":{"value":[1,3]}}"#, false,
            false
        ),
        (
            #"{"comparator":"NOT_LIST_CONTAINS_ALL","fieldName":"numbers","fieldValue":{"value":[1,3]}}"#,
            true, true
        ),
        (#"{"comparator":"CONTAINS_ANY","fieldName":"numbers","fieldValue":{"value":[9,2]}}"#, true, false),
        (#"{"comparator":"BEGINS_WITH","fieldName":"text","fieldValue":{"value":"Buy C"}}"#, true, false),
        (#"{"comparator":"BEGINS_WITH","fieldName":"text","fieldValue":{"value":"buy"}}"#, false, false),
        (#"{"comparator":"NOT_BEGINS_WITH","fieldName":"text","fieldValue":{"value":"Buy"}}"#, false, true),
        (
            #"{"comparator":"LIST_MEMBER_BEGINS_WITH","fieldName":"tags","fieldValue":{"value":"gr"}}"#, true,
            false
        ),
        (
            #"{"comparator":"NOT_LIST_MEMBER_BEGINS_WITH","fieldName":"tags","fieldValue":{"value":"b"}}"#,
            true, true
        ),
        (
            #"{"comparator":"CONTAINS_ALL_TOKENS","fieldName":"text","fieldValue":{"value":"FRAICHE creme"}}"#,
            true, false
        ),
        (
            #"{"comparator":"CONTAINS_ALL_TOKENS","fieldName":"text","fieldValue":{"value":"creme milk"}}"#,
            false, false
        ),
        (
            #"{"comparator":"CONTAINS_ANY_TOKENS","fieldName":"text","fieldValue":{"value":"milk buy"}}"#,
            true, false
        ),
        (#"{"comparator":"CONTAINS_ALL_TOKENS","fieldName":"note","fieldValue":{"value":"本"}}"#, true, false),
        (
            #"{"comparator":"CONTAINS_ALL_TOKENS","fieldName":"tags","fieldValue":{"value":"Red"}}"#, true,
            false
        ),
        (#"{"comparator":"CONTAINS_ALL_TOKENS","fieldValue":{"value":"trip twice red"}}"#, true, false),
        (near(52.53, 13.405, metres: 2_000), true, false), (near(52.53, 13.405, metres: 1_000), false, false),
        (
            #"{"comparator":"EQUALS","fieldName":"link","fieldValue":{"value":{"recordName":"other"}}}"#,
            true, false
        ),
        (link("link", "EQUALS", "other", zone: "todos"), true, false),
        (link("link", "EQUALS", "other", zone: "_defaultZone"), false, false),
        (link("links", "LIST_CONTAINS", "a", zone: "b"), true, false),
        (
            #"{"comparator":"LIST_CONTAINS","fieldName":"links","fieldValue":{"value":{"recordName":"a"}}}"#,
            false, false
        ),
    ]

    static func near(_ latitude: Double, _ longitude: Double, metres: Int) -> String {
        #"{"comparator":"NEAR","fieldName":"place","distance":\#(metres),"#
            + #""fieldValue":{"value":{"latitude":\#(latitude),"longitude":\#(longitude)}}}"#
    }

    static func link(_ field: String, _ comparator: String, _ name: String, zone: String) -> String {
        #"{"comparator":"\#(comparator)","fieldName":"\#(field)","fieldValue":{"type":"REFERENCE","value":"#
            + #"{"recordName":"\#(name)","zoneID":{"zoneName":"\#(zone)","ownerRecordName":"_ada"}}}}"#
    }

    @Test func eachComparatorMatchesWhatItSays() throws {
        for (filter, full, empty) in Self.table {
            let matcher = try Self.matcher("[\(filter)]")
            #expect(matcher.matches(Self.row("r"), fields: Self.full) == full, "\(filter)")
            #expect(matcher.matches(Self.row("r"), fields: [:]) == empty, "\(filter)")
        }
        let used = Set(Self.table.map { $0.filter.split(separator: "\"")[3] })
        #expect(Set(QueryComparator.allCases.map(\.rawValue)) == Set(used.map(String.init)))
    }

    @Test func systemFieldsAreMatchedUnderBothSpellings() throws {
        let row = Self.row("first", parent: "list", millis: 5_000, by: "_bob")
        let fields: [(names: [String], value: String)] = [
            (
                ["recordName", "___recordID", "___recordId"],
                #"{"value":{"recordName":"first"},"type":"REFERENCE"}"#
            ),
            (["parent", "___parent"], #"{"value":{"recordName":"list"}}"#),
            (
                ["createdUserRecordName", "___createdBy"],
                #"{"value":{"recordName":"_bob"},"type":"REFERENCE"}"#
            ),
            (["modifiedUserRecordName", "___modifiedBy"], #"{"value":"_bob"}"#),
            (["createdTimestamp", "___createTime"], #"{"value":5000,"type":"TIMESTAMP"}"#),
            (["modifiedTimestamp", "___modTime"], #"{"value":5000}"#),
        ]
        for (names, value) in fields {
            for (index, name) in names.enumerated() {
                let key = index == 0 ? "systemFieldName" : "fieldName"
                let filter = #"{"comparator":"EQUALS","\#(key)":"\#(name)","fieldValue":\#(value)}"#
                #expect(try Self.matcher("[\(filter)]").matches(row, fields: [:]), "\(filter)")
                let other = Self.row("second", millis: 6_000, by: "_ada")
                #expect(try !Self.matcher("[\(filter)]").matches(other, fields: [:]), "\(filter)")
            }
        }
        let shared =
            #"{"comparator":"EQUALS","systemFieldName":"share","fieldValue":{"value":{"recordName":"s"}}}"#
        #expect(try !Self.matcher("[\(shared)]").matches(row, fields: [:]))
    }

    @Test func theFrameworksNameForTheUserMeansTheCaller() throws {
        let filter =
            #"[{"comparator":"EQUALS","systemFieldName":"createdUserRecordName","#
            + #""fieldValue":{"value":{"recordName":"__defaultOwner__"}}}]"#
        #expect(try Self.matcher(filter).matches(Self.row("r", by: "_ada"), fields: [:]))
        #expect(try !Self.matcher(filter).matches(Self.row("r", by: "_bob"), fields: [:]))
    }

    @Test func aTombstoneAndAnotherTypeMatchNothing() throws {
        let matcher = try Self.matcher("[]")
        var row = Self.row("r")
        #expect(matcher.matches(row, fields: [:]))
        row.isDeleted = true
        #expect(!matcher.matches(row, fields: [:]))
        row = Self.row("r")
        row.recordType = "other"
        #expect(!matcher.matches(row, fields: [:]))
    }

    static let refused: [(filters: String, sorts: String, names: String)] = [
        (
            #"[{"comparator":"EQUALS","fieldName":"bare","fieldValue":{"value":"x"}}]"#, "[]",
            "Field 'bare' is not marked queryable"
        ),
        (
            #"[{"comparator":"EQUALS","fieldName":"secret","fieldValue":{"value":"x"}}]"#, "[]",
            "Field 'secret' is not marked queryable"
        ),
        ("[]", #"[{"fieldName":"bytes"}]"#, "Field 'bytes' is not marked sortable"),
        (
            #"[{"comparator":"CONTAINS_ALL_TOKENS","fieldName":"bare","fieldValue":{"value":"x"}}]"#, "[]",
            "Field 'bare' is not marked searchable"
        ),
        ("[]", #"[{"systemFieldName":"recordName"}]"#, "Field 'recordName' is not marked sortable"),
        (#"[{"comparator":"EQUALS","fieldName":"nothing","fieldValue":{"value":"x"}}]"#, "[]", "'nothing'"),
        (#"[{"comparator":"EQUALS","fieldName":"number","fieldValue":{"value":"x"}}]"#, "[]", "'number'"),
        (#"[{"comparator":"EQUALS","fieldName":"number","fieldValue":{"value":0.5}}]"#, "[]", "'number'"),
        (#"[{"comparator":"EQUALS","fieldName":"number","fieldValue":{"value":null}}]"#, "[]", "'number'"),
        (#"[{"comparator":"EQUALS","fieldName":"tags","fieldValue":{"value":"x"}}]"#, "[]", "'tags'"),
        (#"[{"comparator":"LIST_CONTAINS","fieldName":"text","fieldValue":{"value":"x"}}]"#, "[]", "'text'"),
        (#"[{"comparator":"LESS_THAN","fieldName":"bytes","fieldValue":{"value":"AQI="}}]"#, "[]", "'bytes'"),
        (#"[{"comparator":"IN","fieldName":"text","fieldValue":{"value":"x"}}]"#, "[]", "'text'"),
        (#"[{"comparator":"IN","fieldName":"text","fieldValue":{"value":[1]}}]"#, "[]", "'text'"),
        (
            #"[{"comparator":"NEAR","fieldName":"place","fieldValue":{"value":{"latitude":1,"longitude":1}}}]"#,
            "[]",
            "'place' needs a distance"
        ),
        ("[]", #"[{"fieldName":"place"}]"#, "'place'"),
        (
            #"[{"comparator":"SOUNDS_LIKE","fieldName":"text","fieldValue":{"value":"x"}}]"#, "[]",
            "SOUNDS_LIKE"
        ),
        (#"[{"comparator":"EQUALS","systemFieldName":"size","fieldValue":{"value":"x"}}]"#, "[]", "'size'"),
    ]

    @Test func whatIsNoQueryForTheSchemaIsRefusedWithTheFieldsName() throws {
        for (filters, sorts, names) in Self.refused {
            let error = #expect(throws: WireError.self) { try Self.matcher(filters, sorts: sorts) }
            #expect(error?.serverErrorCode == .badRequest, "\(filters)")
            #expect(error?.reason?.contains(names) == true, "\(error?.reason ?? "")")
        }
        let unknown = #expect(throws: WireError.self) { try Self.matcher("[]", type: "nothing") }
        #expect(unknown?.serverErrorCode == .notFound && unknown?.reason?.contains("nothing") == true)
        let all = #expect(throws: WireError.self) { try Self.matcher("[]", type: "bare") }
        #expect(all?.reason?.contains("Field 'recordName' is not marked queryable") == true)
    }

    @Test func bytesAreOrderedAsTheirValuesAre() {
        let whole: [Int64] = [.min, -70_000, -256, -1, 0, 1, 255, 256, .max]
        let parts = [-Double.greatestFiniteMagnitude, -1.5, -1e-300, 0, 1e-300, 0.5, 1, 1.5e300]
        let encoded = [whole.map { OrderedBytes.number($0) }, parts.map { OrderedBytes.number($0) }]
        for bytes in encoded {
            for (left, right) in zip(bytes, bytes.dropFirst()) {
                #expect(left.lexicographicallyPrecedes(right))
            }
        }
        #expect(OrderedBytes.number(-0.0) == OrderedBytes.number(0.0))
    }
}
