import CloudKit
import CloudKitTesting
import CloudStore
import Foundation
import Seams
import TodoKit
import YapCloudKit

/// The main job in one process: a cloud on a SQLite file, two devices of one user, a device of another.
final class Demo {
    static let user = "ada"
    static let stranger = "eve"

    private let narrator = Narrator()
    private let arguments: DemoArguments
    private let folder: URL
    private let cloud: TestCloud
    /// Kept until the end: a database that closes removes files, and must not do so while the folder is removed.
    private var devices = [Device]()
    private var decisions = [Decision]()

    init(_ arguments: DemoArguments, folder: URL) throws {
        self.arguments = arguments
        self.folder = folder
        cloud = try TestCloud(sqlitePath: folder.appending(path: "cloud.sqlite").path, execution: .threads)
    }

    /// Tells the whole story.
    /// - Returns: Whether all three places are equal and the stranger was refused.
    func run() async throws -> Bool {
        let file = try readList()
        let (phone, items) = try await phoneImports(file)
        let laptop = try await laptopJoins()
        let edits = DemoEdits(items, today: "2026-11-20")
        try await bothEdit(edits, phone, laptop)
        for device in [phone, laptop, phone] { try await sync(device, edits) }
        let isEqual = try await compare(edits, phone, laptop)
        let isRefused = await strangerAsks()
        narrator.chapter(
            isEqual && isRefused
                ? "All three are equal, and the stranger was refused." : "This is NOT as it should be.")
        return isEqual && isRefused
    }

    // MARK: The story

    private func readList() throws -> TodoFile {
        do {
            return try TodoFile(bytes: [UInt8](Data(contentsOf: URL(filePath: arguments.path))))
        } catch let error as TodoFileError {
            throw DemoError.unreadable(path: arguments.path, reason: "\(error)")
        } catch {
            throw DemoError.unreadable(path: arguments.path, reason: "is there such a file?")
        }
    }

    private func phoneImports(_ file: TodoFile) async throws -> (Device, [(key: String, todo: Todo)]) {
        narrator.chapter("1  The phone imports the list, without a network")
        let todos = file.todos
        let phone = try await Device("phone", user: Self.user, in: folder, cloud, isOnline: false)
        devices.append(phone)
        narrator.say(
            phone.name,
            "reads \(arguments.path): \(Narrator.count(todos.count, "item")), "
                + "\(Narrator.count(todos.count(where: \.isDone))) done, "
                + Narrator.count(Set(todos.flatMap(\.projects)).count, "project"))
        if todos.count < DemoEdits.itemsNeeded {
            narrator.say(
                "",
                "The story edits \(DemoEdits.itemsNeeded) items; of a list this short it tells what it can.")
        }
        let items = file.keyedTodos(random: SystemRandomSource())
        try await phone.list.add(items)
        let waiting = try await phone.list.pendingChangesCount()
        narrator.say(phone.name, "has no network: \(Narrator.count(waiting, "change")) in its queue")
        let before = cloud.requestCount(.modifyRecords)
        decisions += try await phone.goOnline()
        let requests = cloud.requestCount(.modifyRecords) - before
        narrator.say(phone.name, "has the network: all sent, in \(Narrator.count(requests, "request"))")
        narrator.say("cloud", "holds \(Narrator.count(try serverTodos().count, "record")) on its disk")
        return (phone, items)
    }

    private func laptopJoins() async throws -> Device {
        narrator.chapter("2  The laptop joins, with an empty database")
        let laptop = try await Device("laptop", user: Self.user, in: folder, cloud, isOnline: true)
        devices.append(laptop)
        decisions += try await laptop.goOnline()
        let count = try await laptop.list.todos().count
        narrator.say(laptop.name, "has \(Narrator.count(count, "item"))")
        return laptop
    }

    private func bothEdit(_ edits: DemoEdits, _ phone: Device, _ laptop: Device) async throws {
        narrator.chapter("3  Both lose the network, and edit")
        phone.goOffline()
        laptop.goOffline()
        for edit in edits.edits {
            narrator.say("", "“\(Narrator.cut(edit.title, to: 70))”")
            try await apply(edit.phone, to: edit.key, on: phone)
            narrator.say(phone.name, edit.phoneSays)
            try await apply(edit.laptop, to: edit.key, on: laptop)
            narrator.say(laptop.name, edit.laptopSays)
        }
        if edits.edits.isEmpty { narrator.say("", "There is no item to edit.") }
        narrator.chapter("4  Both have the network again")
    }

    private func apply(_ change: DemoEdits.Change, to key: String, on device: Device) async throws {
        switch change {
        case .remove: try await device.list.remove(key)
        case .change(let edit): try await device.list.change(key, edit)
        }
    }

    private func sync(_ device: Device, _ edits: DemoEdits) async throws {
        let before = cloud.requestCount()
        let decided = try await device.goOnline()
        let requests = cloud.requestCount() - before
        narrator.say(device.name, "syncs, with \(Narrator.count(requests, "request"))")
        for decision in decided { narrator.say("", DemoTable.sentence(decision, edits)) }
        decisions += decided
    }

    private func strangerAsks() async -> Bool {
        narrator.chapter("6  Another user asks for the zone by its name and its owner's")
        let database = cloud.device(user: Self.stranger).container.sharedCloudDatabase
        let zoneID = CKRecordZone.ID(zoneName: TodoList.collection, ownerName: "_\(Self.user)")
        do {
            let zone = try await database.recordZone(for: zoneID)
            narrator.say(Self.stranger, "was given \(zone): that must not be")
            return false
        } catch let error as CKError where [.zoneNotFound, .permissionFailure].contains(error.code) {
            narrator.say(
                Self.stranger,
                "is refused: CKError \(error.code) (\(error.code.rawValue)), “\(error.localizedDescription)”")
            return true
        } catch {
            narrator.say(Self.stranger, "gets an error that is no refusal: \(error)")
            return false
        }
    }

    // MARK: The end

    /// Read from the service's store, past the service and the devices.
    private func serverTodos() throws -> [String: Todo] {
        let database = DatabaseKey.privateDatabase(of: "_\(Self.user)")
        return try ServerColumn(
            store: cloud.store, zone: ZoneKey(database: database, zoneName: TodoList.collection)
        ).todos()
    }

    private func compare(_ edits: DemoEdits, _ phone: Device, _ laptop: Device) async throws -> Bool {
        narrator.chapter("5  What each place has now")
        let places = [try await phone.list.todos(), try await laptop.list.todos(), try serverTodos()]
        let comparison = TodoComparison(places)
        let differences = comparison.differences
        let equalCount = comparison.rows.count - differences.count
        narrator.table(
            [["", "phone", "laptop", "server"], ["items"] + places.map { Narrator.count($0.count) }])
        narrator.say(
            "\(Narrator.count(equalCount)) of \(Narrator.count(comparison.rows.count, "item")) equal in all three, "
                + "compared field by field.")
        if !edits.edits.isEmpty {
            narrator.table(DemoTable.edited(edits, comparison, decisions))
            for edit in edits.edits { narrator.say("now", places[2][edit.key]?.line ?? "(deleted)") }
        }
        let listed =
            arguments.listsAll ? comparison.rows : Array(differences.prefix(DemoTable.differencesMax))
        if !listed.isEmpty {
            narrator.table([["phone", "laptop", "server", ""]] + DemoTable.items(listed))
        }
        return differences.isEmpty
    }
}
