import Foundation
import SQLiteTestSupport
import Testing
import Yap

@testable import YapCommand

/// `yap db vacuum` and `yap db watch`, beside an app.
@Suite struct DatabaseVacuumWatchTests {
    private let stage: DatabaseStage
    private var path: String { stage.path }

    init() throws { stage = try DatabaseStage() }

    private func fillWithGaps(_ database: YapDatabase) throws {
        let connection = database.newConnection()
        try connection.blocking.readWrite { transaction in
            for number in 0..<500 {
                let todo = DatabaseStage.Todo(title: String(repeating: "x", count: 2_000))
                try transaction.setObject(todo, forKey: "\(number)", inCollection: "todos")
            }
        }
        try connection.blocking.readWrite { transaction in
            try transaction.removeObjects(forKeys: (10..<500).map { "\($0)" }, inCollection: "todos")
        }
    }

    private func numbers(_ ended: YapProcess.Ended) throws -> [String: Int] {
        let object = try JSONSerialization.jsonObject(with: Data(ended.output.utf8)) as? [String: Any]
        return try #require(object).compactMapValues { $0 as? Int }
    }

    @Test func aClosedFileGetsSmallerAndKeepsItsRows() async throws {
        let database = try stage.open()
        try fillWithGaps(database)
        try await database.close()
        let before = try await stage.db("dump", path).output
        let ended = try await stage.db("vacuum", path, "--json")
        #expect(ended.code == 0, "\(ended)")
        let numbers = try numbers(ended)
        let (first, last) = (try #require(numbers["bytesBefore"]), try #require(numbers["bytesAfter"]))
        #expect(first > 1_000_000 && last < first / 5, "\(numbers)")
        #expect(try await stage.db("dump", path).output == before)
        #expect(try await stage.db("check", path).code == 0)
    }

    @Test func aFileInUseIsRefusedUnlessTheUserSaysSo() async throws {
        let database = try stage.open()
        try fillWithGaps(database)
        let connection = database.newConnection()
        let refused = try await stage.db("vacuum", path)
        #expect(refused.code == 4 && refused.errors.contains("--while-open"), "\(refused)")
        let ended = try await stage.db("vacuum", path, "--while-open", "--json")
        let numbers = try numbers(ended)
        #expect(try #require(numbers["bytesAfter"]) < #require(numbers["bytesBefore"]) / 5, "\(ended)")
        #expect(try await connection.read { try $0.numberOfKeys(inCollection: "todos") } == 10)
        try await connection.readWrite { try $0.removeObject(forKey: "1", inCollection: "todos") }
        #expect(try await stage.db("check", path).output.contains("9 rows"))
    }

    @Test func filesThatAreNoDatabaseAreLeftAlone() async throws {
        try stage.write("text", "text")
        for (command, words) in [("vacuum", []), ("watch", ["--seconds", "1"]), ("collections", [])] {
            for (file, code, reason) in [("absent", Int32(3), "is not there"), ("text", 1, "is no database")]
            {
                let ended = try await YapProcess.run(
                    ["db", command, stage.folder.file(file)] + words, in: stage.folder)
                #expect(ended.code == code && ended.errors.contains(reason), "\(command): \(ended)")
            }
        }
        #expect(!FileManager.default.fileExists(atPath: stage.folder.file("absent")))
        #expect(try String(contentsOfFile: stage.folder.file("text"), encoding: .utf8) == "text")
    }

    @Test func aDiskWithoutRoomIsRefused() {
        func place(_ device: UInt64, _ free: Int64) -> VacuumSpace.Place {
            VacuumSpace.Place(folder: "/f\(device)", device: device, freeBytes: free)
        }
        func isRefused(_ log: VacuumSpace.Place?, _ temporary: VacuumSpace.Place?) -> Bool {
            (try? VacuumSpace(log: log, temporary: temporary).check(neededBytes: 100)) == nil
        }
        #expect(!isRefused(place(1, 200), place(1, 200)) && isRefused(place(1, 199), place(1, 199)))
        #expect(!isRefused(place(1, 100), place(2, 100)))
        #expect(isRefused(place(1, 99), place(2, 100)) && isRefused(place(1, 100), place(2, 99)))
        #expect(!isRefused(nil, nil), "what can't be measured")
        #expect(VacuumSpace(path: path).log?.freeBytes ?? 0 > 0)
    }

    @Test func aWatchPrintsTheCommitsOfAllProcesses() async throws {
        let database = try stage.open()
        try stage.fillTodos(database)
        let watch = try WatchProcess([path], in: stage.folder)
        #expect(try await watch.line()?.hasSuffix("watching from commit 1 on") == true)
        let connection = database.newConnection()
        try await connection.readWrite { transaction in
            try transaction.setObject(DatabaseStage.Todo(title: "New"), forKey: "a\nb", inCollection: "todos")
            try transaction.removeObject(forKey: "1", inCollection: "todos")
            try transaction.setObject(DatabaseStage.Todo(title: "Other"), forKey: "0", inCollection: "todos")
        }
        var lines: [String] = []
        for _ in 0..<3 { lines.append(try await watch.line() ?? "none") }
        #expect(
            lines == [
                "commit 2: updated todos 0", "commit 2: removed todos 1", #"commit 2: inserted todos "a\nb""#,
            ])
        let line = #"{"collection":"todos","key":"loaded","object":{"title":"L"}}"#
        #expect(try await stage.db("load", path, "-", input: line).code == 0)
        #expect(try await watch.line() == "commit 3: inserted todos loaded")
        #expect(try await watch.end(with: SIGINT) == 0)
    }

    @Test func aWatchPrintsJSONOfOneCollectionAndEndsByItself() async throws {
        let database = try stage.open()
        try stage.fillTodos(database)
        let watch = try WatchProcess(
            [path, "--json", "--collection", "plain", "--limit", "2"], in: stage.folder)
        #expect(try await watch.line()?.hasSuffix(#""commit":1}"#) == true)
        let connection = database.newConnection()
        try await connection.readWrite { try $0.removeObject(forKey: "1", inCollection: "todos") }
        #expect(try await watch.line() == #"{"commit":2,"commits":1,"changes":[],"unnamed":0}"#)
        try await connection.readWrite { transaction in
            for number in 0..<1_100 {
                try transaction.setObject([1 as UInt8], forKey: "\(number)", inCollection: "plain")
            }
        }
        let line = try #require(try await watch.line())
        #expect(
            line.hasPrefix(
                #"{"commit":3,"commits":1,"changes":[{"collection":"plain","inserted":["0","1","10""#))
        #expect(line.hasSuffix(#""unnamed":100}"#))
        #expect(try await watch.end(with: 0) == 0, "two prints are the limit")
    }

    @Test func aWatchEndsWithItsTimeAndChangesNothing() async throws {
        let database = try stage.open()
        try stage.fillTodos(database)
        let ended = try await stage.db("watch", path, "--seconds", "1")
        #expect(ended.code == 0 && ended.output.contains("watching from commit 1 on"), "\(ended)")
        #expect(try DatabaseFile(path: path).snapshot() == 1)
    }
}
