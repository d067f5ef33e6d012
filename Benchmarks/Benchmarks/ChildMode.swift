import CBenchmarks
import CloudServer
import Foundation
import HTTPServer

/// What this program does when it runs as a server for another one of itself.
enum ChildMode {
    static let serveCloud = "--serve-cloud"
    static let serveCanned = "--serve-canned"

    /// Runs until standard input ends, and returns the exit status; nil when the arguments ask for no server.
    static func run(_ arguments: [String]) -> Int32? {
        guard arguments.count > 1 else { return nil }
        do {
            switch arguments[0] {
            case serveCloud: try cloud(storePath: arguments[1])
            case serveCanned: try canned(answerPath: arguments[1], firstRequestPath: arguments[2])
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

    private static func canned(answerPath: String, firstRequestPath: String) throws {
        let answer = [UInt8](try Data(contentsOf: URL(fileURLWithPath: answerPath)))
        let code = answer.withUnsafeBytes {
            probe_serve($0.baseAddress?.assumingMemoryBound(to: CChar.self), $0.count, firstRequestPath)
        }
        guard code == 0 else { throw BenchError("the server with one answer ended with an error") }
    }

    private static func say(_ line: String) {
        FileHandle.standardOutput.write(Data((line + "\n").utf8))
    }
}
