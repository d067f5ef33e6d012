import FaultProxy
import Foundation
import System
import TodoKit

/// A device of the story: the command `todo` with a folder, and a proxy between it and the server.
package final class TodoDevice: Sendable {
    /// What a merge decided, as `todo sync --json` prints it.
    package struct Decision: Decodable, Sendable {
        package let key: String
        package let rule: String
        package let field: String?
        package let dropped: String?
        package let kept: String?
    }

    /// What `todo status --json` prints, in part.
    package struct Status: Decodable, Sendable {
        package let items: Int
        package let pending: Int
        package let inFlight: Bool
        package let status: String
        package let lastError: String?
        package let lastWorkedAt: Int64?
        package let token: String?
    }

    private struct Item: Decodable {
        let key: String
        let title: String
        let isDone: Bool
        let priority: String?
        let creationDay: String?
        let completionDay: String?
        let order: Int
        let color: String?
        let isPinned: Bool
    }

    /// Its name.
    package let name: String
    /// Its way to the server.
    package let proxy: FaultProxy
    private let todo: String
    private let folder: String

    /// - Parameters:
    ///   - programs: Where the executable `todo` is.
    ///   - folder: Where the device's folder is made.
    package init(_ name: String, programs: String, in folder: String, server: YapServer) throws {
        self.name = name
        todo = programs + "/todo"
        self.folder = folder + "/todo-" + name
        proxy = try FaultProxy(targetPort: server.port)
    }

    /// Signs in through the proxy.
    package func logIn(_ account: String, _ server: YapServer) async throws {
        _ = try await run(
            [
                "login", "--server", "http://127.0.0.1:\(proxy.port)", "--container", YapServer.container,
                "--api-token", server.apiToken, "--account", account, "--password-stdin",
            ], input: YapServer.password(account))
    }

    /// Starts a command on the device.
    package func start(_ arguments: [String], input: String = "") throws -> Program {
        try Program(todo, ["--device", name, "--folder", folder] + arguments, input: input)
    }

    /// Runs a command on the device, which must succeed.
    /// - Returns: Its output.
    @discardableResult
    package func run(_ arguments: [String], input: String = "") async throws -> String {
        let result = try await start(arguments, input: input).result()
        guard result.end == .exit(0) else {
            throw YapServer.Failure(
                description:
                    "todo \(arguments.joined(separator: " ")) on the \(name) ended with \(result.end): "
                    + result.output + result.errors)
        }
        return result.output
    }

    /// Syncs until nothing is left to do.
    /// - Returns: What merges decided on the way.
    @discardableResult
    package func sync(_ options: [String] = []) async throws -> [Decision] {
        let output = try await run(["sync", "--json"] + options)
        return output.split(separator: "\n").compactMap { line in
            try? JSONDecoder().decode(Decision.self, from: Data(line.utf8))
        }
    }

    /// All items by their keys.
    package func todos() async throws -> [String: Todo] {
        let items = try JSONDecoder().decode(
            [Item].self, from: Data(try await run(["list", "--all", "--json"]).utf8))
        let pairs = items.map { item in
            (
                item.key,
                Todo(
                    title: item.title, isDone: item.isDone, priority: item.priority,
                    creationDay: item.creationDay, completionDay: item.completionDay, order: item.order,
                    color: item.color.flatMap { TodoColor(text: $0) }, isPinned: item.isPinned)
            )
        }
        return Dictionary(pairs) { first, _ in first }
    }

    /// Adds an item.
    /// - Returns: Its key.
    @discardableResult
    package func add(_ line: String) async throws -> String {
        struct Added: Decodable { let key: String }
        let output = try await run(["add", "--json", "--", line])
        return try JSONDecoder().decode(Added.self, from: Data(output.utf8)).key
    }

    /// What `todo status` says.
    package func status() async throws -> Status {
        try JSONDecoder().decode(Status.self, from: Data(try await run(["status", "--json"]).utf8))
    }
}

extension YapServer {
    /// The list as the server's files hold it.
    package func todos(of account: String) async throws -> [String: Todo] {
        try await records(ofType: Todo.recordType, account: account, zone: TodoList.collection).mapValues {
            record in
            Todo(
                title: record.texts["title"] ?? "", isDone: record.numbers["completed"] == 1,
                priority: record.texts["priority"], creationDay: record.texts["created"],
                completionDay: record.texts["completionDay"], order: record.numbers["order"] ?? 0,
                color: record.texts["color"].flatMap { TodoColor(text: $0) })
        }
    }
}
