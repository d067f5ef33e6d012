import FoundationEssentials
import SQLite
import Testing

@testable import Yap

/// A type with a property of each kind.
private struct Task: Codable, Sendable, Equatable {
    enum Kind: String, Codable, Sendable { case work, home }

    var title: String
    var due: Date?
    var priority = 0
    var weight = 1.0
    var isDone = false
    var kind = Kind.work
    var id: UUID?
}

extension Task.Kind: YapDatabaseColumnConvertible {}

struct SecondaryIndexTests {
    private let folder: TestFolder
    private let database: YapDatabase
    private let connection: YapDatabaseConnection
    private let index: YapDatabaseSecondaryIndex<Task>

    init() throws {
        folder = try TestFolder()
        database = try folder.open { $0.register(Task.self, inCollection: "tasks") }
        connection = database.newConnection()
        index = Self.index()
    }

    private static func index(version: String = "1") -> YapDatabaseSecondaryIndex<Task> {
        YapDatabaseSecondaryIndex("tasks", of: Task.self, in: "tasks", version: version) {
            $0.column(\.due)
            $0.column(\.priority)
            $0.column(\.title)
            $0.column(\.weight, isIndexed: false)
            $0.column(\.isDone)
            $0.column(\.kind)
            $0.column(\.id)
            $0.index([\.kind, \.priority])
        }
    }

    private func date(_ seconds: Double) -> Date { Date(timeIntervalSinceReferenceDate: seconds) }

    private func set(_ tasks: [String: Task]) throws {
        try connection.blocking.readWrite { transaction in
            for (key, task) in tasks { try transaction.setObject(task, forKey: key, inCollection: "tasks") }
        }
    }

    private func keys(
        sort: [YapDatabaseIndexSort<Task>] = [],
        _ condition: @escaping (YapDatabaseIndexProperties<Task>) -> YapDatabaseIndexCondition<Task>
    ) throws -> [String] {
        let keys = try connection.blocking.read { try $0[index].keys(where: condition, sort: sort) }
        return sort.isEmpty ? keys.sorted() : keys
    }

    /// Four tasks, of which "d" has no date.
    private func setFour() throws {
        try set([
            "a": Task(title: "Apples", due: date(10), priority: 3, weight: 0.5, kind: .home),
            "b": Task(title: "apricots", due: date(20), priority: 1, isDone: true),
            "c": Task(title: "Bread", due: date(30), priority: 3, weight: 2.5),
            "d": Task(title: "Äpfel", priority: -2, kind: .home),
        ])
        try database.blocking.register(index)
    }

    @Test func aQueryFindsTheRowsThatItsConditionDescribes() throws {
        try setFour()
        #expect(try keys { $0.due < date(30) && $0.priority >= 3 } == ["a"])
        #expect(try keys { $0.due <= date(20) || $0.title == "Äpfel" } == ["a", "b", "d"])
        #expect(try keys { $0.priority > 1 } == ["a", "c"])
        #expect(try keys { $0.isDone == true } == ["b"])
        #expect(try keys { $0.kind == .home } == ["a", "d"])
        #expect(try keys { $0.kind != .home } == ["b", "c"])
        #expect(try keys { $0.weight > 0.5 && $0.weight < 2.5 } == ["b", "d"])
        #expect(try keys { $0.title.isOne(of: ["Bread", "none", "Apples"]) } == ["a", "c"])
        #expect(try keys { $0.title.contains("ea") } == ["c"])
        #expect(try keys { $0.title.isOne(of: []) } == [])
    }

    @Test func rowsWithoutAValueAreFoundByEqualityAndByNegationAlone() throws {
        try setFour()
        #expect(try keys { $0.due == nil } == ["d"])
        #expect(try keys { $0.due != nil } == ["a", "b", "c"])
        #expect(try keys { $0.due != date(10) } == ["b", "c", "d"])
        #expect(try keys { $0.due < date(1000) } == ["a", "b", "c"])
        #expect(try keys { !($0.due < date(20)) } == ["b", "c", "d"])
        #expect(try keys { $0.due < nil } == [])
        #expect(try keys { $0.due.isOne(of: [nil, date(10)]) } == ["a", "d"])
    }

    @Test func prefixesAreOfBytes() throws {
        try setFour()
        #expect(try keys { $0.title.hasPrefix("Ap") } == ["a"])
        #expect(try keys { $0.title.hasPrefix("ap") } == ["b"])
        #expect(try keys { $0.title.hasPrefix("Ä") } == ["d"])
        #expect(try keys { $0.title.hasPrefix("") }.count == 4)
        #expect(SecondaryIndexWhere.firstText(afterPrefix: "az") == "a{")
        #expect(SecondaryIndexWhere.firstText(afterPrefix: "a\u{10FFFF}") == "b")
        #expect(SecondaryIndexWhere.firstText(afterPrefix: "\u{D7FF}") == "\u{E000}")
        #expect(SecondaryIndexWhere.firstText(afterPrefix: "\u{10FFFF}") == nil)
    }

    @Test func rowsAreSortedLimitedAndPassedOver() throws {
        try setFour()
        #expect(
            try keys(sort: [.by(\.priority, .descending), .by(\.title)]) { !$0.isDone } == ["a", "c", "d"])
        let rows = try connection.blocking.read {
            try $0[index].rows(sort: [.by(\.due)], limit: 2, offset: 1)
        }
        #expect(rows.map(\.key) == ["a", "b"])
        #expect(rows.map(\.object.title) == ["Apples", "apricots"])
        let none = try connection.blocking.read { try $0[index].rows(limit: -1) }
        #expect(none.isEmpty)
        #expect(try connection.blocking.read { try $0[index].first(sort: [.by(\.title)])?.key } == "a")
        // The smallest one has no value.
        #expect(try connection.blocking.read { try $0[index].first(sort: [.by(\.due)])?.key } == "d")
    }

    @Test func valuesAreCountedAndSummed() throws {
        try setFour()
        try connection.blocking.read { transaction in
            let index = try transaction[index]
            #expect(try index.count() == 4)
            #expect(try index.count { $0.priority == 3 } == 2)
            #expect(try index.minimum(of: \.due) == date(10))
            #expect(try index.maximum(of: \.priority) { $0.isDone == true } == 1)
            #expect(try index.maximum(of: \.due) { $0.priority < 0 } == nil)
            #expect(try index.sum(of: \.weight) == 5)
            #expect(try index.sum(of: \.priority) { $0.priority > 100 } == 0)
            #expect(try index.average(of: \.priority) == 1.25)
            #expect(try index.average(of: \.weight) { $0.priority > 100 } == nil)
            let counts = try index.counts(by: \.kind)
            #expect(counts.map(\.value) == [.home, .work] && counts.map(\.count) == [2, 2])
            let dates = try index.counts(by: \.due) { $0.priority < 3 }
            #expect(dates.map(\.value) == [nil, date(20)])
        }
    }

    @Test func sqlFindsRowsByNamesOfColumns() throws {
        try setFour()
        try connection.blocking.read { transaction in
            let index = try transaction[index]
            #expect(
                try index.keys(matching: "due < ?1 AND abs(priority) >= ?2 -- or", [.real(30), .integer(2)])
                    == ["a"])
            #expect(
                try index.rows(matching: "priority = 3", sort: [.by(\.due, .descending)], limit: 1).map(\.key)
                    == ["c"])
            #expect(try index.count(matching: "title LIKE 'ap%'") == 2)
            #expect(code { _ = try index.count(matching: "none = 1") } == .sqlite)
            #expect(code { _ = try index.count(matching: "1 IN (SELECT 1 FROM yap2)") } == .sqlite)
        }
    }

    @Test func theIndexFollowsEachWriteInTheSameTransaction() throws {
        try setFour()
        try connection.blocking.readWrite { transaction in
            let index = try transaction[index]
            try transaction.setObject(Task(title: "new", priority: 9), forKey: "e", inCollection: "tasks")
            #expect(try index.keys { $0.priority == 9 } == ["e"])
            try transaction.replaceObject(
                Task(title: "Apples", priority: 9), forKey: "a", inCollection: "tasks")
            #expect(try index.keys(where: { $0.priority == 9 }, sort: [.by(\.title)]) == ["a", "e"])
            try transaction.removeObject(forKey: "e", inCollection: "tasks")
            #expect(try index.keys { $0.priority == 9 } == ["a"])
        }
        #expect(try keys { $0.priority == 9 } == ["a"])
        #expect(throws: Refused.self) {
            try connection.blocking.readWrite { transaction in
                try transaction.removeAllObjects(inCollection: "tasks")
                #expect(try transaction[index].count() == 0)
                throw Refused()
            }
        }
        #expect(try connection.blocking.read { try $0[index].count() } == 4)
        try connection.blocking.readWrite { try $0.removeAllObjectsInAllCollections() }
        #expect(try connection.blocking.read { try $0[index].count() } == 0)
    }

    @Test func anUnchangedRowCostsTheIndexNoWrite() throws {
        try setFour()
        func writes(_ task: Task) throws -> Int {
            try connection.blocking.readWrite { transaction in
                let before = transaction.sqlite.totalChangesCount
                try transaction.setObject(task, forKey: "c", inCollection: "tasks")
                return transaction.sqlite.totalChangesCount - before
            }
        }
        var task = Task(title: "Bread", due: date(30), priority: 3, weight: 2.5)
        #expect(try writes(task) == 1)
        task.priority = 4
        #expect(try writes(task) == 2)
    }

    @Test func collectionsOfOthersCostNothing() throws {
        try setFour()
        // The first write of a type also notes its properties.
        try connection.blocking.readWrite { try $0.set("buy", "1") }
        let writes = try connection.blocking.readWrite { transaction in
            let before = transaction.sqlite.totalChangesCount
            try transaction.set("buy", "2")
            #expect(transaction.usesSoFar.isEmpty)
            return transaction.sqlite.totalChangesCount - before
        }
        #expect(writes == 1)
    }

    @Test func onlyIncludedObjectsAreInTheIndex() throws {
        let open = YapDatabaseSecondaryIndex(
            "open", of: Task.self, in: "tasks", version: "1", including: { !$0.isDone }
        ) { $0.column(\.priority) }
        try setFour()
        try database.blocking.register(open)
        #expect(try connection.blocking.read { try $0[open].keys(sort: [.by(\.priority)]) }.first == "d")
        #expect(try connection.blocking.read { try $0[open].count() } == 3)
        try set(["a": Task(title: "Apples", isDone: true), "b": Task(title: "apricots")])
        #expect(try connection.blocking.read { try $0[open].keys() }.sorted() == ["b", "c", "d"])
    }

    @Test func anIndexIsFilledAnewWhenItsVersionOrItsColumnsChange() throws {
        try setFour()
        try connection.blocking.readWrite {
            try $0.sqlite.execute("DELETE FROM secondaryIndex_tasks WHERE rowid = 1")
        }
        try database.blocking.close()
        func count(_ index: YapDatabaseSecondaryIndex<Task>) throws -> Int {
            let database = try folder.open { $0.register(Task.self, inCollection: "tasks") }
            defer { try? database.blocking.close() }
            try database.blocking.register(index)
            return try database.newConnection().blocking.read { try $0[index].count() }
        }
        // As it was, without a row that was taken out behind its back.
        #expect(try count(Self.index()) == 3)
        #expect(try count(Self.index(version: "2")) == 4)
        let other = YapDatabaseSecondaryIndex("tasks", of: Task.self, in: "tasks", version: "2") {
            $0.column(\.weight)
        }
        #expect(try count(other) == 4)
        // Columns that change places.
        func first(_ describe: (inout YapDatabaseIndexColumns<Task>) -> Void) throws -> String? {
            let database = try folder.open { $0.register(Task.self, inCollection: "tasks") }
            defer { try? database.blocking.close() }
            let index = YapDatabaseSecondaryIndex("two", of: Task.self, in: "tasks", version: "1", describe)
            try database.blocking.register(index)
            return try database.newConnection().blocking.read {
                try $0[index].first(sort: [.by(\.weight)])?.key
            }
        }
        #expect(
            try first {
                $0.column(\.weight); $0.column(\.priority)
            } == "a")
        #expect(
            try first {
                $0.column(\.priority); $0.column(\.weight)
            } == "a")
        // Rows were written without it.
        let without = try folder.open { $0.register(Task.self, inCollection: "tasks") }
        try without.newConnection().blocking.readWrite {
            try $0.setObject(Task(title: "new"), forKey: "e", inCollection: "tasks")
        }
        try without.blocking.close()
        #expect(try count(other) == 5)
    }

    @Test func mistakesInADescriptionAndInAQueryAreErrors() throws {
        typealias Columns = YapDatabaseIndexColumns<Task>
        func registering(_ describe: (inout Columns) -> Void) -> YapDatabaseError.Code? {
            let wrong = YapDatabaseSecondaryIndex("wrong", of: Task.self, in: "tasks", version: "1", describe)
            return code { try database.blocking.register(wrong) }
        }
        #expect(registering { _ in } == .invalidExtension)
        #expect(
            registering {
                $0.column(\.due); $0.column(\.due)
            } == .invalidExtension)
        #expect(
            registering {
                $0.column(\.due, "x"); $0.column(\.id, "X")
            } == .invalidExtension)
        #expect(registering { $0.column(\.due, "due date") } == .invalidExtension)
        #expect(registering { $0.column(\.due, "rowid") } == .invalidExtension)
        #expect(registering { $0.column(\.due, "key") } == .invalidExtension)
        #expect(registering { $0.column(\.title.count) } == .invalidExtension)
        #expect(
            registering {
                $0.column(\.due); $0.index([\.priority])
            } == .invalidExtension)
        #expect(database.registeredExtensionNames.isEmpty)
        let small = YapDatabaseSecondaryIndex("small", of: Task.self, in: "tasks", version: "1") {
            $0.column(\.due)
        }
        #expect(
            code { _ = try connection.blocking.read { try $0[small].count() } } == .extensionNotRegistered)
        try database.blocking.register(small)
        try connection.blocking.read { transaction in
            let small = try transaction[small]
            #expect(code { _ = try small.count { $0.priority == 1 } } == .invalidExtension)
            #expect(code { _ = try small.keys(sort: [.by(\.title)]) } == .invalidExtension)
            let many = (0...YapDatabaseIndexCondition<Task>.valuesMax).map {
                Date(timeIntervalSinceReferenceDate: Double($0))
            }
            #expect(code { _ = try small.count { $0.due.isOne(of: many) } } == .invalidExtension)
        }
        for (collection, expected) in [
            ("todos", YapDatabaseError.Code.typeMismatch), ("task", .missingRegistration),
        ] {
            let wrong = YapDatabaseSecondaryIndex("wrong", of: Task.self, in: collection, version: "1") {
                $0.column(\.due)
            }
            #expect(code { try database.blocking.register(wrong) } == expected)
        }
        // SQLite takes the two tables for one.
        let upper = YapDatabaseSecondaryIndex("SMALL", of: Task.self, in: "tasks", version: "1") {
            $0.column(\.due)
        }
        #expect(code { try database.blocking.register(upper) } == .invalidExtension)
        let numbered = YapDatabaseSecondaryIndex("small_1", of: Task.self, in: "tasks", version: "1") {
            $0.column(\.due)
        }
        try database.blocking.register(numbered)
    }

    @Test func anIndexThatIsUsedAfterItsTransactionThrows() throws {
        try setFour()
        let ended = try connection.blocking.read { try $0[index] }
        #expect(code { _ = try ended.count() } == .transactionEnded)
    }

    @Test func manyValuesAreFoundAndTheirStatementsAreNotKept() throws {
        try setFour()
        let titles = (0..<100).map { "\($0)" } + ["Bread"]
        #expect(try keys { $0.title.isOne(of: titles) } == ["c"])
        #expect(try SecondaryIndexWhere(tasks.title.isOne(of: titles)) { _ in "x" }.isKept == false)
        #expect(try SecondaryIndexWhere(tasks.title == "x") { _ in "x" }.isKept)
    }

    private var tasks: YapDatabaseIndexProperties<Task> { YapDatabaseIndexProperties() }

    @Test func aQueryIsObserved() async throws {
        try setFour()
        let (database, connection, index) = (database, connection, index)
        var values = connection.observe { try $0[index].count { $0.isDone == true } }.makeAsyncIterator()
        #expect(try await values.next() == 1)
        try await database.newConnection().readWrite {
            try $0.setObject(Task(title: "x", isDone: true), forKey: "x", inCollection: "tasks")
        }
        #expect(try await values.next() == 2)
    }

    @Test func conditionsAndOrdersUseTheIndexesOfTheTable() throws {
        try setFour()
        func plan(_ sql: String) throws -> String {
            try connection.blocking.read { transaction in
                try transaction.sqlite.withStatement("EXPLAIN QUERY PLAN \(sql)") { statement in
                    var lines: [String] = []
                    while try statement.step() { lines.append(statement.text(at: 3)) }
                    return lines.joined(separator: "; ")
                }
            }
        }
        let sql = SecondaryIndexSQL(table: "secondaryIndex_tasks", columns: ["due", "priority", "title"])
        func plan(
            _ condition: YapDatabaseIndexCondition<Task>, order: String = ""
        ) throws -> String {
            let places: [AnyKeyPath: Int] = [\Task.due: 0, \Task.priority: 1, \Task.title: 2]
            let filter = try SecondaryIndexWhere(condition) { sql.column(try #require(places[$0.path])) }
            return try plan("SELECT d.key\(sql.fromWithRows)\(filter.text)\(order)")
        }
        #expect(try plan(tasks.due < date(1)).contains("SEARCH i USING"))
        #expect(try plan(tasks.due == nil).contains("SEARCH i USING"))
        #expect(try plan(tasks.title.hasPrefix("a")).contains("SEARCH i USING"))
        #expect(try plan(tasks.priority.isOne(of: [1, 2])).contains("SEARCH i USING"))
        let sorted = try plan(tasks.due < date(1), order: " ORDER BY i.\"due\"")
        #expect(!sorted.contains("TEMP B-TREE"))
    }

    @Test func anExpressionHasAValueForEachParameter() throws {
        try setFour()
        try connection.blocking.read { transaction in
            let index = try transaction[index]
            for limit in [nil, 1] {
                let keys = { (expression: String, values: [YapDatabaseColumnValue]) in
                    try index.keys(matching: expression, values, limit: limit)
                }
                for (expression, values) in [
                    ("priority > ?1", []), ("priority > ?2", [.integer(1)]), ("priority > ?", []),
                    ("priority > :least", []), ("priority > 1", [.integer(1)]),
                    ("priority > ?1", [.integer(1), .integer(2)]),
                ] as [(String, [YapDatabaseColumnValue])] {
                    let error = #expect(throws: YapDatabaseError.self) { _ = try keys(expression, values) }
                    #expect(error?.code == .invalidExtension, "\(expression) \(values)")
                    #expect(code { _ = try index.rows(matching: expression, values) } == .invalidExtension)
                    #expect(code { _ = try index.count(matching: expression, values) } == .invalidExtension)
                }
                #expect(try keys("priority >= ?1 AND priority <= ?1", [.integer(3)]).isEmpty == false)
                #expect(
                    try keys("priority >= :a AND priority <= :b", [.integer(3), .integer(3)]).isEmpty == false
                )
            }
        }
    }
}
