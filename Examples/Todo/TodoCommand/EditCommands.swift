import Foundation
import System
import TodoKit
import Yap
import YapCloudKit

/// Commands that only change this device's file. A sync sends their changes.
struct EditCommands {
    let call: TodoCall
    let folder: DeviceFolder
    let failpoint: Failpoint?

    func run() async throws -> Int32 {
        let list = try await folder.open(.records)
        if let failpoint {
            try await list.database.register(failpoint, withName: "failpoint")
            failpoint.arm()
            failpoint.willBegin()
        }
        switch call.command {
        case "add": try await add(list)
        case "list": try await show(list)
        case "done": try await done(list)
        case "edit": try await edit(list)
        case "delete": try await delete(list)
        case "color": try await color(list)
        case "pin", "unpin": try await pin(list)
        default: try await importFile(list)
        }
        try await list.close()
        return 0
    }

    // MARK: The commands

    private func add(_ list: TodoList) async throws {
        let line = try text(call.operands)
        let todos = try await list.todos()
        var todo = Todo(line: line, order: (todos.values.map(\.order).max() ?? 0) + 1)
        if todo.creationDay == nil { todo.creationDay = Clock.today() }
        let key = SystemRandomSource().nextUUID()
        try await list.add([(key, todo)])
        try report([(key, todo)], "added", Array(todos.keys) + [key], isOne: true)
    }

    private func show(_ list: TodoList) async throws {
        let todos = try await list.todos()
        let short = ShortKeys(todos.keys)
        let rows = todos.sorted { place($0) < place($1) }.filter { row in
            (call.has("all") || !row.value.isDone)
                && call.operands.allSatisfy { row.value.line.localizedCaseInsensitiveContains($0) }
        }
        if call.isJSON {
            return try Output.json(rows.map { ItemJSON($0.key, $0.value, short) })
        }
        let width = rows.map { short.short($0.key).count }.max() ?? 0
        var text = ""
        for row in rows {
            let key = short.short(row.key)
            let mark = row.value.isPinned ? "* " : "  "
            text += key + String(repeating: " ", count: width + 1 - key.count) + mark + row.value.line + "\n"
        }
        Output.write(text)
        if rows.isEmpty {
            Output.complain(todos.isEmpty ? "The list is empty." : "No open item fits; --all shows all.")
        }
    }

    /// Pinned items come first.
    private func place(_ row: (key: String, value: Todo)) -> (Int, Int, String) {
        (row.value.isPinned ? 0 : 1, row.value.order, row.key)
    }

    private func done(_ list: TodoList) async throws {
        try await change(list, "done") { $0.complete(on: Clock.today()) }
    }

    private func edit(_ list: TodoList) async throws {
        guard let beginning = call.operands.first else {
            throw TodoFailure.usage("`todo edit` takes a key and a text")
        }
        let line = try text(call.operands.dropFirst())
        let todos = try await list.todos()
        let key = try named(beginning, todos)
        try await list.change(key) { todo in
            let isPinned = todo.isPinned
            todo = Todo(line: line, order: todo.order)
            todo.isPinned = isPinned
        }
        try report([(key, Todo(line: line))], "changed", todos.keys, isOne: true)
    }

    private func color(_ list: TodoList) async throws {
        guard call.operands.count == 2 else {
            throw TodoFailure.usage("`todo color` takes a key and a colour")
        }
        let (beginning, name) = (call.operands[0], call.operands[1])
        let color = TodoColor(named: name)
        guard color != nil || name == "none" else {
            let names = TodoColor.names.map(\.name).joined(separator: ", ")
            throw TodoFailure.usage("there is no colour \(name): take \(names), #rrggbb, or none")
        }
        let todos = try await list.todos()
        try await change(list, "coloured", [try named(beginning, todos)], todos) { $0.color = color }
    }

    private func pin(_ list: TodoList) async throws {
        let isPinned = call.command == "pin"
        try await change(list, isPinned ? "pinned" : "unpinned") { $0.isPinned = isPinned }
    }

    private func delete(_ list: TodoList) async throws {
        let todos = try await list.todos()
        let keys = try namedKeys(todos)
        for key in keys { try await list.remove(key) }
        try report(keys.compactMap { key in todos[key].map { (key, $0) } }, "deleted", todos.keys)
    }

    private func importFile(_ list: TodoList) async throws {
        let path = try call.operand("FILE")
        guard let data = FileManager.default.contents(atPath: path) else {
            throw TodoFailure.failed("can't read \(path): does the file exist?")
        }
        let file: TodoFile
        do {
            file = try TodoFile(bytes: [UInt8](data))
        } catch {
            throw TodoFailure.failed("can't read \(path): \(error)")
        }
        let first = try await list.todos().values.map(\.order).max() ?? 0
        let items = file.keyedTodos(random: SystemRandomSource()).map { key, todo in
            var todo = todo
            todo.order += first
            return (key: key, todo: todo)
        }
        if !items.isEmpty { try await list.add(items) }
        let done = items.count { $0.todo.isDone }
        if call.isJSON { return try Output.json(["items": items.count, "done": done]) }
        Output.line("\(items.count) items, \(done) of them done")
    }

    // MARK: Parts

    private func change(
        _ list: TodoList, _ what: String, _ edit: @escaping @Sendable (inout Todo) -> Void
    ) async throws {
        let todos = try await list.todos()
        try await change(list, what, try namedKeys(todos), todos, edit)
    }

    private func change(
        _ list: TodoList, _ what: String, _ keys: [String], _ todos: [String: Todo],
        _ edit: @escaping @Sendable (inout Todo) -> Void
    ) async throws {
        for key in keys { try await list.change(key, edit) }
        let changed = keys.compactMap { key -> (String, Todo)? in
            guard var todo = todos[key] else { return nil }
            edit(&todo)
            return (key, todo)
        }
        try report(changed, what, todos.keys)
    }

    /// All names are looked up before anything is changed: a mistyped one changes nothing.
    private func namedKeys(_ todos: [String: Todo]) throws -> [String] {
        guard !call.operands.isEmpty else { throw TodoFailure.usage("`todo \(call.command)` takes a key") }
        return try call.operands.map { try named($0, todos) }
    }

    private func named(_ beginning: String, _ todos: [String: Todo]) throws -> String {
        do {
            return try ShortKeys(todos.keys).key(beginning, in: todos.keys)
        } catch {
            throw TodoFailure.failed("\(error)")
        }
    }

    private func text(_ words: some Sequence<String>) throws -> String {
        let text = words.joined(separator: " ")
        guard text.contains(where: { !$0.isWhitespace }) else {
            throw TodoFailure.usage("what is to be done?")
        }
        guard !text.contains(where: \.isNewline) else { throw TodoFailure.usage("an item is one line") }
        guard text.utf8.count <= TodoFile.lineBytesMax else {
            throw TodoFailure.usage("an item may have \(TodoFile.lineBytesMax) bytes")
        }
        return text
    }

    private func report(
        _ items: [(String, Todo)], _ what: String, _ keys: some Sequence<String>, isOne: Bool = false
    ) throws {
        let short = ShortKeys(keys)
        if call.isJSON {
            let lines = items.map { ["key": $0.0, "short": short.short($0.0), "line": $0.1.line] }
            return isOne ? try Output.json(lines[0]) : try Output.json(lines)
        }
        for (key, todo) in items { Output.line("\(what) \(short.short(key))  \(todo.line)") }
    }
}

/// An item as `list --json` prints it.
struct ItemJSON: Encodable {
    let key: String
    let short: String
    let line: String
    let title: String
    let isDone: Bool
    let priority: String?
    let creationDay: String?
    let completionDay: String?
    let order: Int
    let color: String?
    let isPinned: Bool

    init(_ key: String, _ todo: Todo, _ short: ShortKeys) {
        self.key = key
        self.short = short.short(key)
        line = todo.line
        title = todo.title
        isDone = todo.isDone
        priority = todo.priority
        creationDay = todo.creationDay
        completionDay = todo.completionDay
        order = todo.order
        color = todo.color?.text
        isPinned = todo.isPinned
    }
}
