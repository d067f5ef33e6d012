import Foundation

/// A server in a process of its own (Tests/Support/ServerChild). It ends when this goes.
final class ServerProcess {
    let port: Int
    private let process = Process()
    private let input = Pipe()

    init(descriptorsMax: Int, loopCount: Int = 2) throws {
        #if os(macOS)
            let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }?.bundleURL
        #else
            let bundle = Bundle.main.executableURL
        #endif
        guard let bundle else { throw RawClient.Failure(description: "where are the tests?") }
        process.executableURL = bundle.deletingLastPathComponent().appending(path: "ServerChild")
        process.arguments = ["\(descriptorsMax)", "\(loopCount)"]
        let output = Pipe()
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        var line = [UInt8]()
        while let byte = try output.fileHandleForReading.read(upToCount: 1)?.first, byte != 0x0A {
            line.append(byte)
        }
        guard let port = Int(String(decoding: line, as: UTF8.self)) else {
            throw RawClient.Failure(description: "the child told no port")
        }
        self.port = port
    }

    /// The bytes of memory that the process has in use.
    func residentBytes() throws -> Int {
        let text = try String(contentsOfFile: "/proc/\(process.processIdentifier)/statm", encoding: .utf8)
        return (Int(text.split(separator: " ")[1]) ?? 0) * sysconf(Int32(_SC_PAGESIZE))
    }

    /// The CPU time that the process has used, in clock ticks (a hundredth of a second).
    func processorTicks() throws -> Int {
        let text = try String(contentsOfFile: "/proc/\(process.processIdentifier)/stat", encoding: .utf8)
        let fields = text[(text.lastIndex(of: ")") ?? text.startIndex)...].split(separator: " ")
        return (Int(fields[12]) ?? 0) + (Int(fields[13]) ?? 0)
    }

    /// Ends its input and waits for its end; returns its exit code.
    func stop() throws -> Int32 {
        try input.fileHandleForWriting.close()
        process.waitUntilExit()
        return process.terminationStatus
    }

    deinit {
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    }
}
