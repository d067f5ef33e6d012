import Foundation

/// A server that runs for a line, as a process of its own that ends with this one.
@MainActor
final class ChildProcess {
    let identifier: Int32
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()

    /// Starts `executable`. With `readsInput` it ends when its standard input does, and else at SIGTERM.
    init(_ executable: String, _ arguments: [String], environment: [String: String]? = nil) throws {
        process.executableURL = URL(fileURLWithPath: executable)
        process.arguments = arguments
        if let environment {
            process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        }
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        identifier = process.processIdentifier
    }

    /// The next line that the process prints; empty when it has ended.
    func readLine() -> String {
        var line: [UInt8] = []
        while let byte = try? output.fileHandleForReading.read(upToCount: 1)?.first, byte != 0x0A {
            line.append(byte)
        }
        return String(decoding: line, as: UTF8.self)
    }

    /// Asks the process a question that it answers with a line.
    func ask(_ question: String) throws -> String {
        try input.fileHandleForWriting.write(contentsOf: Data((question + "\n").utf8))
        return readLine()
    }

    /// Ends the process, and waits until it has ended.
    func end() {
        try? input.fileHandleForWriting.close()
        process.terminate()
        process.waitUntilExit()
    }

    /// The memory that the process has touched and keeps, in bytes.
    func residentBytes() throws -> Int { try Self.residentBytes(of: identifier) }

    /// The same for the process and those that it started.
    func residentBytesWithChildren() throws -> Int {
        return try residentBytes() + children().reduce(0) { try $0 + Self.residentBytes(of: $1) }
    }

    /// The processor time that the process and those that it started have taken, in seconds.
    func processorSeconds() throws -> Double {
        try ([identifier] + children()).reduce(0) { try $0 + Self.processorSeconds(of: $1) }
    }

    private func children() throws -> [Int32] {
        let path = "/proc/\(identifier)/task/\(identifier)/children"
        return try String(contentsOfFile: path, encoding: .utf8).split(separator: " ").compactMap {
            Int32($0)
        }
    }

    nonisolated static func processorSeconds(of process: Int32) throws -> Double {
        let stat = try String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
        // Behind the name, which may have spaces: the times are the 14th and 15th word of the line.
        let words = stat.split(separator: ")").last?.split(separator: " ") ?? []
        guard words.count > 12, let user = Double(words[11]), let system = Double(words[12]) else {
            throw BenchError("/proc doesn't tell the time of process \(process)")
        }
        return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    nonisolated static func residentBytes(of process: Int32) throws -> Int {
        try bytes("VmRSS:", of: process)
    }

    /// The most that it has kept so far.
    nonisolated static func peakBytes(of process: Int32) throws -> Int { try bytes("VmHWM:", of: process) }

    private nonisolated static func bytes(_ field: String, of process: Int32) throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        for line in status.split(separator: "\n") where line.hasPrefix(field) {
            let digits = line.filter(\.isNumber)
            if let kilobytes = Int(digits) { return kilobytes << 10 }
        }
        throw BenchError("/proc doesn't tell the memory of process \(process)")
    }

    /// The path of this program, which is also its servers'.
    static var ownPath: String {
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
            ?? CommandLine.arguments[0]
    }
}
