import CloudStore
import CloudWire
import Foundation
import SQLiteTestSupport
import System
import Testing

@testable import CloudServer
@testable import CloudService

/// Nothing that a client keeps or compares is in the history's file.
@Suite struct HistoryValuesTests {
    private static let marked = "QXVALUEQX"

    /// The mark as each type of field has it, in JSON.
    private static var fields: String {
        let bytes = Base64.encoded(Array(marked.utf8))
        return [
            #""text":{"value":"\#(marked)"}"#, #""list":{"value":["\#(marked)"]}"#,
            #""bytes":{"value":"\#(bytes)","type":"BYTES"}"#, #""number":{"value":918273645546372819}"#,
            #""double":{"value":9182736455.5}"#, #""time":{"value":918273645546,"type":"TIMESTAMP"}"#,
            #""place":{"value":{"latitude":12.918273645,"longitude":13.918273645},"type":"LOCATION"}"#,
            #""target":{"value":{"recordName":"\#(marked)","action":"VALIDATE"},"type":"REFERENCE"}"#,
        ].joined(separator: ",")
    }

    private static let marks = [
        marked, Base64.encoded(Array(marked.utf8)), "918273645546372819", "9182736455.5", "918273645546",
        "12.918273645", "13.918273645",
    ]

    @Test func noFieldValueIsInTheFileAfterAnyError() async throws {
        try await withGuardedServer { guarded in
            let scene = try HistoryScene(guarded)
            let fields = Self.fields
            let plain = fields.replacing(#","target""#, with: #","other""#)
                .replacing(#""action":"VALIDATE""#, with: #""action":"NONE""#)
            var bodies = [
                ("private/records/modify", HistoryScene.save("made", plain)),
                // The reference's target isn't there.
                ("private/records/modify", HistoryScene.save("a", fields)),
                ("private/records/modify", HistoryScene.save("made", plain, type: "create")),
                // Another type than the field has; a list where there is none; words that no type is.
                ("private/records/modify", HistoryScene.save("a", #""number":{"value":"\#(Self.marked)"}"#)),
                ("private/records/modify", HistoryScene.save("a", #""text":{"value":["\#(Self.marked)"]}"#)),
                (
                    "private/records/modify",
                    HistoryScene.save("a", #""text":{"value":"x","type":"\#(Self.marked)"}"#)
                ),
                (
                    "private/records/modify",
                    HistoryScene.save("a", #""text":{"value":{"\#(Self.marked)":1,"\#(Self.marked)":2}}"#)
                ),
                // No JSON at all.
                ("private/records/modify", #"{"operations":[{"operationType":"\#(Self.marked)""#),
                ("private/records/modify", #"{"operations":"\#(Self.marked)"}"#),
            ]
            for value in [#""\#(Self.marked)""#, "918273645546372819", #"["\#(Self.marked)"]"#] {
                for field in ["text", "number", "list", "nothing", "___recordID"] {
                    for comparator in ["EQUALS", "NEAR", "CONTAINS_ALL_TOKENS", Self.marked] {
                        bodies.append(
                            (
                                "private/records/query",
                                #"{"query":{"recordType":"Note","filterBy":[{"fieldName":"\#(field)","#
                                    + #""comparator":"\#(comparator)","fieldValue":{"value":\#(value)}}]}}"#
                            ))
                    }
                }
            }
            for (path, body) in bodies { _ = try scene.ask(path, body) }
            #expect(try scene.requests("limit=200").count == bodies.count)
            let path = DataFolder(path: guarded.folder.path).historyPath
            for ending in ["", "-wal"] {
                let data = try Data(contentsOf: URL(filePath: path + ending))
                for mark in Self.marks {
                    #expect(data.range(of: Data(mark.utf8)) == nil, "\(mark) in \(ending)")
                }
                for secret in [guarded.session, guarded.openToken] {
                    #expect(data.range(of: Data(secret.utf8)) == nil)
                }
            }
        }
    }

    @Test(arguments: [
        ("Cannot create or modify field 'a' in record 'Note' in production schema", true),
        ("more than 5 records refer to 'VALUE' with DELETE_SELF", false),
        ("Field=a, recordID=VALUE, title=VALUE, title=Record save would violate, rejecting update", false),
        ("field 'parent': with 'VALUE' as its parent, the record 'b' can't be", false),
        ("operations[0].record: unknown type 'VALUE' (unexpected, byte 12)", false),
        ("the record 'b' can't be its own parent, nor 'VALUE'", false),
    ])
    func aReasonEndsBeforeWhatMayBeAValue(_ reason: String, _ isWhole: Bool) {
        let told = WireError(.badRequest, reason: reason).reasonWithoutValues ?? ""
        #expect(!told.contains("VALUE") && (told == reason) == isWhole, "\(told)")
    }
}
