import System
import Testing

@testable import Yap

/// Parts of a transaction that fail alone.
struct SavepointTests {
    private let folder: TestFolder
    private let database: YapDatabase
    private let connection: YapDatabaseConnection
    private let commits = CommitList()

    init() throws {
        folder = try TestFolder()
        database = try folder.open()
        connection = database.newConnection()
        database.addInlineCommitObserver { [commits] in commits.add($0) }
    }

    private func count(of word: String, _ transaction: YapDatabaseReadTransaction) throws -> Int {
        try transaction.ext("words", as: WordCounter.self).count(of: word)
    }

    @Test func aFailedSavepointIsUndoneAndTheTransactionContinues() throws {
        try database.blocking.register(WordCounter(), withName: "words")
        try connection.blocking.readWrite { transaction in
            try transaction.set("buy milk", "1")
            try transaction.setObject("a", forKey: "1", inCollection: "notes")
            #expect(throws: Refused.self) {
                try transaction.savepoint { () throws in
                    try transaction.set("sell milk", "1")
                    try transaction.set("buy bread", "2")
                    try transaction.removeAllObjects(inCollection: "notes")
                    #expect(try count(of: "buy", transaction) == 1)
                    throw Refused()
                }
            }
            #expect(try transaction.todo("1")?.title == "buy milk")
            #expect(try transaction.todo("2") == nil)
            #expect(try transaction.object(String.self, forKey: "1", inCollection: "notes") == "a")
            #expect(try (count(of: "buy", transaction), count(of: "sell", transaction)) == (1, 0))
            try transaction.set("buy eggs", "3")
        }
        let commit = try #require(commits.commits.last)
        #expect(commit.insertedKeys(inCollection: "todos") == ["1", "3"])
        #expect(!commit.didClear(collection: "notes"))
        #expect(commit.changes(ofExtension: "words") as? [String: Int] == ["buy": 2])
        #expect(try connection.blocking.read { try count(of: "buy", $0) } == 2)
        #expect(try connection.todoFromDisk("2") == nil)
    }

    @Test func whatASavepointReturnsIsCommittedWithTheRest() throws {
        let title = try connection.blocking.readWrite { transaction in
            try transaction.savepoint {
                try transaction.set("milk", "1")
                try transaction.savepoint { try transaction.set("bread", "2") }
                return try transaction.todo("2")?.title
            }
        }
        #expect(title == "bread")
        #expect(commits.commits.map { $0.insertedKeys(inCollection: "todos") } == [["1", "2"]])
    }

    @Test func aNestedSavepointFailsAlone() throws {
        try connection.blocking.readWrite { transaction in
            try transaction.savepoint {
                try transaction.set("milk", "1")
                try? transaction.savepoint { () throws in
                    try transaction.set("oat milk", "1")
                    try transaction.savepoint { try transaction.set("bread", "2") }
                    throw Refused()
                }
                try transaction.set("eggs", "3")
            }
        }
        #expect(commits.commits.map { $0.changedKeys(inCollection: "todos") } == [["1", "3"]])
        #expect(try connection.blocking.read { try $0.todo("1")?.title } == "milk")
    }

    @Test func aTransactionOfFailedSavepointsAloneIsNoCommit() throws {
        try connection.blocking.readWrite { try $0.set("milk", "1") }
        try connection.blocking.readWrite { transaction in
            for _ in 0..<2 {
                try? transaction.savepoint { () throws in
                    try? transaction.savepoint { () throws in
                        try transaction.set("bread", "2")
                        throw Refused()
                    }
                    try transaction.set("bread", "2")
                    throw Refused()
                }
            }
        }
        #expect(commits.commits.count == 1 && database.snapshot == 1)
    }

    @Test func anExtensionThatFailsInASavepointFailsTheSavepointAlone() throws {
        try database.blocking.register(WordCounter(poison: "poison"), withName: "words")
        try connection.blocking.readWrite { transaction in
            try transaction.set("buy milk", "1")
            #expect(throws: Refused.self) {
                // The body catches the error: half of the change is there all the same.
                try transaction.savepoint { try? transaction.set("poison", "2") }
            }
            try transaction.set("buy bread", "3")
        }
        #expect(commits.commits.last?.insertedKeys(inCollection: "todos") == ["1", "3"])
        #expect(try connection.blocking.read { try count(of: "buy", $0) } == 2)
    }

    @Test func anExtensionWithoutRestorePointsRefusesSavepoints() throws {
        try database.blocking.register(NothingExtension(log: Log()), withName: "nothing")
        try connection.blocking.readWrite { transaction in
            let refusal = code {
                try transaction.savepoint {
                    Issue.record("the body ran")
                    try transaction.set("bread", "2")
                }
            }
            #expect(refusal == .savepointUnsupported)
            try transaction.set("milk", "1")
        }
        #expect(try connection.todoFromDisk("1") != nil)
    }

    @Test func anIterationContinuesAfterAFailedSavepoint() throws {
        try connection.blocking.readWrite { transaction in
            for number in 0..<5 { try transaction.set("t", "\(number)") }
        }
        try connection.blocking.readWrite { transaction in
            var visited: [String] = []
            for key in try transaction.keys(inCollection: "todos") {
                visited.append(key)
                try? transaction.savepoint { () throws in
                    for number in 0..<200 { try transaction.set("t", "\(key)\(number)") }
                    try transaction.removeObject(forKey: key, inCollection: "todos")
                    throw Refused()
                }
            }
            #expect(visited == ["0", "1", "2", "3", "4"])
        }
    }

    @Test func anIterationThatEndsEarlyFailsTheSavepointAlone() throws {
        try connection.blocking.readWrite { transaction in
            try transaction.set("milk", "1")
            try transaction.set("bread", "2")
            let failure = code {
                try transaction.savepoint {
                    for key in try transaction.keys(inCollection: "todos") {
                        try transaction.set("eggs", "9\(key)")
                    }
                }
            }
            #expect(failure == .mutatedDuringIteration)
        }
        #expect(commits.commits.last?.insertedKeys(inCollection: "todos") == ["1", "2"])
    }

    @Test func aFullDiskInASavepointFailsTheTransaction() throws {
        let failure = code {
            try connection.blocking.readWrite { transaction in
                try transaction.set("milk", "1")
                try transaction.fillDisk()
                try? transaction.savepoint {
                    try transaction.set(String(repeating: "x", count: 100_000), "2")
                }
                try? transaction.emptyDisk()
            }
        }
        #expect(failure == .diskFull)
        #expect(try connection.blocking.read { try $0.numberOfKeys(inCollection: "todos") } == 0)
    }

    @Test func aSavepointOutsideOfItsTransactionThrows() throws {
        let ended = try connection.blocking.readWrite { $0 }
        #expect(code { try ended.savepoint {} } == .transactionEnded)
    }

    // MARK: At random

    private enum Step {
        case set(Int, String)
        case remove(Int)
        case removeAll
        case removeEverything
        case savepoint([Step], fails: Bool)
    }

    private func steps(_ random: SeededRandomSource, depth: Int) -> [Step] {
        (0..<random.next(in: 1..<6)).map { _ in
            switch random.next(in: 0..<12) {
            case 0..<6: .set(random.next(in: 0..<8), ["buy", "sell", "mend"][random.next(in: 0..<3)])
            case 6..<8: .remove(random.next(in: 0..<8))
            case 8 where random.next(in: 0..<3) == 0: .removeAll
            case 9 where random.next(in: 0..<3) == 0: .removeEverything
            default:
                depth < 3
                    ? .savepoint(steps(random, depth: depth + 1), fails: random.next(in: 0..<2) == 0)
                    : .set(random.next(in: 0..<8), "buy")
            }
        }
    }

    /// - Parameter runsFailing: Whether savepoints that fail run at all.
    private func run(
        _ steps: [Step], _ transaction: YapDatabaseReadWriteTransaction, runsFailing: Bool
    ) throws {
        for step in steps {
            switch step {
            case .set(let key, let title): try transaction.set("\(title) it", "\(key)")
            case .remove(let key): try transaction.removeObject(forKey: "\(key)", inCollection: "todos")
            case .removeAll: try transaction.removeAllObjects(inCollection: "todos")
            case .removeEverything: try transaction.removeAllObjectsInAllCollections()
            case .savepoint(let steps, let fails):
                if fails, !runsFailing { continue }
                do {
                    try transaction.savepoint { () throws in
                        try run(steps, transaction, runsFailing: runsFailing)
                        if fails { throw Refused() }
                    }
                } catch is Refused {}
            }
        }
    }

    private func contents(_ transaction: YapDatabaseReadTransaction) throws -> [String] {
        try (0..<8).map { try transaction.todo("\($0)")?.title ?? "-" }
            + ["buy", "sell", "mend"].map { "\(try count(of: $0, transaction))" }
    }

    @Test(arguments: [1, 2, 3, 4, 5, 6] as [UInt64])
    func aFailedSavepointIsAsIfItHadNotRun(seed: UInt64) throws {
        var options = YapDatabaseOptions()
        options.durability = .normal
        options.changedKeysPerCommitMax = seed % 3 == 0 ? 3 : 100
        let databases = try (0..<2).map { _ in try TestFolder() }.map { ($0, try $0.open(options)) }
        let seen = databases.map { _ in CommitList() }
        for (place, (_, database)) in databases.enumerated() {
            try database.blocking.register(WordCounter(), withName: "words")
            database.addInlineCommitObserver { seen[place].add($0) }
        }
        let readers = databases.map { $0.1.newConnection() }
        let random = SeededRandomSource(seed: seed)
        for step in 0..<120 {
            let steps = steps(random, depth: 0)
            var results: [[String]] = []
            for (place, (_, database)) in databases.enumerated() {
                let inside = try database.newConnection().blocking.readWrite { transaction in
                    try run(steps, transaction, runsFailing: place == 0)
                    return try contents(transaction)
                }
                // A connection with caches, and one without.
                let cached = try readers[place].blocking.read { try contents($0) }
                #expect(cached == inside, "seed \(seed), step \(step): \(steps)")
                let onDisk = try database.newConnection().blocking.read { try contents($0) }
                #expect(onDisk == inside, "seed \(seed), step \(step): \(steps)")
                results.append(inside)
            }
            #expect(results[0] == results[1], "seed \(seed), step \(step): \(steps)")
        }
        if options.changedKeysPerCommitMax == 100 {
            let changes = seen.map { $0.commits.map { $0.changedKeys(inCollection: "todos") } }
            #expect(changes[0] == changes[1])
        }
    }
}
