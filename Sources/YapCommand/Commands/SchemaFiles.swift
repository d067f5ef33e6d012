import CloudService
import CloudStore
import CloudWire
import System

/// Schemas of a container's environments in the server's files, read and changed beside a running server.
struct SchemaFiles {
    let container: String
    private let folder: DataFolder
    private let control: ControlStore

    init(_ invocation: Invocation, _ console: Console) throws {
        control = try invocation.control(console)
        container = try invocation.container(in: control, console)
        folder = invocation.dataFolder(console)
    }

    /// Returns the schema of an environment, or that of a new environment if nothing was stored yet.
    func schema(_ environment: String) throws -> Schema {
        let path = try folder.storePath(container: container, environment: environment)
        guard StoreFile.exists(at: path) else { return .initial }
        // Opened as a server does, so that a file of an older version has a schema too.
        return try change(environment) { try $0.schemaMaintenance.currentSchema() }
    }

    /// Runs `body` with a service on the environment's file.
    func change<Result>(_ environment: String, _ body: (CloudService) throws -> Result) throws -> Result {
        let hold = try folder.mustHold(container: container, environment: environment, in: control)
        defer { withExtendedLifetime(hold) {} }
        let path = try folder.storePath(container: container, environment: environment, makesFolders: true)
        let store = try SQLiteCloudStore(path: path)
        defer { store.close() }
        let service = CloudService(
            store: store, clock: SystemTimeSource(), random: SystemRandomSource(),
            container: CloudService.Container(identifier: container, environment: environment))
        do {
            try service.schemaMaintenance.adoptSchema()
            return try body(service)
        } catch let refusal as SchemaRefusal {
            throw Failure.refused("Nothing was changed:\n" + SchemaText.lines(refusal.reasons))
        }
    }
}

/// Schemas as texts in files and on a terminal.
enum SchemaText {
    /// Reads and checks a text.
    static func schema(at path: String, _ console: Console) throws -> Schema {
        // Reads one byte more than the maximum, so that the parser reports a text that is too long.
        let bytes = try console.bytes(from: path, max: SchemaLanguage.textBytesMax)
        do {
            return try SchemaLanguage.parse(bytes)
        } catch {
            throw Failure.failed("\(path):\(error.line):\(error.column): \(error.reason)")
        }
    }

    static func lines(_ reasons: [String]) -> String {
        reasons.map { "  " + $0 }.joined(separator: "\n")
    }

    static func json(_ changes: [SchemaChange]) -> JSON {
        .array(
            changes.map { change in
                .object([
                    ("action", .string(change.action.rawValue)), ("kind", .string(change.kind.rawValue)),
                    ("recordType", .text(change.recordType)), ("name", .string(change.name)),
                    ("before", .text(change.before)), ("after", .text(change.after)),
                ])
            })
    }

    /// Writes a text to a file. An existing file is replaced after the whole text was written.
    static func write(_ text: String, to path: String) throws {
        do throws(FileError) {
            try DurableFile.write(text.utf8, to: path, mode: 0o644)
        } catch {
            throw failure(path, error)
        }
    }

    private static func failure(_ path: String, _ error: FileError) -> Failure {
        .failed("\(path) can't be used: \(error.reason)")
    }
}
