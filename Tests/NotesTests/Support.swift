import CloudKit
import CloudKitTesting
import Foundation
import NotesKit
import Testing

/// The machine, as a test turns it: a clock and timers that stand still.
final class Machine: @unchecked Sendable {
    private struct Timer {
        var due: Date
        var body: @Sendable () async -> Void
    }

    private let lock = NSLock()
    private var time = Date(timeIntervalSince1970: 1_750_000_000)
    private var timers: [Int: Timer] = [:]
    private var lastTimer = 0
    private var files: [URL] = []
    let center = NotificationCenter()

    var now: Date { lock.withLock { time } }
    /// Seconds until each timer runs out.
    var waits: [Double] { lock.withLock { timers.values.map { $0.due.timeIntervalSince(time) }.sorted() } }
    /// The files that were sent and still lie there.
    var leftFiles: [URL] {
        lock.withLock { files }.filter { FileManager.default.fileExists(atPath: $0.path) }
    }
    var fileCount: Int { lock.withLock { files.count } }

    var surroundings: Surroundings {
        Surroundings(
            now: { self.now }, after: { self.add($0, $1) },
            temporaryFile: {
                let file = FileManager.default.temporaryDirectory.appendingPathComponent("notes-\(UUID())")
                self.lock.withLock { self.files.append(file) }
                return file
            }, notificationCenter: center)
    }

    private func add(_ seconds: Double, _ body: @escaping @Sendable () async -> Void) -> Surroundings.Cancel {
        let number = lock.withLock {
            lastTimer += 1
            timers[lastTimer] = Timer(due: time.addingTimeInterval(seconds), body: body)
            return lastTimer
        }
        return { self.lock.withLock { _ = self.timers.removeValue(forKey: number) } }
    }

    /// Lets time pass, and runs what is due to its end.
    func pass(_ seconds: Double) async {
        let end = now.addingTimeInterval(seconds)
        while let body = takeDue(end) { await body() }
        lock.withLock { time = end }
    }

    private func takeDue(_ end: Date) -> (@Sendable () async -> Void)? {
        lock.withLock {
            guard let next = timers.min(by: { ($0.value.due, $0.key) < ($1.value.due, $1.key) }),
                next.value.due <= end
            else { return nil }
            timers[next.key] = nil
            time = max(time, next.value.due)
            return next.value.body
        }
    }
}

/// The part of a screen that most tests look at.
struct Seen: Equatable {
    var text: String
    var sync: NoteScreen.Sync

    init(_ text: String, _ sync: NoteScreen.Sync = .synced) {
        self.text = text
        self.sync = sync
    }
}

/// A device with the app on it; its folder goes with it.
final class AppOnDevice: Sendable {
    let device: TestDevice
    let machine: Machine
    let folder: URL
    let book: NoteBook

    init(_ device: TestDevice, _ machine: Machine = Machine(), folder: URL? = nil) throws {
        self.device = device
        self.machine = machine
        let folder =
            folder ?? FileManager.default.temporaryDirectory.appendingPathComponent("notes-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        self.folder = folder
        book = try NoteBook(
            container: device.container, shelf: NoteShelf(folder: folder), surroundings: machine.surroundings)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    var screen: NoteScreen { get async { await book.shown } }
    var seen: Seen {
        get async {
            let screen = await book.shown
            return Seen(screen.text, screen.sync)
        }
    }
    var text: String { get async { await book.shown.text } }

    /// Types `text`, and waits until the app has sent it.
    func write(_ text: String) async throws {
        try await book.edit(text)
        await machine.pass(NoteBook.mergeSeconds)
    }

    /// The first screen of which `isMeant` says so, from now on.
    func screen(where isMeant: (NoteScreen) -> Bool) async -> NoteScreen? {
        for await screen in await book.screens() where isMeant(screen) { return screen }
        return nil
    }
}

/// A cloud and two devices of one user, which have synced once.
struct TwoApps {
    let cloud: TestCloud
    let phone: AppOnDevice
    let laptop: AppOnDevice

    init(_ cloud: TestCloud = TestCloud()) async throws {
        self.cloud = cloud
        phone = try AppOnDevice(cloud.device(user: "ada"))
        laptop = try AppOnDevice(cloud.device(user: "ada"))
        await phone.book.start()
        await laptop.book.start()
    }

    func record() async throws -> CKRecord {
        try await cloud.device(user: "ada").container.privateCloudDatabase.record(for: Note.recordID)
    }

    /// Lets a third device change the record between the next fetch of a device and its save.
    func beforeTheNextSave(_ body: @escaping @Sendable (CKRecord) throws -> Void) {
        let database = cloud.device(user: "ada").container.privateCloudDatabase
        cloud.during(.modifyRecords) {
            // Operations run inline: they are done when these calls return.
            database.fetch(withRecordID: Note.recordID) { record, _ in
                guard let record, (try? body(record)) != nil else { return }
                database.save(record) { _, error in #expect(error == nil) }
            }
        }
    }

    /// Changes the record behind the devices' backs.
    func change(_ body: (CKRecord) -> Void) async throws {
        let record = try await record()
        body(record)
        try await cloud.device(user: "ada").container.privateCloudDatabase.save(record)
    }
}
