/// Rows that requests have looked up, kept until the file changes.
struct ControlCache {
    static let entriesMax = 20_000

    /// SQLite's number of the file version that the entries were read from.
    private(set) var fileVersion: Int64?
    var checkedMilliseconds: Int64 = 0
    /// True if this process has written to the file since it was checked.
    var isStale = false
    private(set) var sessions: [[UInt8]: ControlSession] = [:]
    private(set) var apps: [[UInt8]: ControlApp] = [:]
    private(set) var serverKeys: [String: ControlServerKey] = [:]
    private(set) var containers: Set<String> = []
    /// Record names of the developers, by container.
    private(set) var developers: [String: Set<String>] = [:]

    func isFresh(at milliseconds: Int64) -> Bool {
        !isStale && fileVersion != nil && milliseconds - checkedMilliseconds <= ControlStore.freshMilliseconds
    }

    /// Records that the file was checked, and removes the entries of another version. `isStale` isn't cleared: this
    /// process may have written again.
    mutating func checked(fileVersion: Int64, at milliseconds: Int64) {
        if fileVersion != self.fileVersion {
            (sessions, apps, serverKeys, containers, developers) = ([:], [:], [:], [], [:])
        }
        self.fileVersion = fileVersion
        checkedMilliseconds = milliseconds
    }

    mutating func keep(_ session: ControlSession, digest: [UInt8]) {
        if sessions.count >= Self.entriesMax { sessions = [:] }
        sessions[digest] = session
    }

    mutating func keep(_ app: ControlApp, digest: [UInt8]) {
        if apps.count >= Self.entriesMax { apps = [:] }
        apps[digest] = app
    }

    mutating func keep(_ key: ControlServerKey) {
        if serverKeys.count >= Self.entriesMax { serverKeys = [:] }
        serverKeys[key.id] = key
    }

    mutating func keep(developers names: Set<String>, container: String) {
        if developers.count >= Self.entriesMax / AccountTables.developersMax { developers = [:] }
        developers[container] = names
    }

    mutating func keep(container: String) {
        if containers.count >= Self.entriesMax { containers = [] }
        containers.insert(container)
    }
}
