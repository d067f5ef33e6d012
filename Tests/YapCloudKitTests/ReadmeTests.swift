import CloudKit
import CloudKitTesting
import Foundation
import Testing
import Yap
import YapCloudKit

/// What the README shows is compiled and run here, line by line.
@Suite struct ReadmeTests {
    struct Todo: CloudModel {
        var title = ""
        static let recordType = "todo"
        static let fields = CloudFields<Todo> { $0.field(\.title) }
    }

    private func tenLines(_ url: URL) async throws -> (YapDatabase, CloudSync) {
        let database = try YapDatabase(url: url) { $0.register(Todo.self, inCollection: "todos") }
        let sync = try await CloudSync(
            database, container: .default(), models: [.model(Todo.self, collection: "todos")], zone: "todos")
        let list = database.newConnection()
        try await list.readWrite { try $0.setObject(Todo(title: "Eggs"), forKey: "1", inCollection: "todos") }
        return (database, sync)
    }

    @Test func theTenLinesSyncAModel() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(component: "yap-readme-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }

        let cloud = TestCloud(execution: .threads)
        let phone = cloud.device(user: "ada"), laptop = cloud.device(user: "ada")
        let (database, sync) = try await phone.asDefault {
            try await tenLines(folder.appending(component: "phone.yap"))
        }
        #expect(await sync.syncNow().state == .idle)

        let laptopDatabase = try YapDatabase(url: folder.appending(component: "laptop.yap")) {
            $0.register(Todo.self, inCollection: "todos")
        }
        let laptopSync = try await CloudSync(
            laptopDatabase, container: laptop.container,
            models: [.model(Todo.self, collection: "todos")], zone: "todos")
        await laptopSync.syncNow()
        let todo = try await laptopDatabase.newConnection().read {
            try $0.object(Todo.self, forKey: "1", inCollection: "todos")
        }
        #expect(todo?.title == "Eggs")
        try await database.close()
        try await laptopDatabase.close()
    }

    @Test func theTenLinesAreTen() throws {
        #expect(try #require(try blocks().first).split(separator: "\n").count == 10)
    }

    @Test func everyLineOfTheReadmesCodeIsInThisFile() throws {
        let source = try String(contentsOf: URL(filePath: #filePath), encoding: .utf8)
        let compiled = Set(lines(of: source))
        let shown = try blocks().filter { !isPackage($0) }.flatMap(lines)
        #expect(shown.count > 10)
        for line in shown {
            #expect(compiled.contains(line), "README shows code that is not tested: \(line)")
        }
    }

    @Test func theReadmesPackageNamesProductsOfThisOne() throws {
        let package = try #require(try blocks().first(where: isPackage))
        let ours = try text(of: "Package.swift")
        #expect(package.split(separator: "\n").first == ours.split(separator: "\n").first)
        let products = package.matches(of: /\.product\(name: "(\w+)"/).map { String($0.output.1) }
        #expect(products == ["Yap", "YapCloudKit", "CloudKit", "CloudKitTesting"])
        for product in products { #expect(ours.contains(".library(name: \"\(product)\""), "\(product)") }
    }

    private func text(of path: String) throws -> String {
        var root = URL(filePath: #filePath)
        for _ in 0..<3 { root.deleteLastPathComponent() }
        return try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    /// The Swift blocks of the README.
    private func blocks() throws -> [String] {
        try text(of: "README.md").components(separatedBy: "```swift\n").dropFirst()
            .map { $0.components(separatedBy: "```")[0] }
    }

    private func isPackage(_ block: String) -> Bool { block.hasPrefix("// swift-tools-version") }

    private func lines(of text: String) -> [String] {
        text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }
}
