import Dispatch
import FaultProxy
import Foundation
import Glibc
import ProcessSupport
import TodoKit

/// The main job as users run it: a service, two devices of one user and a stranger, all of them processes, and a
/// network between them that fails.
final class Demo {
    private static let user = "ada"
    private static let stranger = "eve"
    private static let recordsPerRequest = 400
    /// A push that takes longer than this has not come.
    private static let pushSecondsMax = 20

    private let narrator = Narrator()
    private let mishaps = Mishaps()
    private let arguments: DemoArguments
    private let folder: String
    private let programs: String
    private var decisions = [Decision]()

    init(_ arguments: DemoArguments, folder: String, programs: String) {
        self.arguments = arguments
        self.folder = folder
        self.programs = programs
    }

    /// Tells the whole story.
    /// - Returns: Whether all three places are equal, the stranger was refused, and each mishap happened.
    func run() async throws -> Bool {
        let file = try readList()
        let server = try await startService()
        let phone = try await signIn("phone", server)
        let laptop = try await signIn("laptop", server)
        try await phoneImports(phone, file)
        try await phoneUploads(phone, laptop, server)
        try await laptopJoins(laptop)
        let isTold = try await laptopWatches(phone, laptop)
        let items = try await phone.todos().sorted { ($0.value.order, $0.key) < ($1.value.order, $1.key) }
        let edits = DemoEdits(items.map { ($0.key, $0.value) }, today: "2026-11-20")
        try await bothEdit(edits, phone, laptop)
        for device in [phone, laptop, phone] { try await sync(device, edits) }
        let isEqual = try await compare(edits, phone, laptop, server)
        let isRefused = try await strangerAsks(server)
        let happened = evidence()
        let end = await server.stop()
        narrator.say("service", "told to end: \(Mishaps.words(end))")
        phone.proxy.stop()
        laptop.proxy.stop()
        let isRight = isEqual && isRefused && isTold && happened && end == .exit(0)
        narrator.chapter(
            isRight
                ? "All three are equal, the stranger was refused, and nothing of this lost a change."
                : "This is NOT as it should be.")
        return isRight
    }

    // MARK: The story

    private func readList() throws -> TodoFile {
        guard let data = FileManager.default.contents(atPath: arguments.path) else {
            throw DemoError.unreadable(path: arguments.path, reason: "does the file exist?")
        }
        do {
            return try TodoFile(bytes: [UInt8](data))
        } catch {
            throw DemoError.unreadable(path: arguments.path, reason: "\(error)")
        }
    }

    private func startService() async throws -> YapServer {
        narrator.chapter("1  A service, two accounts, two devices")
        let server = try await YapServer(programs: programs, folder: folder + "/server")
        for account in [Self.user, Self.stranger] { try await server.addAccount(account) }
        let port = try await server.start()
        narrator.say(
            "service", "`yap serve` listens on http://127.0.0.1:\(port), process \(server.process?.id ?? 0)")
        narrator.say(
            "",
            "`yap account create` made \(Self.user) and \(Self.stranger), `yap token create` the app's token")
        return server
    }

    private func signIn(_ name: String, _ server: YapServer) async throws -> TodoDevice {
        let device = try TodoDevice(name, programs: programs, in: folder, server: server)
        try await device.logIn(Self.user, server)
        narrator.say(
            name, "`todo --device \(name) login`: \(Self.user), through a proxy on port \(device.proxy.port)")
        return device
    }

    private func phoneImports(_ phone: TodoDevice, _ file: TodoFile) async throws {
        narrator.chapter("2  The phone imports the list, without a network")
        phone.proxy.refuseConnections()
        let todos = file.todos
        try await phone.run(["import", "--", arguments.path])
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
        try await phoneIsKilled(phone, items: todos.count)
        let waiting = try await phone.status().pending
        narrator.say(phone.name, "has no network: \(Narrator.count(waiting, "change")) in its queue")
    }

    /// Between the first write of a transaction and its COMMIT.
    private func phoneIsKilled(_ phone: TodoDevice, items: Int) async throws {
        let line = "(A) Water the plants +home"
        let program = try phone.start(["--failpoint", "kill-before-commit", "add", line])
        let end = await program.result().end
        let after = try await phone.status()
        narrator.say(phone.name, "adds “\(line)” and is killed before the COMMIT: \(Mishaps.words(end))")
        narrator.say(
            "", "started again, it has \(Narrator.count(after.items, "item")); the item is added once more")
        try await phone.add(line)
        let again = try await phone.status()
        mishaps.add(
            "The phone is killed between its first write and COMMIT",
            "process \(program.id) \(Mishaps.words(end)); then \(Narrator.count(after.items, "item")) and as many "
                + "changes, and \(Narrator.count(again.items)) when it was done again",
            happened: end == .signal(SIGKILL) && after.items == items && after.pending == items
                && again.items == items + 1 && again.pending == items + 1)
    }

    private func phoneUploads(_ phone: TodoDevice, _ laptop: TodoDevice, _ server: YapServer) async throws {
        narrator.chapter("3  The phone has the network, and the service is killed")
        try phone.proxy.acceptConnections()
        let waiting = try await phone.status().pending
        mishaps.killServer(
            server, atUpload: waiting > Self.recordsPerRequest ? 2 : 1, of: phone, [laptop])
        let before = server.process?.id ?? 0
        decide(try await phone.sync(), phone)
        try mishaps.check()
        phone.proxy.plan { _ in .pass }
        narrator.say(
            "service", "process \(before) committed an upload, and was killed before the phone had the reply")
        narrator.say("service", "process \(server.process?.id ?? 0) goes on with its files")
        let requests = phone.proxy.counts.exchanges
        narrator.say(
            phone.name,
            "sends what it has no answer for again; all sent, \(Narrator.count(requests, "request"))")
        let records = try await server.todos(of: Self.user).count
        narrator.say("service", "holds \(Narrator.count(records, "record")), says `yap record query`")
    }

    private func laptopJoins(_ laptop: TodoDevice) async throws {
        narrator.chapter("4  The laptop joins, with an empty database and a bad link")
        mishaps.cutNextPage(to: laptop)
        decide(try await laptop.sync(), laptop)
        mishaps.noteCut(laptop)
        laptop.proxy.plan { _ in .pass }
        narrator.say(laptop.name, "loses the link in the middle of a reply, and asks again")
        narrator.say(laptop.name, "has \(Narrator.count(try await laptop.todos().count, "item"))")
    }

    /// Hears of the phone's change without asking for it.
    private func laptopWatches(_ phone: TodoDevice, _ laptop: TodoDevice) async throws -> Bool {
        narrator.chapter("5  The laptop watches, and the phone adds an item")
        let watch = try laptop.start(["watch", "--json"])
        _ = await watch.line { $0.contains("everything is synced") }
        let line = "(B) Ring the plumber +home"
        let key = try await phone.add(line)
        try await phone.sync()
        narrator.say(phone.name, "adds “\(line)”, and syncs")
        let limit = DispatchTime.now() + .seconds(Self.pushSecondsMax)
        DispatchQueue.global().asyncAfter(deadline: limit) { watch.signal(SIGTERM) }
        let heard = await watch.line {
            $0.contains("\"added\"") && $0.contains("\"cloud\"") && $0.contains(key)
        }
        narrator.say(laptop.name, heard == nil ? "was NOT told of it" : "is told by push, and has it")
        watch.signal(SIGTERM)
        let end = await watch.result().end
        narrator.say("", "`todo watch` is told to end: \(Mishaps.words(end))")
        return heard != nil && end == .exit(0)
    }

    private func bothEdit(_ edits: DemoEdits, _ phone: TodoDevice, _ laptop: TodoDevice) async throws {
        narrator.chapter("6  Both lose the network, and edit")
        phone.proxy.refuseConnections()
        laptop.proxy.refuseConnections()
        for edit in edits.edits {
            narrator.say("", "“\(Narrator.cut(edit.title, to: 70))”")
            try await apply(edit.phone, to: edit.key, on: phone)
            narrator.say(phone.name, edit.phoneSays)
            try await apply(edit.laptop, to: edit.key, on: laptop)
            narrator.say(laptop.name, edit.laptopSays)
        }
        narrator.chapter("7  Both have the network again")
        try phone.proxy.acceptConnections()
        try laptop.proxy.acceptConnections()
    }

    private func apply(_ change: DemoEdits.Change, to key: String, on device: TodoDevice) async throws {
        switch change {
        case .delete: try await device.run(["delete", key])
        case .done: try await device.run(["done", key])
        case .color(let name): try await device.run(["color", key, name])
        case .edit(let edit):
            guard var todo = try await device.todos()[key] else { return }
            edit(&todo)
            try await device.run(["edit", key, "--", todo.line])
        }
    }

    private func sync(_ device: TodoDevice, _ edits: DemoEdits) async throws {
        let before = device.proxy.counts.exchanges
        let decided = decide(try await device.sync(), device)
        let requests = device.proxy.counts.exchanges - before
        narrator.say(device.name, "syncs, with \(Narrator.count(requests, "request"))")
        for decision in decided { narrator.say("", DemoTable.sentence(decision, edits)) }
    }

    @discardableResult
    private func decide(_ decided: [TodoDevice.Decision], _ device: TodoDevice) -> [Decision] {
        let new = decided.map { decision in
            Decision(
                device: device.name,
                conflict: TodoConflict(
                    key: decision.key, rule: decision.rule, field: decision.field, dropped: decision.dropped,
                    kept: decision.kept))
        }
        decisions += new
        return new
    }

    // MARK: The end

    private func compare(
        _ edits: DemoEdits, _ phone: TodoDevice, _ laptop: TodoDevice, _ server: YapServer
    ) async throws -> Bool {
        narrator.chapter("8  What each place has now; the server's column is what `yap record query` says")
        let places = [
            try await phone.todos(), try await laptop.todos(), try await server.todos(of: Self.user),
        ]
        let comparison = TodoComparison(places)
        let differences = comparison.differences
        narrator.table(
            [["", "phone", "laptop", "server"], ["items"] + places.map { Narrator.count($0.count) }])
        let equalCount = comparison.rows.count - differences.count
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
        return differences.isEmpty && !comparison.rows.isEmpty
    }

    private func strangerAsks(_ server: YapServer) async throws -> Bool {
        narrator.chapter("9  Another user asks for the zone by its name and its owner's")
        let answer = try await Stranger(account: Self.stranger, server: server, folder: folder)
            .asksForTodos(of: Self.user)
        narrator.say(Self.stranger, answer.says)
        return answer.isRefused
    }

    private func evidence() -> Bool {
        narrator.chapter("10  What went wrong on the way, and what shows that it did")
        let rows = mishaps.evidence.map { [$0.happened ? "yes" : "NO", $0.what, $0.proof] }
        narrator.table([["", "what", "shown by"]] + rows, columnsMax: 110)
        return mishaps.evidence.count == 3 && mishaps.evidence.allSatisfy(\.happened)
    }
}
