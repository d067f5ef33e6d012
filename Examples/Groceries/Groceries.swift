import CloudKit
import Foundation
import Yap
import YapCloudKit

@main struct Groceries {
    static func main() async {
        do {
            try await run(Array(CommandLine.arguments.dropFirst()))
        } catch {
            say("\(error)")
            exit(1)
        }
    }

    static func run(_ words: [String]) async throws {
        guard words.count >= 2 else {
            return say("groceries FILE add NAME | at NAME SHOP | list | sync | watch")
        }

        let database = try YapDatabase(url: URL(filePath: words[0])) {
            $0.register(Item.self, inCollection: "items")
        }
        let sync = try await CloudSync(
            database, container: .default(), models: [.model(Item.self, collection: "items")],
            zone: "groceries")
        let connection = database.newConnection()

        switch words[1] {
        case "add":
            let item = Item(name: words.dropFirst(2).joined(separator: " "))
            try await connection.readWrite { transaction in
                try transaction.setObject(item, forKey: UUID().uuidString, inCollection: "items")
            }
            say(message(for: await sync.syncNow()))
        case "at" where words.count == 4:
            try await connection.readWrite { transaction in
                for (key, item) in try transaction.objects(Item.self, inCollection: "items")
                where item.name == words[2] {
                    var item = item
                    item.shops.append(words[3])
                    try transaction.setObject(item, forKey: key, inCollection: "items")
                }
            }
            say(message(for: await sync.syncNow()))
        case "list":
            for line in try await connection.read(lines) { say(line) }
        case "watch":
            var shown: Set<String> = []
            for try await lines in connection.observe(lines) {
                for line in lines where shown.insert(line).inserted { say(line) }
            }
        default:
            say(message(for: await sync.syncNow()))
        }
    }

    @Sendable static func lines(_ transaction: YapDatabaseReadTransaction) throws -> [String] {
        try transaction.objects(Item.self, inCollection: "items").map { _, item in
            ([item.name] + item.shops.sorted()).joined(separator: ", ")
        }.sorted()
    }

    /// Returns one line for the user, or the complete status with remedies if there is a problem.
    static func message(for status: CloudSyncStatus) -> String {
        status.problems.isEmpty ? status.summary : "\(status)"
    }

    static func say(_ line: String) {
        FileHandle.standardOutput.write(Data((line + "\n").utf8))
    }
}
