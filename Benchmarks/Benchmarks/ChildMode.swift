import CBenchmarks
import CloudServer
import CloudService
import CloudStore
import Foundation
import HTTPServer

/// What this program does when it runs as a server, or as a device, for another one of itself.
enum ChildMode {
    static let serveCloud = "--serve-cloud"
    static let serveFolder = "--serve-folder"
    static let serveCanned = "--serve-canned"
    static let syncDevice = "--sync-device"
    static let fillIndexes = "--fill-indexes"
    static let growth = "--growth"

    /// Runs until standard input ends, and returns the exit status; nil when the arguments ask for neither.
    static func run(_ arguments: [String]) async -> Int32? {
        guard arguments.count > 1 else { return nil }
        do {
            switch arguments[0] {
            case serveCloud: try cloud(storePath: arguments[1])
            case serveFolder: try serve(DataFolder(path: arguments[1]))
            case serveCanned: try canned(answerPath: arguments[1], firstRequestPath: arguments[2])
            case syncDevice: try await device(Array(arguments.dropFirst()))
            case fillIndexes: try await fill(folder: arguments[1], rowsCount: Int(arguments[2]) ?? 0)
            case growth: try await grow(folder: arguments[1], rowsCount: Int(arguments[2]) ?? 0)
            default: return nil
            }
            return 0
        } catch {
            FileHandle.standardError.write(Data("\(arguments[0]): \(error)\n".utf8))
            return 1
        }
    }

    private static func cloud(storePath: String) throws {
        let store = try CountingStore(path: storePath)
        var options = CloudServerOptions()
        options.http.requestsPerConnectionMax = .max
        let server = CloudServer(benchService(store), options: options)
        try server.start()
        say("\(server.port)")
        while let line = readLine() {
            if line == "commits" { say("\(store.commitsCount)") }
        }
        server.stop()
    }

    /// A data folder as `yap serve` serves it, dashboard and all.
    private static func serve(_ folder: DataFolder) throws {
        let control = try ControlStore(path: folder.controlPath)
        var options = CloudServerOptions()
        options.http.requestsPerConnectionMax = .max
        (options.rates.user, options.rates.address, options.rates.container) = (nil, nil, nil)
        let server = CloudServer(
            dataFolder: folder, control: control,
            accounts: ControlAccounts(control, isDevelopmentForEveryone: true),
            signIn: try SignInCheck(control, isDevelopmentForEveryone: true), options: options)
        try server.start()
        say("\(server.port)")
        while readLine() != nil {}
        server.stop()
    }

    private static func canned(answerPath: String, firstRequestPath: String) throws {
        let answer = [UInt8](try Data(contentsOf: URL(fileURLWithPath: answerPath)))
        let code = answer.withUnsafeBytes {
            probe_serve($0.baseAddress?.assumingMemoryBound(to: CChar.self), $0.count, firstRequestPath)
        }
        guard code == 0 else { throw BenchError("the server with one answer ended with an error") }
    }

    /// A device that syncs for the first time, and tells how that went.
    private static func device(_ arguments: [String]) async throws {
        guard arguments.count == 4, let direction = FirstSync.Direction(rawValue: arguments[0]),
            let port = Int(arguments[2]), let count = Int(arguments[3])
        else { throw BenchError("a device takes a direction, a folder, a port and a count") }
        try await FirstSync.run(
            direction, folder: URL(fileURLWithPath: arguments[1]), port: port, count: count)
    }

    private static func fill(folder: String, rowsCount: Int) async throws {
        let folder = URL(fileURLWithPath: folder)
        say(try await FillMillion.run(folder: folder, rowsCount: rowsCount).line)
    }

    private static func grow(folder: String, rowsCount: Int) async throws {
        let work = try GrowthWork(folder: URL(fileURLWithPath: folder), rowsCount: rowsCount)
        say(try await work.measure().line)
    }

    private static func say(_ line: String) {
        FileHandle.standardOutput.write(Data((line + "\n").utf8))
    }
}
