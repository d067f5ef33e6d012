import FoundationEssentials
import System
import Testing

@testable import Yap

/// Actions that depend on the rows' metadata.
struct ActionMetadataTests {
    typealias Book = MetadataStage.Book
    typealias Reading = MetadataStage.Reading
    typealias Manager = YapDatabaseActionManager<Book>

    private let stage: MetadataStage
    private let manager = Manager(
        "returns", of: Book.self, metadata: Reading.self, in: "books", version: "1"
    ) { book, reading in
        guard let reading, let lender = reading.lender else { return [] }
        let date = Date(timeIntervalSince1970: Double(reading.rating))
        return [YapDatabaseAction("\(book.title) to \(lender)", at: date)]
    }

    init() throws {
        stage = try MetadataStage()
        try stage.setFour()
        try stage.database.blocking.register(manager)
    }

    private func actions() throws -> [String] {
        try stage.connection.blocking.read { transaction in
            try transaction[manager].actions().map {
                "\($0.id.identifier) at \(Int($0.date.timeIntervalSince1970))"
            }
        }
    }

    @Test func actionsFollowTheMetadata() throws {
        #expect(try actions() == ["Cats to Carl at 1", "Apples to Ann at 3"])
        try stage.connection.blocking.readWrite { transaction in
            try transaction.setReading(Reading(rating: 2, lender: "Dan"), "d")
            try transaction.setReading(Reading(rating: 4, lender: "Ann"), "a")
            try transaction.setReading(nil, "c")
        }
        #expect(try actions() == ["Dogs to Dan at 2", "Apples to Ann at 4"])
        // The metadata stays with another object, and goes with one that is set without.
        try stage.connection.blocking.readWrite { transaction in
            try transaction.replaceBook("Ants", "a")
            try transaction.set(Book(title: "Dogs"), nil, "d")
        }
        #expect(try actions() == ["Ants to Ann at 4"])
        try stage.connection.blocking.readWrite { try $0.touchMetadata(forKey: "a", inCollection: "books") }
        #expect(try actions() == ["Ants to Ann at 4"])
    }

    @Test func theHandlerGetsTheMetadata() async throws {
        let clock = ManualTimeSource(milliseconds: 1_700_000_000_000)
        let runner = YapDatabaseActionRunner(
            manager, in: stage.database, runningMax: 1, clock: clock, timers: ManualTimerSource(clock: clock))
        let (seen, continuation) = AsyncStream.makeStream(of: String.self)
        let connection = stage.connection
        let task = Task {
            try await runner.run { action in
                let reading = action.metadata(Reading.self)
                continuation.yield("\(action.object.title) \(reading?.rating ?? -1)")
                // Done: the metadata no longer asks for it.
                try await connection.readWrite { try $0.setReading(Reading(rating: 0), action.key) }
            }
        }
        var lines: [String] = []
        for await line in seen.prefix(2) { lines.append(line) }
        #expect(lines == ["Cats 1", "Apples 3"])
        await runner.idle(nil)
        #expect(try await connection.read { try $0[manager].count() } == 0)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        try await stage.database.close()
    }

    @Test func actionsOfObjectsAloneAreNotConcernedByTheMetadata() throws {
        try stage.database.blocking.unregister(manager.name)
        let asked = Log()
        let plain = Manager("plain", of: Book.self, in: "books", version: "1") { book in
            asked.add(book.title)
            return []
        }
        try stage.database.blocking.register(plain)
        _ = (asked.take(), stage.decoded.take())
        try stage.connection.blocking.readWrite { try $0.setReading(Reading(rating: 7), "a") }
        #expect(asked.lines == [] && stage.decoded.lines == [])
    }

    @Test func metadataOfAnotherTypeIsAMistake() throws {
        let mistake = Manager("mistake", of: Book.self, metadata: Stamp.self, in: "books", version: "1") {
            _, _ in
            []
        }
        #expect(code { try stage.database.blocking.register(mistake) } == .typeMismatch)
    }
}
