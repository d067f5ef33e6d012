import CloudService
import CloudWire
import System
import Testing

@Suite struct SchemaLanguageTests {
    /// As Apple's console exports one.
    private static let apples = """
        DEFINE SCHEMA

            CREATE ROLE editor;

            RECORD TYPE Note (
                "___createTime" TIMESTAMP QUERYABLE SORTABLE,
                "___createdBy"  REFERENCE,
                "___etag"       STRING,
                "___modTime"    TIMESTAMP,
                "___modifiedBy" REFERENCE,
                "___recordID"   REFERENCE QUERYABLE,
                count           INT64 QUERYABLE SORTABLE,
                "grant"         NUMBER PREFERRED AS INT64 QUERYABLE,
                place           LOCATION QUERYABLE,
                secret          ENCRYPTED STRING,
                tags            LIST<STRING> QUERYABLE SEARCHABLE,
                title           STRING QUERYABLE SEARCHABLE SORTABLE,
                GRANT READ, WRITE TO "_creator",
                GRANT CREATE TO "_icloud",
                GRANT READ TO "_world",
                GRANT READ, CREATE, WRITE TO editor
            );

        """

    @Test func aSchemaAsApplesConsoleExportsItIsPrintedAsItCame() throws {
        let schema = try SchemaLanguage.parse(Self.apples)
        let note = try #require(schema.recordTypes["Note"])
        #expect(schema.roles == ["editor"])
        #expect(
            note.fields["title"] == FieldDefinition(.string, indexes: [.queryable, .searchable, .sortable]))
        #expect(note.fields["grant"] == FieldDefinition(.int64, isNumber: true, indexes: .queryable))
        #expect(note.fields["secret"] == FieldDefinition(.string, isEncrypted: true))
        #expect(note.fields["tags"] == FieldDefinition(.stringList, indexes: [.queryable, .searchable]))
        #expect(
            note.systemIndexes == ["___createTime": [.queryable, .sortable], "___recordID": .queryable])
        #expect(
            note.grants == [
                "_creator": [.read, .write], "_icloud": .create, "_world": .read,
                "editor": [.read, .create, .write],
            ])
        #expect(SchemaLanguage.print(schema) == Self.apples)
    }

    @Test func everyTypeOfTheLanguageIsReadAndWritten() throws {
        let types: [(String, FieldDefinition)] = [
            ("ASSET", FieldDefinition(.asset)), ("BYTES", FieldDefinition(.bytes)),
            ("DOUBLE", FieldDefinition(.double)), ("INT64", FieldDefinition(.int64)),
            ("LOCATION", FieldDefinition(.location)), ("REFERENCE", FieldDefinition(.reference)),
            ("STRING", FieldDefinition(.string)), ("TIMESTAMP", FieldDefinition(.timestamp)),
            ("NUMBER PREFERRED AS INT64", FieldDefinition(.int64, isNumber: true)),
            ("NUMBER PREFERRED AS DOUBLE", FieldDefinition(.double, isNumber: true)),
            ("ENCRYPTED BYTES", FieldDefinition(.encryptedBytes, isEncrypted: true)),
            ("ENCRYPTED STRING", FieldDefinition(.string, isEncrypted: true)),
            ("ENCRYPTED DOUBLE", FieldDefinition(.double, isEncrypted: true)),
            ("ENCRYPTED INT64", FieldDefinition(.int64, isEncrypted: true)),
            ("ENCRYPTED LOCATION", FieldDefinition(.location, isEncrypted: true)),
            ("ENCRYPTED TIMESTAMP", FieldDefinition(.timestamp, isEncrypted: true)),
            ("LIST<STRING>", FieldDefinition(.stringList)), ("LIST<ASSET>", FieldDefinition(.assetList)),
            ("LIST<ENCRYPTED BYTES>", FieldDefinition(.encryptedBytesList, isEncrypted: true)),
            ("LIST<NUMBER PREFERRED AS INT64>", FieldDefinition(.int64List, isNumber: true)),
        ]
        for (text, definition) in types {
            let schema = try SchemaLanguage.parse("DEFINE SCHEMA RECORD TYPE T (f \(text));")
            #expect(schema.recordTypes["T"]?.fields["f"] == definition, "\(text)")
            #expect(definition.typeName == text)
        }
        let number = try SchemaLanguage.parse("define schema record type T (f number);")
        #expect(number.recordTypes["T"]?.fields["f"] == FieldDefinition(.double, isNumber: true))
    }

    @Test func commentsOfThreeKindsAreSpaceAndNamesThatNeedItAreQuoted() throws {
        let schema = try SchemaLanguage.parse(
            """
            -- a line; "with" (signs
            DEFINE /* several
              lines */ SCHEMA // more
            RECORD/**/TYPE "my type" ( "SortaBle" STRING, "a""b" INT64, _x INT64 );
            """.replacing("_x", with: "\"_x\""))
        let fields = try #require(schema.recordTypes["my type"]).fields
        #expect(fields.keys.sorted() == ["SortaBle", "_x", "a\"b"])
        let printed = SchemaLanguage.print(schema)
        #expect(
            printed.contains(#""SortaBle""#) && printed.contains(#""a""b""#) && printed.contains(#""_x""#))
        #expect(try SchemaLanguage.parse(printed) == schema)
    }

    static let faults: [(String, Int, Int, String)] = [
        ("", 1, 1, "expected DEFINE, found the end of the text"),
        ("DEFINE SCHEME", 1, 8, "expected SCHEMA, found 'SCHEME'"),
        ("DEFINE SCHEMA\n  TYPE Note ();", 2, 3, "expected CREATE ROLE, RECORD TYPE or the end"),
        ("DEFINE SCHEMA RECORD TYPE Note (\n  title STRNG\n);", 2, 9, "expected a type (ASSET, BYTES"),
        ("DEFINE SCHEMA RECORD TYPE Note (title STRING", 1, 45, "expected ',' or ')'"),
        (
            "DEFINE SCHEMA RECORD TYPE Note (title STRING,);", 1, 46,
            "expected a field or GRANT after the comma"
        ),
        ("DEFINE SCHEMA RECORD TYPE Note (title STRING)", 1, 46, "expected ';'"),
        ("DEFINE SCHEMA RECORD TYPE N (a INT64, a INT64);", 1, 39, "the field 'a' is defined twice"),
        ("DEFINE SCHEMA RECORD TYPE N (); RECORD TYPE N ();", 1, 45, "the record type 'N' is defined twice"),
        ("DEFINE SCHEMA RECORD TYPE N (a LIST<LIST<INT64>>);", 1, 37, "expected a type"),
        ("DEFINE SCHEMA RECORD TYPE N (a ENCRYPTED ASSET);", 1, 42, "a type that can be encrypted"),
        ("DEFINE SCHEMA RECORD TYPE N (a ENCRYPTED STRING QUERYABLE);", 1, 49, "can't be QUERYABLE"),
        ("DEFINE SCHEMA RECORD TYPE N (a ASSET QUERYABLE);", 1, 38, "can't be QUERYABLE"),
        ("DEFINE SCHEMA RECORD TYPE N (a INT64 SEARCHABLE);", 1, 38, "can't be SEARCHABLE"),
        ("DEFINE SCHEMA RECORD TYPE N (a INT64 SORTABLE SORTABLE);", 1, 47, "SORTABLE is given twice"),
        ("DEFINE SCHEMA RECORD TYPE N (a NUMBER PREFERRED AS STRING);", 1, 52, "expected INT64 or DOUBLE"),
        ("DEFINE SCHEMA RECORD TYPE N (GRANT OWN TO \"_world\");", 1, 36, "expected READ, CREATE or WRITE"),
        ("DEFINE SCHEMA RECORD TYPE N (GRANT READ TO boss);", 1, 44, "there is no role 'boss'"),
        ("DEFINE SCHEMA RECORD TYPE N (sortable INT64);", 1, 30, "is a reserved word"),
        ("DEFINE SCHEMA RECORD TYPE N (_a INT64);", 1, 30, "needs double quotes"),
        ("DEFINE SCHEMA RECORD TYPE N (\"___etag\" INT64);", 1, 30, "is the system's and a STRING"),
        ("DEFINE SCHEMA RECORD TYPE N (\"___mine\" INT64);", 1, 30, "are reserved"),
        ("DEFINE SCHEMA CREATE ROLE \"_boss\";", 1, 27, "are reserved"),
        ("DEFINE SCHEMA CREATE ROLE a; CREATE ROLE a;", 1, 42, "the role 'a' is defined twice"),
        ("DEFINE SCHEMA /* no end", 1, 15, "has no '*/'"),
        ("DEFINE SCHEMA RECORD TYPE \"N", 1, 27, "no other one in its line"),
        ("DEFINE SCHEMA RECORD TYPE \"\" ();", 1, 27, "must have 1 to 255 characters"),
        ("DEFINE SCHEMA // é é\n ?", 2, 2, "this character means nothing"),
        ("DEFINE SCHEMA /* é */ ?", 1, 23, "this character means nothing"),
    ]

    @Test(arguments: faults) func anErrorSaysWhereAndWhatWasExpected(
        text: String, line: Int, column: Int, words: String
    ) throws {
        let error = try #require(throws: SchemaTextError.self) { try SchemaLanguage.parse(text) }
        #expect(error.line == line && error.column == column, "\(error)")
        #expect(error.reason.contains(words), "\(error)")
    }

    @Test func whatIsTooMuchIsRefused() throws {
        func refused(_ text: String) throws -> String {
            try #require(throws: SchemaTextError.self) { try SchemaLanguage.parse(text) }.reason
        }
        let name = String(repeating: "a", count: 256)
        #expect(try refused("DEFINE SCHEMA RECORD TYPE \(name) ();").contains("255"))
        #expect(try refused("DEFINE SCHEMA RECORD TYPE \"\(name)\" ();").contains("255"))
        #expect(try refused("DEFINE SCHEMA \(name)").utf8.count < 200, "an error isn't as long as the text")
        let roles = (0...SchemaLanguage.rolesMax).map { "CREATE ROLE r\($0);" }.joined()
        #expect(try refused("DEFINE SCHEMA " + roles).contains("roles at most"))
        let types = (0...SchemaLanguage.recordTypesMax).map { "RECORD TYPE t\($0) ();" }.joined()
        #expect(try refused("DEFINE SCHEMA " + types).contains("record types at most"))
        let fields = (0...SchemaLanguage.fieldsMax).map { "f\($0) INT64" }.joined(separator: ",")
        #expect(try refused("DEFINE SCHEMA RECORD TYPE T (\(fields));").contains("fields at most"))
        let long = [UInt8](repeating: 0x20, count: SchemaLanguage.textBytesMax + 1)
        #expect(throws: SchemaTextError.self) { try SchemaLanguage.parse(long) }
    }

    @Test(arguments: [1, 2, 3, 4] as [UInt64]) func aRandomSchemaIsReadAsItWasWritten(seed: UInt64) throws {
        let random = SeededRandomSource(seed: seed)
        for _ in 0..<200 {
            let schema = RandomSchema.make(random)
            let text = SchemaLanguage.print(schema)
            let read = try SchemaLanguage.parse(text)
            #expect(read == schema, "seed \(seed)\n\(text)")
            #expect(SchemaLanguage.print(read) == text)
        }
    }
}

enum RandomSchema {
    static func make(_ random: SeededRandomSource) -> Schema {
        func below(_ count: Int) -> Int { Int(random.next() % UInt64(count)) }
        func name() -> String {
            let plain = [
                "title", "a_1", "Grant", "type", "list", "my field", "q\"q", "_x", "searchable", "é",
            ]
            let picked = plain[below(9)]
            return below(3) == 0 ? picked + "\(below(100))" : picked
        }
        var schema = Schema()
        for _ in 0..<below(3) { schema.roles.insert("role\(below(9))") }
        let roles = schema.roles.sorted() + ["_world", "_icloud", "_creator"]
        let types: [FieldDefinition] = [
            .init(.asset), .init(.bytes), .init(.double), .init(.int64), .init(.location), .init(.reference),
            .init(.string), .init(.timestamp), .init(.int64, isNumber: true), .init(.double, isNumber: true),
            .init(.encryptedBytes, isEncrypted: true), .init(.string, isEncrypted: true),
            .init(.locationList, isEncrypted: true), .init(.stringList), .init(.referenceList),
            .init(.doubleList, isNumber: true), .init(.encryptedBytesList, isEncrypted: true),
        ]
        for _ in 0..<below(4) {
            var type = RecordType()
            for _ in 0..<below(6) {
                var field = types[below(types.count)]
                if !field.isEncrypted, field.type == .string || field.type == .int64 {
                    let all: FieldIndexes = field.type == .string ? [.searchable] : [.queryable, .sortable]
                    field.indexes = below(2) == 0 ? all : []
                }
                type.fields[name()] = field
            }
            if below(2) == 0 { type.systemIndexes["___recordID"] = .queryable }
            if below(2) == 0 { type.systemIndexes["___modTime"] = [.queryable, .sortable] }
            for _ in 0..<below(3) {
                type.grants[roles[below(roles.count)]] = Permissions(rawValue: UInt8(1 + below(7)))
            }
            schema.recordTypes[name()] = type
        }
        return schema
    }
}
