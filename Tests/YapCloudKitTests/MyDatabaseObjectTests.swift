import CloudKit
import Foundation
import SQLiteTestSupport
import System
import Testing
import Yap
import YapCloudKit

/// `MyDatabaseObject`: what changed, what it was, and what may be changed at all.
@Suite struct MyDatabaseObjectTests {
    /// A class between, as an app has one for all its objects.
    class Named: MyDatabaseObject, @unchecked Sendable {
        @Monitored var name = "nobody"
        /// Not monitored: a cache.
        var letters = 0
    }

    final class Person: Named, @unchecked Sendable {
        @Monitored var age = 1
        @Monitored var nick: String? = "n"
        @Monitored var tags: [String] = []
    }

    /// As a later version of the app has it.
    final class LaterPerson: Named, @unchecked Sendable {
        @Monitored var age = 1
        @Monitored var city = "Kyiv"
    }

    @Test func aChangeIsKnownByNameAndByWhatItWas() {
        let person = Person()
        #expect(person.changedProperties == [])
        #expect(!person.hasChangedCloudProperties)
        person.name = "Ada"
        person.age = 2
        person.age = 3
        person.tags.append("x")
        #expect(person.changedProperties == ["name", "age", "tags"])
        #expect(person.changedCloudProperties == ["name", "age", "tags"])
        #expect(person.originalCloudValues["name"] as? String == "nobody")
        #expect(person.originalCloudValues["age"] as? Int == 1)
        person.clearChangedProperties()
        #expect(person.changedProperties == [] && person.originalCloudValues.isEmpty)
        #expect(person.name == "Ada" && person.age == 3 && person.tags == ["x"])
    }

    @Test func anEqualValueIsNoChangeAndNeitherIsTheWayBack() {
        let person = Person()
        person.name = "nobody"
        person.nick = "n"
        #expect(person.changedProperties == [])
        person.name = "Ada"
        person.nick = nil
        #expect(person.changedProperties == ["name", "nick"])
        person.name = "nobody"
        person.nick = "n"
        #expect(person.changedProperties == [])
        #expect(person.originalCloudValues.isEmpty)
    }

    @Test func anotherNormalFormOfAnEqualTextIsAChange() throws {
        let person = Person()
        person.name = "caf\u{e9}"
        person.tags = ["caf\u{e9}"]
        person.clearChangedProperties()
        person.name = "cafe\u{301}"
        person.tags = ["cafe\u{301}"]
        #expect(person.name.utf8.count == 6 && person.tags.first?.utf8.count == 6)
        #expect(person.changedProperties == ["name", "tags"])
        person.name = "caf\u{e9}"
        person.tags = ["caf\u{e9}"]
        #expect(person.changedProperties == [])
    }

    @Test func anAbsentValueIsDistinguishedFromAnUnknownOne() throws {
        let todo = MyTodo()
        todo.note = "six"
        todo.title = "eggs"
        let originals = todo.originalCloudValues
        #expect(originals.keys.sorted() == ["note", "title"])
        let note = try #require(originals["note"])
        #expect(note == nil)
        #expect(originals["title"] as? String == "")
        // Not changed: not known.
        #expect(originals["priority"] == nil)
    }

    @Test func aCopyCanBeChangedAndKeepsWhatIsKnownOfChanges() {
        let todo = MyTodo(uuid: "1", title: "eggs")
        todo.clearChangedProperties()
        todo.title = "bread"
        todo.makeImmutable()
        let copy = todo.copy()
        #expect(todo.isImmutable && !copy.isImmutable)
        #expect(copy.title == "bread" && copy.uuid == "1")
        #expect(copy.changedProperties == ["title"])
        copy.isCompleted = true
        #expect(copy.changedCloudProperties == ["title", "completed"])
        #expect(copy.originalCloudValues["title"] as? String == "eggs")
        #expect(!todo.isCompleted)
        #expect(todo.changedProperties == ["title"])
        copy.title = "eggs"
        #expect(copy.changedProperties == ["isCompleted"])
    }

    @Test func aWriteToAnImmutableObjectEndsTheProgram() async {
        await #expect(processExitsWith: .failure) {
            let todo = MyTodo(uuid: "1", title: "eggs")
            todo.makeImmutable()
            todo.title = "bread"
        }
        await #expect(processExitsWith: .failure) {
            let todo = MyTodo(uuid: "1", title: "eggs")
            todo.makeImmutable()
            todo.setLocalValue(fromCloudValue: "bread", forCloudKey: "title")
        }
        await #expect(processExitsWith: .success) {
            let todo = MyTodo(uuid: "1", title: "eggs")
            todo.makeImmutable()
            todo.copy().title = "bread"
            let cached = Named()
            cached.makeImmutable()
            cached.letters = 3
        }
    }

    @Test func aMappingOfWhatIsNoPropertyEndsTheProgram() async {
        await #expect(processExitsWith: .failure) {
            final class Misspelt: MyDatabaseObject, @unchecked Sendable {
                @Monitored var isCompleted = false
                override class var mappings_localKeyToCloudKey: [String: String] {
                    ["isCompeted": "completed"]
                }
            }
            _ = Misspelt().allCloudProperties
        }
    }

    @Test func aFieldWithANameThatNoFieldCanHaveEndsTheProgramAsInAModel() async {
        await #expect(processExitsWith: .failure) {
            final class Dated: MyDatabaseObject, @unchecked Sendable {
                @Monitored var title = ""
                @Monitored var creationDate = 0.0
            }
            _ = CloudSyncModel.model(Dated.self, recordType: "dated", collection: "dated")
        }
        await #expect(processExitsWith: .failure) {
            final class Sized: MyDatabaseObject, @unchecked Sendable {
                @Monitored var size = 0
                override class var mappings_localKeyToCloudKey: [String: String] { ["size": "größe"] }
            }
            _ = CloudSyncModel.model(Sized.self, recordType: "sized", collection: "sized")
        }
        await #expect(processExitsWith: .success) {
            final class Local: MyDatabaseObject, @unchecked Sendable {
                @Monitored var größe = 0
                @Monitored var creationDate = 0.0
                override class var mappings_localKeyToCloudKey: [String: String] {
                    ["größe": "size", "creationDate": "created"]
                }
            }
            _ = CloudSyncModel.model(Local.self, recordType: "local", collection: "local")
            // What stays on the device may have any name.
            final class Kept: MyDatabaseObject, @unchecked Sendable {
                @Monitored var creationDate = 0.0
            }
            let kept = Kept()
            kept.creationDate = 1
            _ = kept.copy().changedProperties
        }
    }

    @Test func aRenamedPropertyIsWarnedOfAndIsWhatTheUpgradeMakesOfIt() throws {
        final class Before: MyDatabaseObject, @unchecked Sendable {
            @Monitored var done = false
        }
        final class After: MyDatabaseObject, @unchecked Sendable {
            @Monitored var isDone = false
        }
        let folder = try TemporaryFolder()
        let path = folder.file("objects.yap")
        let before = try YapDatabase(path: path) { $0.register(Before.self, inCollection: "todos") }
        try before.newConnection().blocking.readWrite { transaction in
            let todo = Before()
            todo.done = true
            try transaction.setObject(todo, forKey: "1", inCollection: "todos")
        }
        try before.blocking.close()
        let forgotten = try YapDatabase(path: path) { $0.register(After.self, inCollection: "todos") }
        #expect(forgotten.modelWarnings.map(\.property) == ["isDone"])
        try forgotten.blocking.close()
        let after = try YapDatabase(path: path) {
            $0.register(After.self, inCollection: "todos", version: 2) { old in
                old.rename("done", to: "isDone")
            }
        }
        #expect(after.modelWarnings.isEmpty)
        let found = try after.newConnection().blocking.read {
            try $0.object(After.self, forKey: "1", inCollection: "todos")
        }
        #expect(found?.isDone == true)
        #expect(found?.isImmutable == true)
        try after.blocking.close()
    }

    @Test func aPropertyThatARecordCannotHoldEndsTheProgramWithoutAConversion() async {
        await #expect(processExitsWith: .failure) {
            final class Coloured: MyDatabaseObject, @unchecked Sendable {
                @Monitored var color: MyColor?
            }
            _ = Coloured().cloudValue(forCloudKey: "color")
        }
    }

    @Test func mappingsSayWhatIsSyncedAndUnderWhichName() {
        #expect(MyUser().allCloudProperties == ["name"])
        #expect(
            MyTodo().allCloudProperties == ["title", "priority", "completed", "created", "note", "color"])
        let user = MyUser()
        user.pushToken = "p"
        #expect(user.changedProperties == ["pushToken"])
        #expect(!user.hasChangedCloudProperties)
        #expect(user.originalCloudValues.isEmpty)
        let todo = MyTodo()
        todo.isCompleted = true
        #expect(todo.changedCloudProperties == ["completed"])
        #expect(todo.cloudValue(forCloudKey: "completed") as? Bool == true)
        #expect(todo.cloudValue(forCloudKey: "isCompleted") == nil)
        todo.setLocalValue(fromCloudValue: false, forCloudKey: "completed")
        #expect(!todo.isCompleted)
    }

    @Test func aPropertyOfAnotherTypeIsConvertedBothWaysAlsoWhatItWas() throws {
        let todo = MyTodo()
        todo.color = MyColor(red: 1, green: 2, blue: 3)
        #expect(todo.cloudValue(forCloudKey: "color") as? String == "1,2,3,255")
        #expect(try #require(todo.originalCloudValues["color"]) == nil)
        todo.clearChangedProperties()
        todo.setLocalValue(fromCloudValue: "9,8,7,6", forCloudKey: "color")
        #expect(todo.color == MyColor(red: 9, green: 8, blue: 7, alpha: 6))
        #expect(todo.originalCloudValues["color"] as? String == "1,2,3,255")
        todo.setLocalValue(fromCloudValue: nil, forCloudKey: "color")
        #expect(todo.color == nil)
    }

    @Test func aCloudValueOfAnotherTypeIsIgnoredAndNoValueIsTheDefault() {
        let person = Person()
        person.age = 7
        person.nick = "m"
        person.setLocalValue(fromCloudValue: "old", forCloudKey: "age")
        #expect(person.age == 7)
        person.setLocalValue(fromCloudValue: 8, forCloudKey: "years")
        person.setLocalValue(fromCloudValue: nil, forCloudKey: "age")
        #expect(person.age == 1)
        person.setLocalValue(fromCloudValue: nil, forCloudKey: "nick")
        #expect(person.nick == nil)
        person.setLocalValue(fromCloudValue: ["a", "b"], forCloudKey: "tags")
        #expect(person.tags == ["a", "b"])
    }

    @Test func whatWasStoredComesBackWithoutChanges() throws {
        let person = Person()
        person.name = "Ada"
        person.nick = nil
        person.tags = ["x"]
        let data = try JSONEncoder().encode(person)
        let stored = try JSONDecoder().decode(Person.self, from: data)
        #expect(stored.name == "Ada" && stored.nick == nil && stored.tags == ["x"] && stored.age == 1)
        #expect(stored.changedProperties == [])
        // A later version of the app keeps the default of what it has more.
        let later = try JSONDecoder().decode(LaterPerson.self, from: data)
        #expect(later.name == "Ada" && later.city == "Kyiv")
    }

    @Test func whatIsStoredIsImmutableAndItsChangesAreForgotten() throws {
        let path = NSTemporaryDirectory() + "yap-objects-" + UUID().uuidString + ".db"
        defer {
            for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
        }
        let database = try YapDatabase(path: path) { $0.register(MyTodo.self, inCollection: "todos") }
        let todo = MyTodo(uuid: "1", title: "eggs")
        try database.newConnection().blocking.readWrite {
            try $0.setObject(todo, forKey: "1", inCollection: "todos")
        }
        #expect(todo.isImmutable && todo.changedProperties == [])
        try database.blocking.close()
        let again = try YapDatabase(path: path) { $0.register(MyTodo.self, inCollection: "todos") }
        let stored = try again.newConnection().blocking.read {
            try $0.object(MyTodo.self, forKey: "1", inCollection: "todos")
        }
        #expect(stored?.isImmutable == true && stored?.title == "eggs" && stored?.changedProperties == [])
        try again.blocking.close()
    }

    @Test func readersOnManyThreadsSeeWholeValues() {
        let person = Person()
        let group = DispatchGroup()
        let torn = Lock(0)
        for number in 0..<4 {
            let thread = Thread {
                for round in 0..<2_000 {
                    if number == 0 { person.name = String(repeating: "ab", count: 10 + round % 30) }
                    if person.name.count % 2 != 0 { torn.withLock { $0 += 1 } }
                    _ = person.changedProperties
                    _ = person.copy().age
                }
                group.leave()
            }
            group.enter()
            thread.start()
        }
        group.wait()
        #expect(torn.withLock { $0 } == 0)
    }
}
