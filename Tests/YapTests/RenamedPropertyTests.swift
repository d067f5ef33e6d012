import Testing

@testable import Yap

/// A property that was renamed without an `upgrade` is warned of when the file is opened, and nothing else is.
struct RenamedPropertyTests {
    let folder: TestFolder

    init() throws {
        folder = try TestFolder()
    }

    typealias Upgrade = @Sendable (inout YapDatabaseStoredObject) throws -> Void

    struct Todo: YapDatabaseModel {
        var title = ""
        var done = false
        var note: String?
    }

    struct RenamedTodo: YapDatabaseModel {
        var title = ""
        var isDone = false
        var note: String?
    }

    /// Opens the file with a type, stores objects behind those that are there, and closes it.
    /// - Returns: What opening warned of.
    @discardableResult
    private func live<Object: Codable & Sendable>(
        _ type: Object.Type, storing objects: [Object] = [], version: Int = 1, checks: Bool = true,
        upgrade: Upgrade? = nil
    ) throws -> [YapDatabaseModelWarning] {
        var options = YapDatabaseOptions()
        options.checksStoredObjects = checks
        let database = try YapDatabase(path: folder.file, options: options) {
            $0.register(type, inCollection: "things", version: version, upgrade: upgrade)
        }
        if !objects.isEmpty {
            try database.newConnection().blocking.readWrite { transaction in
                var count = try transaction.numberOfKeys(inCollection: "things")
                for object in objects {
                    count += 1
                    try transaction.setObject(object, forKey: "\(1_000 + count)", inCollection: "things")
                }
            }
        }
        let warnings = database.modelWarnings
        try database.blocking.close()
        return warnings
    }

    private static let todos = (1...40).map { Todo(title: "\($0)", done: $0 % 2 == 0) }

    @Test func aRenameWithoutAnUpgradeIsWarnedOfWithTheNamesAndTheRemedy() throws {
        #expect(try live(Todo.self, storing: Self.todos).isEmpty)
        #expect(try live(Todo.self).isEmpty)
        let warnings = try live(RenamedTodo.self)
        let warning = try #require(warnings.first)
        #expect(warnings.count == 1)
        #expect(warning.collection == "things" && warning.typeName == "RenamedTodo")
        #expect(warning.property == "isDone" && warning.formerNames == ["done"])
        let line = warning.description
        #expect(line.hasPrefix("collection \"things\": no stored object has 'isDone' of RenamedTodo"))
        #expect(line.contains("old.rename(\"done\", to: \"isDone\") in upgrade"))
        #expect(line.contains("old.remove(\"done\")") && !line.contains("\n"))
    }

    @Test func theWarningStaysWhenTheTypeHasWrittenUntilAnObjectThatIsLookedAtHasTheProperty() throws {
        try live(Todo.self, storing: Self.todos)
        // The file learns the type's names, and has no object of it.
        let database = try YapDatabase(path: folder.file) {
            $0.register(RenamedTodo.self, inCollection: "things")
        }
        try database.newConnection().blocking.readWrite { transaction in
            try transaction.setObject(RenamedTodo(), forKey: "2000", inCollection: "things")
            try transaction.removeObject(forKey: "2000", inCollection: "things")
        }
        try database.blocking.close()
        let warnings = try live(RenamedTodo.self, storing: [RenamedTodo(title: "new")])
        #expect(warnings.map(\.property) == ["isDone"])
        #expect(try live(RenamedTodo.self).isEmpty)
    }

    @Test func anUpgradeThatRenamesOrRemovesEndsTheWarning() throws {
        try live(Todo.self, storing: Self.todos)
        #expect(try live(RenamedTodo.self, version: 2) { $0.rename("done", to: "isDone") }.isEmpty)
        #expect(try live(RenamedTodo.self, version: 2) { $0.remove("done") }.isEmpty)
        #expect(try live(RenamedTodo.self, version: 2) { try $0.set(true, for: "isDone") }.isEmpty)
        // One that forgets it doesn't.
        #expect(try live(RenamedTodo.self, version: 2) { $0.rename("note", to: "text") }.count == 1)
    }

    @Test func eachPropertyIsWarnedOfOnceHoweverManyNamesItMayHaveHad() throws {
        struct Before: YapDatabaseModel {
            var a = 1
            var b = 2
            var c = ""
        }
        struct After: YapDatabaseModel {
            var x = 1
            var y = 2
            var z = ""
        }
        try live(Before.self, storing: [Before(), Before()])
        let warnings = try live(After.self)
        #expect(warnings.map(\.property) == ["x", "y", "z"])
        #expect(warnings.map(\.formerNames) == [["a", "b"], ["a", "b"], ["c"]])
    }

    @Test func aRenamedOptionalPropertyThatIsSetIsWarnedOf() throws {
        struct After: YapDatabaseModel {
            var title = ""
            var done = false
            var comment: String?
        }
        try live(Todo.self, storing: [Todo(title: "eggs", note: "six")])
        #expect(try live(After.self).map(\.property) == ["comment"])
    }

    @Test func onlyTheFirstAndTheLastObjectsAreLookedAt() throws {
        try live(Todo.self, storing: Array(Self.todos.prefix(8)))
        try live(RenamedTodo.self, storing: (1...8).map { RenamedTodo(title: "\($0)") })
        try live(Todo.self, storing: Array(Self.todos.prefix(8)))
        // Those between have the property.
        #expect(try live(RenamedTodo.self).count == 1)
    }

    // MARK: No false alarm

    @Test func nothingIsWarnedOfWithoutObjectsOrWithoutTheCheck() throws {
        try live(Todo.self, storing: [])
        #expect(try live(RenamedTodo.self).isEmpty)
        try live(Todo.self, storing: Self.todos)
        #expect(try live(RenamedTodo.self, checks: false).isEmpty)
        #expect(try live(RenamedTodo.self).count == 1)
    }

    @Test func anAddedPropertyOfAnyTypeIsNoRenamedOne() throws {
        struct After: YapDatabaseModel {
            var title = ""
            var done = false
            var note: String?
            var isUrgent = false
            var color = "white"
            var due: Double?
        }
        try live(Todo.self, storing: Self.todos)
        #expect(try live(After.self).isEmpty)
    }

    @Test func aPropertyThatWasRemovedWhileOneOfAnotherTypeWasAddedIsNoRenamedOne() throws {
        struct After: YapDatabaseModel {
            enum Kind: String, Codable { case short, long }
            var title = ""
            var priority = 0
            var kind = Kind.short
            var parts: [String] = []
        }
        try live(Todo.self, storing: Self.todos.map { Todo(title: $0.title, note: "six") })
        #expect(try live(After.self).isEmpty)
    }

    @Test func anUnsetOptionalPropertyIsNoRenamedOneWhenAnotherIsRemoved() throws {
        struct Before: YapDatabaseModel {
            var title = ""
            var text = "six"
            var note: String?
        }
        struct After: YapDatabaseModel {
            var title = ""
            var note: String?
        }
        try live(Before.self, storing: [Before(title: "eggs")])
        #expect(try live(After.self).isEmpty)
        try live(After.self, storing: [After(title: "ham")])
        #expect(try live(After.self).isEmpty)
    }

    @Test func aPropertyThatWasAddedEarlierThanAnotherWasRemovedIsNoRenamedOne() throws {
        struct Between: YapDatabaseModel {
            var title = ""
            var done = false
            var note: String?
            var comment: String?
        }
        struct After: YapDatabaseModel {
            var title = ""
            var done = false
            var comment: String?
        }
        try live(Todo.self, storing: [Todo(title: "eggs", note: "six")])
        try live(Between.self, storing: [Between(title: "ham", note: "two")])
        #expect(try live(After.self).isEmpty)
    }

    /// What is in the object depends on its kind, and a part of it is written for other programs.
    enum Shape: Codable, Sendable {
        case circle(radius: Int, label: String?)
        case square(side: Int)

        enum Keys: String, CodingKey { case kind, radius, side, label, written }

        init(from decoder: any Decoder) throws {
            let map = try decoder.container(keyedBy: Keys.self)
            switch try map.decode(String.self, forKey: .kind) {
            case "circle":
                self = .circle(
                    radius: try map.decode(Int.self, forKey: .radius),
                    label: try map.decodeIfPresent(String.self, forKey: .label))
            default: self = .square(side: try map.decode(Int.self, forKey: .side))
            }
        }

        func encode(to encoder: any Encoder) throws {
            var map = encoder.container(keyedBy: Keys.self)
            try map.encode("by hand", forKey: .written)
            switch self {
            case .circle(let radius, let label):
                try map.encode("circle", forKey: .kind)
                try map.encode(radius, forKey: .radius)
                try map.encodeIfPresent(label, forKey: .label)
            case .square(let side):
                try map.encode("square", forKey: .kind)
                try map.encode(side, forKey: .side)
            }
        }
    }

    struct OldCircle: YapDatabaseModel {
        var kind = "circle"
        var radius = 1
        var color = "red"
    }

    @Test func polymorphicValuesAndThoseThatEncodeThemselvesAreNotTakenForRenamed() throws {
        try live(Shape.self, storing: [.circle(radius: 1, label: nil)])
        #expect(try live(Shape.self, storing: [.square(side: 1)]).isEmpty)
        #expect(try live(Shape.self).isEmpty)
    }

    @Test func ofAPolymorphicTypeThatLostAPropertyNothingIsWarned() throws {
        try live(OldCircle.self, storing: [OldCircle(), OldCircle()])
        try live(Shape.self, storing: [.square(side: 1)])
        #expect(try live(Shape.self).isEmpty)
    }

    @Test func aPropertyThatIsReadAndNeverWrittenIsNoRenamedOne() throws {
        struct Circle: Codable, Sendable {
            var radius = 1

            enum Keys: String, CodingKey { case kind, radius, comment }

            init(from decoder: any Decoder) throws {
                let map = try decoder.container(keyedBy: Keys.self)
                _ = try map.decodeIfPresent(String.self, forKey: .kind)
                // Some other program may have written it.
                _ = try map.decodeIfPresent(String.self, forKey: .comment)
                radius = try map.decode(Int.self, forKey: .radius)
            }

            func encode(to encoder: any Encoder) throws {
                var map = encoder.container(keyedBy: Keys.self)
                try map.encode("circle", forKey: .kind)
                try map.encode(radius, forKey: .radius)
            }
        }
        try live(OldCircle.self, storing: [OldCircle(), OldCircle()])
        #expect(try live(Circle.self).isEmpty)
    }

    @Test func aPropertyThatTheTypeWritesItselfIsNotTheFormerNameOfAnother() throws {
        struct Card: Codable, Sendable {
            var title = ""
            var text: String?

            enum Keys: String, CodingKey { case title, text, name }

            init(title: String) { self.title = title }

            init(from decoder: any Decoder) throws {
                let map = try decoder.container(keyedBy: Keys.self)
                title = try map.decode(String.self, forKey: .title)
                text = try map.decodeIfPresent(String.self, forKey: .text)
            }

            func encode(to encoder: any Encoder) throws {
                var map = encoder.container(keyedBy: Keys.self)
                try map.encode(title, forKey: .title)
                try map.encodeIfPresent(text, forKey: .text)
                // For other programs.
                try map.encode(title, forKey: .name)
            }
        }
        struct Before: YapDatabaseModel {
            var title = ""
            var name = ""
        }
        try live(Before.self, storing: [Before(title: "eggs", name: "eggs")])
        #expect(try live(Card.self, storing: [Card(title: "ham")]).isEmpty)
        #expect(try live(Card.self).isEmpty)
    }

    @Test func dictionariesAndOtherSerializersAreNotLookedAt() throws {
        try live([String: Int].self, storing: [["a": 1], ["b": 2]])
        #expect(try live([String: Int].self).isEmpty)
        let database = try YapDatabase(path: folder.file) {
            $0.register(
                Todo.self, serializer: YapDatabaseSerializer(encode: { _ in [] }, decode: { _ in Todo() }),
                inCollection: "things")
        }
        #expect(database.modelWarnings.isEmpty)
        try database.blocking.close()
    }

    @Test func anEarlierVersionThatIsInstalledAgainWarnsOfNothing() throws {
        let rename: Upgrade = { $0.rename("done", to: "isDone") }
        try live(RenamedTodo.self, storing: [RenamedTodo(title: "new")], version: 2, upgrade: rename)
        #expect(try live(Todo.self).isEmpty)
        #expect(try live(Todo.self, storing: [Todo(title: "old")]).isEmpty)
        #expect(try live(Todo.self).isEmpty)
        #expect(try live(RenamedTodo.self, version: 2, upgrade: rename).isEmpty)
    }
}
