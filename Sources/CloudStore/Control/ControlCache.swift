import SQLite
import System

/// What the look-ups of requests have found, as long as the file has not changed.
struct ControlCache {
    static let entriesMax = 20_000

    /// SQLite's number for the state of the file that the entries come from.
    private(set) var fileVersion: Int64?
    var checkedMilliseconds: Int64 = 0
    var isStale = false
    private(set) var sessions: [[UInt8]: ControlSession] = [:]
    private(set) var apps: [[UInt8]: ControlApp] = [:]
    private(set) var serverKeys: [String: ControlServerKey] = [:]
    private(set) var containers: Set<String> = []
    /// The names of the developers' records, by container.
    private(set) var developers: [String: Set<String>] = [:]

    func isFresh(at milliseconds: Int64) -> Bool {
        !isStale && fileVersion != nil && milliseconds - checkedMilliseconds <= ControlStore.freshMilliseconds
    }

    /// The file was asked: entries of another version go. What this process wrote meanwhile stays marked.
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
        if developers.count >= Self.entriesMax / ControlStore.developersMax { developers = [:] }
        developers[container] = names
    }

    mutating func keep(container: String) {
        if containers.count >= Self.entriesMax { containers = [] }
        containers.insert(container)
    }
}

extension ControlStore {
    /// Whether the container was made. From memory as `session(token:)`.
    public func containerExists(_ identifier: String) throws -> Bool {
        let found = try lookUp {
            $0.containers.contains(identifier) ? true : nil
        } load: { connection in
            try connection.withStatement("SELECT 1 FROM containers WHERE identifier = ?") { statement in
                try statement.bind(identifier, at: 1)
                return try statement.step() ? true : nil
            }
        } keep: { cache, _ in
            cache.keep(container: identifier)
        }
        return found ?? false
    }

    func lookUp<Found>(
        cached: (ControlCache) -> Found?, load: (Connection) throws -> Found?,
        keep: (inout ControlCache, Found) -> Void
    ) throws -> Found? {
        let now = monotonic.elapsedMilliseconds()
        if let found = cache.withLock({ $0.isFresh(at: now) ? cached($0) : nil }) { return found }
        // The cache changes only while the reader is held, so what is kept is of the version that was read. The
        // mark goes before the file is read: a write that comes between sets it again.
        return try read { connection in
            cache.withLock { $0.isStale = false }
            let version = try ControlFormat.value(of: "PRAGMA data_version", connection)
            if let found = cache.withLock({ cache -> Found? in
                cache.checked(fileVersion: version, at: now)
                return cached(cache)
            }) {
                return found
            }
            guard let found = try load(connection) else { return nil }
            cache.withLock { keep(&$0, found) }
            return found
        }
    }
}
