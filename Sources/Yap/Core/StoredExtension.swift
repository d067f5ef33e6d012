import SQLite

/// What the file keeps about an extension, in `yap2`.
struct StoredExtension {
    private let name: String
    private let store: StoreConnection

    /// Whether class and versions are those of `instance`.
    func isOf(_ instance: any YapDatabaseExtension) throws -> Bool {
        let (type, config) = (type(of: instance), store.config)
        return try config.text(extension: name, key: ConfigTable.classKey) == type.className
            && config.text(extension: name, key: ConfigTable.classVersionKey) == String(type.classVersion)
            && isVersion(config.text(extension: name, key: ConfigTable.versionTagKey), of: instance)
    }

    private func isVersion(_ tag: String?, of instance: any YapDatabaseExtension) -> Bool {
        guard let tag else { return false }
        guard let setting = instance as? any VersionSetting else { return tag == instance.versionTag }
        return setting.isVersion(tag, at: store.mark.number)
    }

    /// What an extension missed while it was not registered.
    enum Missed: Equatable {
        case none
        /// The rows that `MissedChangeLog` has after a position.
        case known(after: Int64)
        /// Any rows.
        case unknown

        private static let prefix = "after "

        init(_ text: String?, lastPosition: () throws -> Int64) rethrows {
            guard let text else {
                self = .none
                return
            }
            // Earlier versions of this library write "1", and log nothing.
            let after = text.hasPrefix(Self.prefix) ? Int64(text.dropFirst(Self.prefix.count)) : nil
            guard let after, try lastPosition() > after else {
                self = .unknown
                return
            }
            self = .known(after: after)
        }

        var text: String? {
            switch self {
            case .none: nil
            case .known(let after): Self.prefix + String(after)
            case .unknown: "1"
            }
        }
    }

    /// What the extension missed.
    func missed() throws -> Missed {
        let text = try store.config.text(extension: name, key: ConfigTable.missedKey)
        return try Missed(text) { try store.missedChangeLog.lastPosition() }
    }

    /// Stores what the extension missed.
    func setMissed(_ missed: Missed) throws {
        guard let text = missed.text else {
            return try store.config.remove(extension: name, key: ConfigTable.missedKey)
        }
        try store.config.setText(text, extension: name, key: ConfigTable.missedKey)
    }

    /// Whether the extension that was registered last can catch up.
    func catchesUp() throws -> Bool {
        try store.config.text(extension: name, key: ConfigTable.catchesUpKey) != nil
    }

    /// Stores whether it can catch up.
    func setCatchesUp(_ catchesUp: Bool) throws {
        if try self.catchesUp() == catchesUp { return }
        guard catchesUp else {
            return try store.config.remove(extension: name, key: ConfigTable.catchesUpKey)
        }
        try store.config.setText("1", extension: name, key: ConfigTable.catchesUpKey)
    }

    /// The names of its tables.
    func tables() throws -> [String] {
        (try store.config.text(extension: name, key: ConfigTable.tablesKey) ?? "").split(separator: "\n").map(
            String.init)
    }

    /// Up to which rowid its tables have the rows; nil: they have all.
    func filledThrough() throws -> Int64? {
        try store.config.text(extension: name, key: ConfigTable.filledThroughKey).flatMap { Int64($0) }
    }

    func setFilledThrough(_ rowID: Int64?) throws {
        guard let rowID else {
            return try store.config.remove(extension: name, key: ConfigTable.filledThroughKey)
        }
        try store.config.setText(String(rowID), extension: name, key: ConfigTable.filledThroughKey)
    }

    init(_ name: String, _ store: StoreConnection) {
        self.name = name
        self.store = store
    }

    /// What was stored; `nil` if nothing was, or another class, whose tables are then dropped.
    func registration(of instance: any YapDatabaseExtension) throws -> YapDatabaseExtensionRegistration? {
        let (type, config) = (type(of: instance), store.config)
        guard let className = try config.text(extension: name, key: ConfigTable.classKey) else { return nil }
        guard className == type.className else {
            try drop()
            return nil
        }
        // A program that stores no dependencies doesn't note that they changed without the extension.
        let isNoted = try Set(instance.dependencies) == config.needs()[name] ?? []
        let missed: YapDatabaseExtensionRegistration.MissedChanges =
            switch try missed() {
            case _ where !isNoted: .unknown
            case .none: .none
            case .known where instance.instanceCatchesUp: .known
            case .known, .unknown: .unknown
            }
        return YapDatabaseExtensionRegistration(
            classVersion: try config.text(extension: name, key: ConfigTable.classVersionKey).flatMap {
                Int($0)
            } ?? 0,
            versionTag: try config.text(extension: name, key: ConfigTable.versionTagKey) ?? "",
            missedChanges: missed)
    }

    /// Stores what `instance` is, and whether it misses nothing any more after `register(previous:)`.
    ///
    /// - Returns: Whether it has to catch up.
    @discardableResult
    func save(_ instance: any YapDatabaseExtension, _ content: YapDatabaseExtensionContent) throws -> Bool {
        let type = type(of: instance)
        let config = store.config
        try config.setText(type.className, extension: name, key: ConfigTable.classKey)
        try config.setText(String(type.classVersion), extension: name, key: ConfigTable.classVersionKey)
        try config.setText(instance.versionTag, extension: name, key: ConfigTable.versionTagKey)
        let tables = instance.tableNames(registeredName: name).joined(separator: "\n")
        try config.setText(tables, extension: name, key: ConfigTable.tablesKey)
        try config.setNeeds(instance.dependencies, extension: name)
        switch content {
        case .isUnchanged: break
        case .isEmpty, .isComplete: try setMissedByDependents()
        }
        try setCatchesUp(instance.instanceCatchesUp)
        if instance.instanceCatchesUp, case (.isUnchanged, .known) = (content, try missed()) { return true }
        try setMissed(.none)
        try store.missedChangeLog.trim()
        return false
    }

    /// Notes that the extensions which depend on this one miss changes that no log has: its tables are made anew.
    private func setMissedByDependents() throws {
        for dependent in try store.config.dependents(of: name) {
            try StoredExtension(dependent, store).setMissed(.unknown)
        }
        store.missedChangeLog.reset()
    }

    /// Drops the tables and everything that is stored under the name.
    func drop() throws {
        try setMissedByDependents()
        for table in try tables() {
            try store.sqlite.execute("DROP TABLE IF EXISTS \(Connection.quoted(table))")
        }
        try store.config.removeAll(extension: name)
        try store.missedChangeLog.trim()
    }
}

/// An extension with a version that a transaction can change.
protocol VersionSetting: AnyObject {
    /// Whether it can catch up with its current version.
    var catchesUp: Bool { get }

    /// Whether the file may have a version at a snapshot: the current one, one that a transaction is about to commit,
    /// or one that a later commit replaced.
    func isVersion(_ tag: String, at snapshot: UInt64) -> Bool

    /// Called before it is registered in a database.
    ///
    /// - Throws: `invalidExtension` if another open database has set a version, which would count in this one.
    func join(_ log: CommitLog) throws

    /// Called when it is no longer registered in a database.
    func leave(_ log: CommitLog)
}

extension YapDatabaseExtension {
    /// Whether this extension can catch up. One with a version that a transaction can change may not, though its class
    /// can.
    var instanceCatchesUp: Bool { (self as? any VersionSetting)?.catchesUp ?? Self.catchesUp }
}
