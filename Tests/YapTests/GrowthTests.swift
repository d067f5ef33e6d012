import SQLite
import Testing

@testable import Yap

/// What work costs as a collection grows, counted in pages of the file that are visited.
@Suite struct GrowthTests {
    private static let sizes = (small: 500, large: 20_000)
    private static let samplesCount = 50
    /// A tree becomes deeper by one level at most, and has one or more. Work that goes through all rows would visit 40
    /// times as many pages.
    private static let growthMax = 2.0

    /// A collection with an index, a view and a search.
    private struct Stage {
        let folder: TestFolder
        let database: YapDatabase
        let rowsCount: Int
        let index = YapDatabaseSecondaryIndex("index", of: Todo.self, in: "todos", version: "1") {
            $0.column(\.priority)
        }
        let view = YapDatabaseAutoView(
            "view", of: Todo.self, in: "todos", version: "1", group: { $0.isDone ? 1 : 0 },
            sort: [.by(\.priority)])
        let text = YapDatabaseFullTextSearch("text", of: Todo.self, in: "todos", version: "1") {
            $0.column(\.title)
        }

        init(rowsCount: Int) throws {
            folder = try TestFolder()
            var options = YapDatabaseOptions()
            options.cachedRowsPerCollectionMax = 0
            database = try folder.open(options)
            self.rowsCount = rowsCount
            try database.newConnection().blocking.readWrite { transaction in
                for number in 0..<rowsCount {
                    try transaction.setObject(todo(number), forKey: "\(number)", inCollection: "todos")
                }
            }
            try database.blocking.register(index)
            try database.blocking.register(view)
            try database.blocking.register(text)
        }

        /// Ten rows have the same word.
        func todo(_ number: Int) -> Todo {
            Todo(title: "word\(number % (rowsCount / 10))", isDone: number % 2 == 0, priority: number)
        }

        /// Rows far from each other.
        var samples: [Int] { (0..<samplesCount).map { $0 * 7_919 % rowsCount } }

        /// The mean number of pages that a read visits for each row.
        func pagesRead(_ body: (YapDatabaseReadTransaction, Int) throws -> Void) throws -> Double {
            try database.newConnection().blocking.read { transaction in
                try body(transaction, samples[0])
                let before = transaction.sqlite.visitedPagesCount
                for row in samples { try body(transaction, row) }
                return Double(transaction.sqlite.visitedPagesCount - before) / Double(samplesCount)
            }
        }

        /// The mean number of pages that a transaction visits that changes one row.
        func pagesWritten() throws -> Double {
            let connection = database.newConnection()
            let before = try database.writer { $0.store.sqlite.visitedPagesCount }
            for row in samples {
                try connection.blocking.readWrite {
                    try $0.setObject(todo(row + 1), forKey: "\(row)", inCollection: "todos")
                }
            }
            let after = try database.writer { $0.store.sqlite.visitedPagesCount }
            return Double(after - before) / Double(samplesCount)
        }
    }

    private func expectGrowth(_ pages: (Stage) throws -> Double) throws {
        let small = try pages(Stage(rowsCount: Self.sizes.small))
        let large = try pages(Stage(rowsCount: Self.sizes.large))
        #expect(small > 1)
        #expect(
            large <= small * Self.growthMax,
            "\(small) pages of \(Self.sizes.small) rows, \(large) of \(Self.sizes.large)")
    }

    @Test func aReadByAKeyVisitsFewMorePagesAmongFortyTimesTheRows() throws {
        try expectGrowth { stage in
            try stage.pagesRead { _ = try $0.object(Todo.self, forKey: "\($1)", inCollection: "todos") }
        }
    }

    @Test func anIndexQueryVisitsFewMorePagesAmongFortyTimesTheRows() throws {
        try expectGrowth { stage in
            try stage.pagesRead { transaction, row in
                let rows = try transaction[stage.index].rows(
                    where: { $0.priority >= row }, sort: [.by(\.priority)], limit: 5)
                #expect(!rows.isEmpty)
            }
        }
    }

    @Test func aSearchVisitsFewMorePagesAmongFortyTimesTheRows() throws {
        try expectGrowth { stage in
            try stage.pagesRead { transaction, row in
                let keys = try transaction[stage.text].keys(.words(stage.todo(row).title))
                #expect(keys.count == 10)
            }
        }
    }

    @Test func aPlaceOfAViewVisitsFewMorePagesAmongFortyTimesTheRows() throws {
        try expectGrowth { stage in
            try stage.pagesRead { transaction, row in
                let place = row / 2
                let keys = try transaction[stage.view].keys(in: 1, place..<place + 1)
                #expect(keys == ["\(place * 2)"])
            }
        }
    }

    @Test func aChangedRowVisitsFewMorePagesAmongFortyTimesTheRows() throws {
        try expectGrowth { try $0.pagesWritten() }
    }
}
