import CloudStore
import Foundation
import HTTPServer
import SQLiteTestSupport
import System
import Testing

@testable import CloudServer

/// A server whose system refuses threads.
@Suite struct StartTests {
    /// The names of the threads that were requested, and the number of the one that is refused.
    private struct Requests {
        var names = [String]()
        var refused: Int?
    }

    private static func server(
        _ folder: ServerFolder, _ requests: Lock<Requests>, port: Int = 0, log: KeptLog = KeptLog()
    ) throws -> CloudServer {
        var options = CloudServerOptions()
        options.log = log
        options.http.loopCount = 2
        options.http.port = port
        let (certificate, key) = (folder.path + "/certificate.pem", folder.path + "/key.pem")
        try makeCertificate(certificate, key)
        options.http.tls = HTTPServerTLSOptions(certificatePath: certificate, privateKeyPath: key)
        options.threads = ThreadSource { name in
            requests.withLock { requests in
                requests.names.append(name)
                return requests.names.count - 1 == requests.refused ? EAGAIN : nil
            }
        }
        let control = try ControlStore(path: folder.dataFolder.controlPath)
        return try CloudServer(
            dataFolder: folder.dataFolder, control: control,
            accounts: ControlAccounts(control, isDevelopmentForEveryone: true),
            signIn: SignInCheck(control, isDevelopmentForEveryone: true),
            // A folder can't be read as a file.
            witness: FolderWitness(path: folder.path), options: options)
    }

    @Test func aServerThatLacksAnyThreadStartsNotAtAllAndStartsLater() async throws {
        try await onThread {
            let folder = try ServerFolder(accounts: ["ada"])
            let requests = Lock(Requests())
            let first = try Self.server(folder, requests)
            #expect(requests.withLock { $0.names } == [], "a server that isn't started has no thread")
            try first.start()
            let names = requests.withLock { $0.names }
            first.stop()
            for refused in names.indices {
                requests.withLock { $0 = Requests(refused: refused) }
                let log = KeptLog()
                let server = try Self.server(folder, requests, log: log)
                defer { server.stop() }
                let error = #expect(throws: (any Error).self, "\(names[refused])") { try server.start() }
                #expect("\(error.map { "\($0)" } ?? "")".contains("Resource temporarily unavailable"))
                #expect(server.port == 0)
                let events = try log.lines().map { "\($0["event"] ?? "")" }
                #expect(events.contains { $0.hasPrefix("witness can't be") }, "without its thread too")
                #expect(requests.withLock { $0.names } == Array(names[...refused]))
                try server.start()
                #expect(requests.withLock { $0.names.dropFirst(refused + 1) } == names[...])
                _ = try RawConnection(port: server.port)
            }
        }
    }

    @Test func aServerWhosePortIsTakenStartsWhenItIsFree() async throws {
        try await onThread {
            let folder = try ServerFolder(accounts: ["ada"])
            let other = try TestServer()
            let server = try Self.server(folder, Lock(Requests()), port: other.port)
            defer { server.stop() }
            let error = #expect(throws: HTTPServerError.self) { try server.start() }
            #expect(error?.code == .portTaken)
            other.stop()
            try server.start()
            #expect(server.port == other.port)
            let again = #expect(throws: HTTPServerError.self) { try server.start() }
            #expect(again?.code == .alreadyStarted)
            server.stop()
            let stopped = #expect(throws: HTTPServerError.self) { try server.start() }
            #expect(stopped?.code == .alreadyStarted)
        }
    }

    @Test func aServerThatWasNeverStartedStopsAtOnce() async throws {
        try await onThread {
            let folder = try ServerFolder(accounts: ["ada"])
            let requests = Lock(Requests())
            let server = try Self.server(folder, requests)
            server.stop()
            server.stop()
            #expect(requests.withLock { $0.names } == [])
            #expect(throws: HTTPServerError.self) { try server.start() }
        }
    }

    @Test func aServerThatStopsBeforeItsStartDoesNotHideThatItsFolderWasRestored() throws {
        let folder = try ServerFolder(accounts: [])
        let other = try TemporaryFolder()
        let witness = FolderWitness(path: other.file("witness"))
        let random = SystemRandomSource()
        func mark(_ data: DataFolder) throws {
            let control = try ControlStore(path: data.controlPath)
            _ = try data.compare(control, witness, random: random)
            try data.mark(control, witness)
        }
        try mark(folder.dataFolder)
        let restored = DataFolder(path: other.file("restored"))
        try FileManager.default.copyItem(atPath: folder.path, toPath: restored.path)
        for _ in 0..<3 { try mark(folder.dataFolder) }

        let unstarted = RestoreDetector(
            restored, try ControlStore(path: restored.controlPath), witness, random: random, log: nil)
        unstarted.stop()
        let control = try ControlStore(path: restored.controlPath)
        #expect(try restored.compare(control, witness, random: random) == .wasPutBack(environments: 0))
    }
}
