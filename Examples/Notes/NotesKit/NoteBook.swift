public import CloudKit
import Foundation

/// The note on this device: shown and edited at once, with or without a network, and synced with the cloud.
public actor NoteBook {
    /// Seconds in which edits are merged into one save.
    public static let mergeSeconds = 2.0
    /// Seconds after which the cloud is tried again.
    public static let retrySeconds = 30.0
    /// Maximum saves of one sync while other devices are faster.
    static let triesMax = 5

    private let cloud: NoteCloud
    private let shelf: NoteShelf
    private let surroundings: Surroundings
    private var local: LocalNote
    private var screen = NoteScreen()
    private var watchers: [Int: AsyncStream<NoteScreen>.Continuation] = [:]
    private var watcherCount = 0
    private var mergeTimer: Surroundings.Cancel?
    private var retryTimer: Surroundings.Cancel?
    /// Time until which the server asked for no requests.
    private var quietUntil: Date?
    private var running: Task<Void, Never>?
    private var isAskedAgain = false
    private var knowsAccount = false
    private var observer: Observer?

    /// Opens the offline copy.
    /// - Throws: What reading it throws.
    public init(container: CKContainer, shelf: NoteShelf, surroundings: Surroundings = .system) throws {
        cloud = NoteCloud(container: container)
        self.shelf = shelf
        self.surroundings = surroundings
        local = try shelf.load()
        screen.text = local.text
        screen.modified = local.modified
        screen.sync = local.isUnsent ? .unsent : .synced
    }

    /// Syncs now, and after each sign-in and sign-out. Ends with the book.
    public func start() async {
        if observer == nil {
            observer = Observer(surroundings.notificationCenter) { [weak self] in
                Task { await self?.accountChanged() }
            }
        }
        await sync()
    }

    // MARK: The screen

    /// What the user sees now.
    public var shown: NoteScreen { screen }

    /// What the user sees, now and after each change.
    public func screens() -> AsyncStream<NoteScreen> {
        let (stream, continuation) = AsyncStream.makeStream(of: NoteScreen.self)
        watcherCount += 1
        let number = watcherCount
        watchers[number] = continuation
        continuation.onTermination = { [weak self] _ in Task { await self?.forget(number) } }
        continuation.yield(screen)
        return stream
    }

    private func forget(_ watcher: Int) { watchers[watcher] = nil }

    private func show(_ change: (inout NoteScreen) -> Void) {
        let old = screen
        screen.text = local.text
        screen.modified = local.modified
        change(&screen)
        guard screen != old else { return }
        for watcher in watchers.values { watcher.yield(screen) }
    }

    // MARK: Edits

    /// Stores the user's input. It is on the disk when this returns, and is sent together with the input of the next
    /// seconds.
    /// - Throws: The error of writing the offline copy; nothing was changed then.
    public func edit(_ text: String) throws {
        guard text != local.text || local.modified == nil else { return }
        var new = local
        new.text = text
        // An edit of a text is later than that text, whatever this device's clock says.
        new.modified = max(
            surroundings.now(), local.modified?.addingTimeInterval(0.001) ?? .distantPast)
        new.isUnsent = true
        try keep(new)
        show { if $0.sync == .synced { $0.sync = .unsent } }
        guard mergeTimer == nil else { return }
        mergeTimer = surroundings.after(Self.mergeSeconds) { [weak self] in await self?.mergeTimeIsOver() }
    }

    private func mergeTimeIsOver() async {
        mergeTimer = nil
        await sync()
    }

    private func keep(_ note: LocalNote) throws {
        guard note != local else { return }
        try shelf.save(note)
        local = note
    }

    // MARK: What happens outside

    /// Handles a push from the app's delegate or the stream of notifications.
    public func receive(_ notification: CKNotification) async {
        guard notification.subscriptionID == NoteCloud.subscriptionID else { return }
        await sync()
    }

    /// Handles a sign-in or a sign-out.
    public func accountChanged() async {
        knowsAccount = false
        quietUntil = nil
        await sync()
    }

    // MARK: Sync

    /// Fetches and sends, and returns when nothing is left to do or it has to wait. A call during a sync waits for
    /// one more round.
    public func sync() async {
        if let running {
            isAskedAgain = true
            return await running.value
        }
        let task = Task {
            repeat {
                isAskedAgain = false
                await syncOnce()
            } while isAskedAgain
            running = nil
        }
        running = task
        await task.value
    }

    private func syncOnce() async {
        if let quietUntil, surroundings.now() < quietUntil { return }
        (quietUntil, mergeTimer) = (nil, cancelled(mergeTimer))
        retryTimer = cancelled(retryTimer)
        show { $0.sync = .syncing }
        do {
            guard try await checkAccount() else {
                return show { $0.sync = local.isUnsent ? .unsent : .synced }
            }
            guard local.isUnsent || !local.isDeletedByUser else { throw NoteProblem.deletedByUser }
            try await fetch()
            try await send()
            show {
                $0.availability = .available; $0.sync = local.isUnsent ? .unsent : .synced
            }
        } catch {
            tell(error)
        }
    }

    private func cancelled(_ timer: Surroundings.Cancel?) -> Surroundings.Cancel? {
        timer?()
        return nil
    }

    /// Returns true if a user is signed in, and loads that user's copy.
    private func checkAccount() async throws -> Bool {
        guard !knowsAccount else { return true }
        switch try await cloud.container.accountStatus() {
        case .available: break
        case .noAccount:
            show { $0.availability = .noAccount }
            return false
        default:
            show { $0.availability = .restricted }
            return false
        }
        let user = try await cloud.container.userRecordID().recordName
        if local.owner == nil {
            var new = local
            new.owner = user
            try keep(new)
        } else if local.owner != user {
            local = try shelf.swap(local, for: user)
        }
        knowsAccount = true
        show { $0.availability = .available }
        return true
    }

    private func fetch() async throws {
        if !local.isPrepared { try await prepare() }
        do {
            try take(await cloud.changes(since: local.token))
        } catch let error as CKError where error.code == .changeTokenExpired {
            try take(await cloud.changes(since: nil))
        } catch let error as CKError where error.isAboutZone {
            try zoneIsGone(error)
            try await prepare()
        }
    }

    private func prepare() async throws {
        try await cloud.prepare()
        var new = local
        (new.isPrepared, new.isDeletedByUser) = (true, false)
        try keep(new)
    }

    /// Handles a deleted zone: the note is sent again, unless the user deleted it.
    private func zoneIsGone(_ error: CKError) throws {
        var new = local
        new.forgetCloud()
        if error.code == .userDeletedZone {
            new.isDeletedByUser = !local.isUnsent
        } else {
            new.isUnsent = local.modified != nil
        }
        try keep(new)
        if new.isDeletedByUser { throw NoteProblem.deletedByUser }
    }

    private func take(_ changes: NoteCloud.Changes) throws {
        var new = local
        switch changes.change {
        case .record(let record): try Self.merge(record, into: &new)
        case .deletion:
            new.know(nil)
            // An edit that no other device has seen survives the deletion.
            if !local.isUnsent { (new.text, new.modified) = ("", nil) }
        case nil: break
        }
        // Not before the record could be read: an updated app finds it again.
        new.token = changes.token
        try keep(new)
        show { _ in }
    }

    /// Keeps the note that was changed later.
    private static func merge(_ record: CKRecord, into local: inout LocalNote) throws {
        if record.recordChangeTag == local.known()?.recordChangeTag { return }
        let theirs = try Note(record)
        local.know(record)
        if let ours = local.note, local.isUnsent, ours.modified > theirs.modified { return }
        local.take(theirs)
    }

    private func send() async throws {
        for _ in 0..<Self.triesMax {
            guard let note = local.note, local.isUnsent else { return }
            let (record, file) = (local.record(), surroundings.temporaryFile())
            defer { try? FileManager.default.removeItem(at: file) }
            try note.write(into: record, file: file)
            do {
                let saved = try await cloud.save(record)
                var new = local
                new.know(saved)
                // More may have been typed meanwhile.
                new.isUnsent = new.note != note
                try keep(new)
            } catch let error as CKError where error.code == .serverRecordChanged {
                try await settle(error)
            } catch let error as CKError where error.code == .unknownItem {
                var new = local
                new.know(nil)
                try keep(new)
            } catch let error as CKError where error.isAboutZone {
                try zoneIsGone(error)
                try await prepare()
            }
        }
        if local.isUnsent { throw NoteProblem.tooManyConflicts }
    }

    /// Another device was faster.
    private func settle(_ conflict: CKError) async throws {
        guard let theirs = conflict.serverRecord else { throw conflict }
        try Note.check(theirs)
        var new = local
        if let ours = local.modified, ours > (theirs["modified"] ?? .distantPast) {
            // The next try saves over the version that the server has.
            new.know(theirs)
            try keep(new)
        } else {
            // The server's copy comes without its file.
            let record = try await cloud.fetch()
            new = local
            try Self.merge(record, into: &new)
            try keep(new)
            show { _ in }
        }
    }

    // MARK: What went wrong

    private func tell(_ error: any Error) {
        guard let error = error as? CKError else {
            let problem = error as? NoteProblem
            return show {
                $0.sync =
                    problem == .newerVersionAvailable ? .newerVersionAvailable : .failed(Self.words(error))
            }
        }
        switch error.code {
        case .networkUnavailable, .networkFailure, .serverResponseLost:
            show { $0.availability = .offline }
            retry(after: Self.retrySeconds)
        case .notAuthenticated:
            knowsAccount = false
            show {
                $0.availability = .noAccount; $0.sync = local.isUnsent ? .unsent : .synced
            }
        case .serviceUnavailable, .requestRateLimited, .zoneBusy, .accountTemporarilyUnavailable:
            let seconds = error.retryAfterSeconds ?? Self.retrySeconds
            quietUntil = surroundings.now().addingTimeInterval(seconds)
            retry(after: seconds)
        default:
            show { $0.sync = .failed(error.localizedDescription) }
        }
    }

    private func retry(after seconds: Double) {
        show { $0.sync = .waiting(seconds: seconds) }
        retryTimer = surroundings.after(seconds) { [weak self] in await self?.retryTimeIsOver() }
    }

    private func retryTimeIsOver() async {
        retryTimer = nil
        await sync()
    }

    private static func words(_ error: any Error) -> String {
        switch error as? NoteProblem {
        case .unreadable: "what is in the cloud is no note of this app"
        case .deletedByUser: "you deleted the note from the cloud; write something to send it again"
        case .tooManyConflicts: "other devices write at the same time"
        case .newerVersionAvailable, nil: error.localizedDescription
        }
    }
}

extension CKError {
    fileprivate var isAboutZone: Bool { code == .zoneNotFound || code == .userDeletedZone }
}

/// Hears of the account as long as it lives.
private final class Observer: @unchecked Sendable {
    // Constants only; the centre locks for itself.

    private let center: NotificationCenter
    private let token: any NSObjectProtocol

    init(_ center: NotificationCenter, _ body: @escaping @Sendable () -> Void) {
        self.center = center
        token = center.addObserver(forName: .CKAccountChanged, object: nil, queue: nil) { _ in body() }
    }

    deinit { center.removeObserver(token) }
}
