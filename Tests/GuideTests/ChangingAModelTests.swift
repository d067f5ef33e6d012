import CodeBlocks
import Foundation
import Testing
import Yap
import YapCloudKit

/// The types of an app's first version.
private enum Before {
    struct Bookmark: Codable { var title = "" }
    struct Tag: Codable { var name = "" }
    struct Page: Codable { var address = "" }

    struct Todo: Codable {
        var title = ""
        var done = false
        var priority = ""
    }
}

/// The same types later.
private enum After {
    struct Bookmark: CloudModel, Equatable {
        var title = ""
        var note = ""  // new

        static let recordType = "bookmark"
        static let fields = CloudFields<Bookmark> {
            $0.field(\.title)
            $0.field(\.note)  // new
        }
    }

    struct Tag: YapDatabaseModel, Equatable {
        var name = ""
        var colour = "grey"  // new
    }

    struct Page: Codable, Sendable, Equatable {
        var address: String
        var isRead: Bool
    }

    struct Todo: YapDatabaseModel, Equatable {
        var title = ""
        var isDone = false
        var priority = 0
    }
}

/// `docs/guide/CHANGING_A_MODEL.md`: its blocks stand here, and do what the page says.
@Suite struct ChangingAModelTests {
    private let folder: Folder
    private let url: URL

    /// Stores an object of each type as the first version of the app does.
    init() async throws {
        folder = try Folder()
        url = folder.url.appending(component: "app.yap")
        let database = try YapDatabase(url: url) {
            $0.register(Before.Bookmark.self, inCollection: "bookmarks")
            $0.register(Before.Tag.self, inCollection: "tags")
            $0.register(Before.Page.self, inCollection: "pages")
            $0.register(Before.Todo.self, inCollection: "todos")
        }
        try await database.newConnection().readWrite { transaction in
            try transaction.setObject(
                Before.Bookmark(title: "Swift"), forKey: "1", inCollection: "bookmarks")
            try transaction.setObject(Before.Tag(name: "language"), forKey: "1", inCollection: "tags")
            try transaction.setObject(
                Before.Page(address: "https://swift.org"), forKey: "1", inCollection: "pages")
            for number in 1...3 {
                let todo = Before.Todo(title: "\(number)", done: number == 2, priority: "\(number)")
                try transaction.setObject(todo, forKey: "\(number)", inCollection: "todos")
            }
        }
        try await database.close()
    }

    private func open(hasDefaultPage: Bool = true) throws -> YapDatabase {
        typealias Bookmark = After.Bookmark
        typealias Tag = After.Tag
        typealias Page = After.Page
        typealias Todo = After.Todo
        return try YapDatabase(url: url) {
            $0.register(Bookmark.self, inCollection: "bookmarks")
            $0.register(Tag.self, inCollection: "tags")
            if hasDefaultPage {
                $0.register(Page.self, inCollection: "pages", default: Page(address: "", isRead: false))
            } else {
                $0.register(Page.self, inCollection: "pages")
            }
            $0.register(Todo.self, inCollection: "todos", version: 3) { old in
                if old.version < 2 { old.rename("done", to: "isDone") }
                if let text = try old.value(String.self, of: "priority") {
                    try old.set(Int(text) ?? 0, for: "priority")
                }
            }
        }
    }

    @Test func theLaterVersionReadsWhatTheFirstStored() async throws {
        let connection = try open().newConnection()
        try await connection.read { transaction in
            let bookmark = try transaction.object(After.Bookmark.self, forKey: "1", inCollection: "bookmarks")
            #expect(bookmark == After.Bookmark(title: "Swift"))
            let tag = try transaction.object(After.Tag.self, forKey: "1", inCollection: "tags")
            #expect(tag == After.Tag(name: "language", colour: "grey"))
            let page = try transaction.object(After.Page.self, forKey: "1", inCollection: "pages")
            #expect(page == After.Page(address: "https://swift.org", isRead: false))
            let todo = try transaction.object(After.Todo.self, forKey: "2", inCollection: "todos")
            #expect(todo == After.Todo(title: "2", isDone: true, priority: 2))
        }
    }

    @Test func allObjectsAreStoredAgainInTheBackground() async throws {
        let connection = try open().newConnection()
        let (shown, continuation) = AsyncStream.makeStream(of: String.self)
        let show: @Sendable (String) -> Void = { continuation.yield($0) }
        try await connection.upgradeObjects(inCollection: "todos") { progress in
            show("\(progress.doneCount) of \(progress.totalCount)")
        }
        continuation.finish()
        var last: String?
        for await line in shown { last = line }
        #expect(last == "3 of 3")
        let count = try await connection.upgradeObjects(inCollection: "todos")
        #expect(count == 0)
    }

    @Test func withoutTheCheckTheFileOpensAndGivesTheBytes() async throws {
        typealias Page = After.Page
        var options = YapDatabaseOptions()
        options.checksStoredObjects = false
        let database = try YapDatabase(url: url, options: options) {
            $0.register(Page.self, inCollection: "pages")
        }
        try await database.newConnection().read { transaction in
            let error = #expect(throws: YapDatabaseError.self) {
                try transaction.object(Page.self, forKey: "1", inCollection: "pages")
            }
            #expect(error?.code == .decoding && error?.message.contains("'isRead'") == true)
            let bytes = try transaction.serializedObject(forKey: "1", inCollection: "pages")
            #expect(bytes?.isEmpty == false)
        }
    }

    @Test func whatTheTypeCannotReadIsRefusedWhenTheFileIsOpened() throws {
        let error = #expect(throws: YapDatabaseError.self) { try open(hasDefaultPage: false) }
        #expect(error?.code == .decoding)
        let told = error.map { "\($0)" } ?? ""
        let page = CodeBlocks.guide.appending(path: "CHANGING_A_MODEL.md")
        let text = try String(contentsOf: page, encoding: .utf8)
        let shown = text.components(separatedBy: "```text\n").last?.components(separatedBy: " ...\n").first
        let sentence = try #require(shown).replacing("\n", with: " ")
        #expect(told.contains(sentence), "\(told)")
    }
}
