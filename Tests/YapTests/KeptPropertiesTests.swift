import SQLite
import Testing

@testable import Yap

/// An earlier version of a type keeps what a later one stored beside its own properties.
struct KeptPropertiesTests {
    let folder: TestFolder

    init() throws {
        folder = try TestFolder()
    }

    struct Earlier: YapDatabaseModel, Equatable {
        var title = ""
        var rating: Int?
    }

    struct Later: YapDatabaseModel, Equatable {
        var title = ""
        var rating: Int?
        var tags: [String] = []
        var color: String?
    }

    struct Renamed: YapDatabaseModel, Equatable {
        var name = ""
        var tags: [String] = []
        var labels: [String] = []
    }

    /// What is in the object depends on its kind.
    struct Shape: Codable, Sendable, Equatable {
        var radius: Int?
        var side: Int?

        enum Keys: String, CodingKey { case kind, radius, side }

        init(radius: Int? = nil, side: Int? = nil) { (self.radius, self.side) = (radius, side) }

        init(from decoder: any Decoder) throws {
            let map = try decoder.container(keyedBy: Keys.self)
            switch try map.decode(String.self, forKey: .kind) {
            case "circle": radius = try map.decode(Int.self, forKey: .radius)
            default: side = try map.decode(Int.self, forKey: .side)
            }
        }

        func encode(to encoder: any Encoder) throws {
            var map = encoder.container(keyedBy: Keys.self)
            try map.encode(radius == nil ? "square" : "circle", forKey: .kind)
            try map.encodeIfPresent(radius, forKey: .radius)
            try map.encodeIfPresent(side, forKey: .side)
        }
    }

    private static let upgrade: @Sendable (inout YapDatabaseStoredObject) throws -> Void = { old in
        old.rename("title", to: "name")
        old.rename("tags", to: "labels")
        old.remove("color")
    }

    /// A life of a version of the app.
    private func live<Object: Codable & Sendable, Result>(
        _ type: Object.Type, version: Int = 1,
        upgrade: (@Sendable (inout YapDatabaseStoredObject) throws -> Void)? = nil,
        _ body: (YapDatabaseReadWriteTransaction) throws -> Result
    ) throws -> Result {
        let database = try YapDatabase(path: folder.file) {
            $0.register(type, inCollection: "things", version: version, upgrade: upgrade)
        }
        let result = try database.newConnection().blocking.readWrite { try body($0) }
        try database.blocking.close()
        return result
    }

    private func set(_ object: some Sendable, _ transaction: YapDatabaseReadWriteTransaction) throws {
        try transaction.setObject(object, forKey: "1", inCollection: "things")
    }

    private func get<Object: Sendable>(
        _ type: Object.Type, _ transaction: YapDatabaseReadTransaction
    ) throws -> Object? {
        try transaction.object(type, forKey: "1", inCollection: "things")
    }

    private func stored<Object: Codable & Sendable>(_ type: Object.Type) throws -> Object? {
        try live(type) { try get(type, $0) }
    }

    private var storedBytes: [UInt8]? {
        get throws { try live(Later.self) { try $0.serializedObject(forKey: "1", inCollection: "things") } }
    }

    private static let later = Later(title: "eggs", rating: 3, tags: ["food"], color: "white")

    @Test func anEarlierVersionKeepsThePropertiesThatItDoesNotKnow() throws {
        try live(Later.self) { try set(Self.later, $0) }
        for title in ["brown eggs", "six eggs"] {
            try live(Earlier.self) { try set(Earlier(title: title, rating: 4), $0) }
        }
        #expect(try stored(Earlier.self) == Earlier(title: "six eggs", rating: 4))
        let kept = Later(title: "six eggs", rating: 4, tags: ["food"], color: "white")
        #expect(try stored(Later.self) == kept)
    }

    @Test func replacingAnObjectKeepsThemToo() throws {
        try live(Later.self) { try set(Self.later, $0) }
        try live(Earlier.self) {
            let isReplaced = try $0.replaceObject(
                Earlier(title: "ham"), forKey: "1", inCollection: "things")
            #expect(isReplaced)
        }
        #expect(try stored(Later.self) == Later(title: "ham", tags: ["food"], color: "white"))
    }

    @Test(arguments: [false, true]) func whatSerializedObjectsHaveBesideTheTypesPropertiesIsKept(
        isReplaced: Bool
    ) throws {
        // Of another file: this one has never seen the later version.
        let other = try KeptPropertiesTests()
        try other.live(Later.self) { try other.set(Self.later, $0) }
        let bytes = try #require(try other.storedBytes)
        try live(Earlier.self) { transaction in
            try set(Earlier(title: "first"), transaction)
            if isReplaced {
                try transaction.replaceSerializedObject(bytes, forKey: "1", inCollection: "things")
            } else {
                try transaction.setSerializedObject(bytes, forKey: "1", inCollection: "things")
            }
            try set(Earlier(title: "ham"), transaction)
        }
        #expect(try stored(Later.self) == Later(title: "ham", tags: ["food"], color: "white"))
    }

    @Test func clearedKnownPropertiesAreRemoved() throws {
        try live(Later.self) { try set(Self.later, $0) }
        try live(Earlier.self) { try set(Earlier(title: "eggs"), $0) }
        #expect(try stored(Later.self)?.rating == nil)
        // Nothing is kept any more: the object is stored as if no other version had been there.
        try live(Later.self) { try set(Later(title: "eggs"), $0) }
        #expect(try storedBytes == CBOREncoder().encode(Later(title: "eggs")))
    }

    @Test func anObjectThatIsRemovedAndMadeAgainKeepsNothing() throws {
        try live(Later.self) { try set(Self.later, $0) }
        try live(Earlier.self) {
            try $0.removeObject(forKey: "1", inCollection: "things")
            try set(Earlier(title: "ham"), $0)
        }
        #expect(try stored(Later.self) == Later(title: "ham"))
    }

    @Test func anUpgradeSeesWhatWasKept() throws {
        try live(Later.self) { try set(Self.later, $0) }
        try live(Earlier.self) { try set(Earlier(title: "ham", rating: 4), $0) }
        let renamed = try live(Renamed.self, version: 2, upgrade: Self.upgrade) { transaction in
            let renamed = try get(Renamed.self, transaction)
            if let renamed { try set(renamed, transaction) }
            return renamed
        }
        #expect(renamed == Renamed(name: "ham", labels: ["food"]))
        // The color was removed for good, and what was renamed is there once. The rating was only not known.
        #expect(try stored(Later.self) == Later(rating: 4))
    }

    struct Ranked: YapDatabaseModel, Equatable {
        var title = ""
        var priority = 0
    }

    private static let ranking: @Sendable (inout YapDatabaseStoredObject) throws -> Void = { old in
        // As of a version that had texts, and another unit.
        if let text = try old.value(String.self, of: "priority") {
            try old.set((Int(text) ?? 0) * 10, for: "priority")
        }
    }

    @Test func whatWasKeptIsNotUpgradedAgain() throws {
        try live(Ranked.self, version: 3, upgrade: Self.ranking) {
            try set(Ranked(title: "eggs", priority: 50), $0)
        }
        try live(Earlier.self) { try set(Earlier(title: "ham"), $0) }
        let back = try live(Ranked.self, version: 3, upgrade: Self.ranking) { try get(Ranked.self, $0) }
        #expect(back == Ranked(title: "ham", priority: 50))
        // A version between the two reads what was kept as far as it fits.
        let between = try live(Later.self, version: 2) { try get(Later.self, $0) }
        #expect(between == Later(title: "ham"))
    }

    /// Reads a former name where the new one is absent.
    struct Fallback: Codable, Sendable, Equatable {
        var name: String?

        enum Keys: String, CodingKey { case name, title }

        init(name: String?) { self.name = name }

        init(from decoder: any Decoder) throws {
            let map = try decoder.container(keyedBy: Keys.self)
            name =
                try map.decodeIfPresent(String.self, forKey: .name)
                ?? map.decodeIfPresent(String.self, forKey: .title)
        }

        func encode(to encoder: any Encoder) throws {
            var map = encoder.container(keyedBy: Keys.self)
            try map.encodeIfPresent(name, forKey: .name)
        }
    }

    @Test func whatWasKeptHidesNothingThatAnEarlierVersionSet() throws {
        try live(Fallback.self) { try set(Fallback(name: "eggs"), $0) }
        try live(Earlier.self) { try set(Earlier(title: "ham"), $0) }
        #expect(try stored(Fallback.self) == Fallback(name: "ham"))
    }

    @Test func whatIsClearedDoesNotComeBackUnderAFormerName() throws {
        try live(Earlier.self) { try set(Earlier(title: "ham"), $0) }
        try live(Fallback.self) { try set(Fallback(name: "eggs"), $0) }
        try live(Fallback.self) { try set(Fallback(name: nil), $0) }
        #expect(try stored(Fallback.self) == Fallback(name: nil))
    }

    @Test func upgradingAllObjectsKeepsThem() async throws {
        try live(Later.self) { try set(Self.later, $0) }
        let database = try YapDatabase(path: folder.file) {
            $0.register(Earlier.self, inCollection: "things", version: 1)
        }
        try await database.newConnection().upgradeObjects(inCollection: "things")
        try await database.close()
        #expect(try stored(Later.self) == Self.later)
    }

    @Test func whatATypeReadsInSomeObjectsOnlyIsNotKept() throws {
        try live(Shape.self) { try set(Shape(radius: 1), $0) }
        try live(Shape.self) { try set(Shape(side: 2), $0) }
        #expect(try storedBytes == CBOREncoder().encode(Shape(side: 2)))
    }

    @Test func aDictionaryKeepsNothing() throws {
        try live([String: Int].self) { try set(["a": 1], $0) }
        try live([String: Int].self) { try set(["b": 2], $0) }
        #expect(try stored([String: Int].self) == ["b": 2])
    }

    @Test func aDamagedObjectIsReplaced() throws {
        try live(Later.self) { try set(Self.later, $0) }
        try live(Later.self) {
            try $0.sqlite.execute("UPDATE database2 SET data = x'DB5961704B0000000182A1'")
        }
        let database = try YapDatabase(path: folder.file) {
            $0.register(Earlier.self, inCollection: "things")
        }
        try database.newConnection().blocking.readWrite { transaction in
            #expect(throws: YapDatabaseError.self) { try get(Earlier.self, transaction) }
            try set(Earlier(title: "ham"), transaction)
        }
        try database.blocking.close()
        #expect(try stored(Earlier.self) == Earlier(title: "ham"))
    }

    @Test func aTypeThatHasNotChangedReadsNoRowToWriteOne() throws {
        try live(Later.self) { try set(Self.later, $0) }
        try live(Later.self) {
            try set(Later(title: "ham"), $0)
            #expect($0.propertyNames.state.mayHaveUnknown == ["things": false])
        }
        try live(Earlier.self) {
            try set(Earlier(title: "ham"), $0)
            #expect($0.propertyNames.state.mayHaveUnknown == ["things": true])
        }
    }
}
