import SQLite

/// State of an extension stored in `yap2`.
struct StoredExtension {
    private let name: String
    private let store: StoreConnection

    /// Returns true if class and versions are those of `instance`.
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

    /// Changes that an extension missed while it wasn't registered.
    enum Missed: Equatable {
        case none
        /// The rows in `MissedChangeLog` after a position.
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

    /// Returns the changes that the extension missed.
    func missed() throws -> Missed {
        let text = try store.config.text(extension: name, key: ConfigTable.missedKey)
        return try Missed(text) { try store.missedChangeLog.lastPosition() }
    }

    /// Stores the changes that the extension missed.
    func setMissed(_ missed: Missed) throws {
        guard let text = missed.text else {
            return try store.config.remove(extension: name, key: ConfigTable.missedKey)
        }
        try store.config.setText(text, extension: name, key: ConfigTable.missedKey)
    }

    /// Returns true if the extension that was registered last can catch up.
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

    /// Returns the names of its tables.
    func tables() throws -> [String] {
        (try store.config.text(extension: name, key: ConfigTable.tablesKey) ?? "").split(separator: "\n").map(
            String.init)
    }

    /// Returns the last rowid with which its tables have been filled, or nil if they have all rows.
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

    /// Returns the stored registration. Nil if there is none, or one of another class, and then drops its tables.
    func registration(of instance: any YapDatabaseExtension) throws -> YapDatabaseExtensionRegistration? {
        let (type, config) = (type(of: instance), store.config)
        guard let className = try config.text(extension: name, key: ConfigTable.classKey) else { return nil }
        guard className == type.className else {
            try drop()
            return nil
        }
        // A program that doesn't store dependencies doesn't record their changes for the extension.
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

    /// Stores the description of `instance`, and whether it still misses changes after `register(previous:)`.
    ///
    /// - Returns: True if it has to catch up.
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

    /// Records that the dependents of this extension miss unlogged changes, because its tables are created
    /// again.
    private func setMissedByDependents() throws {
        for dependent in try store.config.dependents(of: name) {
            try StoredExtension(dependent, store).setMissed(.unknown)
        }
        store.missedChangeLog.reset()
    }

    /// Drops the tables and everything stored under the name.
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
    /// True if it can catch up with its current version.
    var catchesUp: Bool { get }

    /// Returns true if the file may have a version at a snapshot: the current one, one that a transaction is about to
    /// commit, or one that a later commit replaced.
    func isVersion(_ tag: String, at snapshot: UInt64) -> Bool

    /// Called before it is registered in a database.
    ///
    /// - Throws: `invalidExtension` if another open database has set a version, which would apply to this one.
    func join(_ log: CommitLog) throws

    /// Called when it is no longer registered in a database.
    func leave(_ log: CommitLog)
}

extension YapDatabaseExtension {
    /// True if this extension can catch up. Can be false for an extension with a version that transactions
    /// can change, even if its class can catch up.
    var instanceCatchesUp: Bool { (self as? any VersionSetting)?.catchesUp ?? Self.catchesUp }
}
