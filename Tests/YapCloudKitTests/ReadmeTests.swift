import CloudKit
import CloudKitTesting
import Foundation
import Testing
import Yap
import YapCloudKit

/// What the README shows is compiled and run here, line by line.
@Suite struct ReadmeTests {
    struct Todo: CloudModel, Equatable {
        var title = ""
        var isDone = false
        static let recordType = "todo"
        static let fields = CloudFields<Todo> {
            $0.field(\.title)
            $0.field(\.isDone)
        }
    }

    @Test func theTenLinesSyncAModel() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(component: "yap-readme-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = folder.appending(component: "phone.yap")

        let cloud = TestCloud(execution: .threads)
        let phone = cloud.device(user: "ada"), laptop = cloud.device(user: "ada")
        let container = phone.container

        let database = try YapDatabase(url: url) { $0.register(Todo.self, inCollection: "todos") }
        let sync = try await CloudSync(
            database, container: container, models: [.model(Todo.self, collection: "todos")], zone: "todos")

        try await database.newConnection().readWrite { transaction in
            try transaction.setObject(Todo(title: "Pick up eggs"), forKey: "42", inCollection: "todos")
        }
        await sync.syncNow()

        #expect(sync.currentStatus == .idle)
        let laptopDatabase = try YapDatabase(url: folder.appending(component: "laptop.yap")) {
            $0.register(Todo.self, inCollection: "todos")
        }
        let laptopSync = try await CloudSync(
            laptopDatabase, container: laptop.container,
            models: [.model(Todo.self, collection: "todos")], zone: "todos")
        await laptopSync.syncNow()
        let todo = try await laptopDatabase.newConnection().read {
            try $0.object(Todo.self, forKey: "42", inCollection: "todos")
        }
        #expect(todo == Todo(title: "Pick up eggs"))
        try database.close()
        try laptopDatabase.close()
    }

    @Test func everyLineOfTheReadmesCodeIsInThisFile() throws {
        let file = URL(filePath: #filePath)
        let root = file.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let readme = try String(contentsOf: root.appending(component: "README.md"), encoding: .utf8)
        let source = try String(contentsOf: file, encoding: .utf8)
        let compiled = Set(lines(of: source))
        let shown = readme.components(separatedBy: "```swift\n").dropFirst()
            .flatMap { lines(of: $0.components(separatedBy: "```")[0]) }
        #expect(shown.count > 15)
        for line in shown {
            #expect(compiled.contains(line), "README shows code that is not tested: \(line)")
        }
    }

    private func lines(of text: String) -> [String] {
        text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }
}
