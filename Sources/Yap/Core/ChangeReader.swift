import SQLite

/// A reader of changes as stored in `yap2` under its name.
///
/// It is stored as an extension that no process registers and that can catch up. So each process that writes,
/// including processes with an earlier version of this library, logs its changes in `changes2`, or records
/// that it didn't. Changes are known within an epoch. A new epoch begins when changes were lost. Within an
/// epoch the log keeps at least its last entry, because SQLite continues the positions from it.
struct ChangeReader {
    /// Prefix of its name in the file.
    static let namePrefix = "changes/"
    private static let className = "YapDatabaseChangeReader"
    private static let epochKey = "epoch"
    private static let discardedKey = "discardedThrough"
    /// Position of a token made before the first change of an epoch.
    static let startPosition: Int64 = -1

    private let storedName: String
    private let store: StoreConnection

    init(_ name: String, _ store: StoreConnection) {
        storedName = Self.namePrefix + name
        self.store = store
    }

    /// Returns nil if the name in the file isn't that of a reader of changes.
    init?(storedName: String, _ store: StoreConnection) {
        guard storedName.hasPrefix(Self.namePrefix) else { return nil }
        self.storedName = storedName
        self.store = store
    }

    private var config: ConfigTable { store.config }
    private var stored: StoredExtension { StoredExtension(storedName, store) }

    var isRegistered: Bool {
        get throws { try config.text(extension: storedName, key: ConfigTable.classKey) == Self.className }
    }

    // MARK: Reading

    /// - Throws: `YapDatabaseError` with `changeReaderNotRegistered`.
    func checkRegistration() throws {
        guard try !isRegistered else { return }
        let name = storedName.dropFirst(Self.namePrefix.count)
        throw YapDatabaseError(
            .changeReaderNotRegistered, "no reader of changes is registered as \"\(name)\"")
    }

    /// Returns the identifier of the epoch, or nil if the changes since the last token aren't known.
    func epoch() throws -> String? {
        if try stored.missed() == .unknown { return nil }
        return try config.text(extension: storedName, key: Self.epochKey)
    }

    /// Returns the position of the last change.
    func position() throws -> Int64 {
        switch try stored.missed() {
        case .known: try store.missedChangeLog.lastPosition()
        case .none, .unknown: Self.startPosition
        }
    }

    /// Returns the position from which on the log has all changes since a position of this epoch, or nil if
    /// some are missing in the log.
    func start(since position: Int64) throws -> Int64? {
        guard try position >= discardedThrough() else { return nil }
        switch try stored.missed() {
        // Nothing was logged for this reader. The entries are older, and were logged for others.
        case .none: return position == Self.startPosition ? try store.missedChangeLog.lastPosition() : nil
        case .known(let after):
            guard try position <= store.missedChangeLog.lastPosition() else { return nil }
            return max(position, after)
        case .unknown: return nil
        }
    }

    private func discardedThrough() throws -> Int64 {
        try config.text(extension: storedName, key: Self.discardedKey).flatMap { Int64($0) }
            ?? Self.startPosition
    }

    // MARK: Writing

    /// Registers the reader, and begins its first epoch.
    func register() throws {
        try config.setText(Self.className, extension: storedName, key: ConfigTable.classKey)
        try config.setText("1", extension: storedName, key: ConfigTable.classVersionKey)
        try config.setText("1", extension: storedName, key: ConfigTable.catchesUpKey)
        try restart()
    }

    /// Begins a new epoch, because changes were lost.
    func restart() throws {
        // Random, so that no two copies of the file share an epoch.
        let epoch = try store.statement("SELECT hex(randomblob(16))") { try $0.step() ? $0.text(at: 0) : "" }
        try config.setText(epoch, extension: storedName, key: Self.epochKey)
        try config.remove(extension: storedName, key: Self.discardedKey)
        try stored.setMissed(.none)
    }

    /// Discards the changes up to a position of this epoch.
    func discard(through position: Int64) throws {
        guard try start(since: position) != nil, case .known(let after) = try stored.missed() else { return }
        try config.setText(String(position), extension: storedName, key: Self.discardedKey)
        // The note must be followed by an entry, and SQLite continues the positions from the last entry.
        let last = try store.missedChangeLog.lastPosition()
        try stored.setMissed(.known(after: max(after, min(position, last - 1))))
        try store.missedChangeLog.trim()
        store.missedChangeLog.reset()
    }

    func unregister() throws { try stored.drop() }
}

extension WriterCore {
    /// Registers a reader of changes, if it isn't registered yet.
    func registerChangeReader(_ name: String) throws {
        try alone { _ in
            let reader = ChangeReader(name, store)
            guard try !reader.isRegistered else { return }
            try reader.register()
            store.missedChangeLog.reset()
        }
    }

    /// Unregisters a reader of changes.
    func unregisterChangeReader(_ name: String) throws {
        try alone { _ in
            let reader = ChangeReader(name, store)
            try reader.checkRegistration()
            try reader.unregister()
            store.missedChangeLog.reset()
        }
    }
}
