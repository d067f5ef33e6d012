import Foundation
import Glibc
import ProcessSupport
import SQLiteTestSupport
import Testing

/// `docs/TUTORIAL.md` as a reader does it: its files are the example's, and its commands are typed into its terminals.
/// So are those of `docs/GOING_TO_PRODUCTION.md` and `docs/LISTS.md`.
@Suite struct TutorialTests {
    /// A block of the page: what stands behind its fence, as "sh phone" or "swift Package.swift", and its text.
    private struct Block {
        let kind: String
        let name: String
        let text: String
        var lines: [String] { text.split(separator: "\n").map(String.init) }
    }

    /// What a reader does once by hand, and CI's build has done before the tests run.
    private static let byHand: Set = [
        "cd ~/yap && make setup", "cd ~/groceries", "swift build -c release",
        "swift build -c release --product yap", "export PATH=\"$HOME/groceries/.build/release:$PATH\"",
        "cd ~/agenda", "export PATH=\"$HOME/agenda/.build/release:$PATH\"",
    ]

    private let blocks: [Block]
    private let root: URL

    init() throws {
        var root = URL(filePath: #filePath)
        for _ in 0..<3 { root.deleteLastPathComponent() }
        self.root = root
        blocks = try Self.blocks(of: root.appending(path: "docs/TUTORIAL.md"))
    }

    private static func blocks(of file: URL) throws -> [Block] {
        let parts = try String(contentsOf: file, encoding: .utf8).components(separatedBy: "```")
        return stride(from: 1, to: parts.count, by: 2).map { index in
            let (head, text) = Self.cut(parts[index], at: "\n")
            let (kind, name) = Self.cut(head, at: " ")
            return Block(kind: kind, name: name, text: text)
        }
    }

    private static func cut(_ text: String, at separator: Character) -> (String, String) {
        guard let index = text.firstIndex(of: separator) else { return (text, "") }
        return (String(text[..<index]), String(text[text.index(after: index)...]))
    }

    @Test func itsSwiftIsTheExamples() throws {
        try checkSwift(of: blocks, ["groceries/Item.swift", "groceries/Groceries.swift"], in: "Groceries")
    }

    private func checkSwift(of blocks: [Block], _ names: [String], in example: String) throws {
        let shown = blocks.filter { $0.kind == "swift" && $0.name != "Package.swift" }
        #expect(shown.map(\.name) == names.map { "Sources/\($0)" })
        for block in shown {
            let file = root.appending(
                path: "Examples/\(example)/\(URL(filePath: block.name).lastPathComponent)")
            #expect(try String(contentsOf: file, encoding: .utf8) == block.text, "\(block.name)")
        }
    }

    @Test func aListInATerminalFollowsAnotherProcess() async throws {
        let blocks = try Self.blocks(of: root.appending(path: "docs/LISTS.md"))
        try checkSwift(of: blocks, ["agenda/Errand.swift", "agenda/Agenda.swift"], in: "Agenda")
        #expect(blocks.filter { $0.kind == "text" }.count == 5)
        try await type(blocks)
    }

    @Test func itsPackageIsOneAndNamesProductsOfThisOne() async throws {
        let block = try #require(blocks.first { $0.name == "Package.swift" })
        let folder = try TemporaryFolder()
        try block.text.write(toFile: folder.file("Package.swift"), atomically: true, encoding: .utf8)
        let program = try Program(
            "/bin/bash", ["-c", "cd \"$0\" && exec swift package dump-package", folder.path],
            environment: Self.surroundings(home: folder.path))
        let ended = await program.result()
        #expect(ended.end == .exit(0), "\(ended.errors)")
        struct Dump: Decodable {
            struct Target: Decodable { let name: String }
            let targets: [Target]
        }
        #expect(
            try JSONDecoder().decode(Dump.self, from: Data(ended.output.utf8)).targets.map(\.name) == [
                "groceries"
            ])
        let ours = try String(contentsOf: root.appending(path: "Package.swift"), encoding: .utf8)
        let products = block.text.matches(of: /\.product\(name: "(\w+)"/).map { String($0.output.1) }
        #expect(products == ["Yap", "YapCloudKit", "CloudKit"])
        for product in products { #expect(ours.contains(".library(name: \"\(product)\""), "\(product)") }
    }

    @Test func itsCommandsDoWhatItSays() async throws {
        #expect(blocks.filter { $0.kind == "text" }.count > 6)
        try await type(blocks)
    }

    @Test func theCommandsOfGoingToProductionDoWhatThePageSays() async throws {
        let blocks = try Self.blocks(of: root.appending(path: "docs/GOING_TO_PRODUCTION.md"))
        #expect(blocks.filter { $0.kind == "text" }.count == 5)
        try await type(blocks)
    }

    private func type(_ blocks: [Block]) async throws {
        let folder = try TemporaryFolder()
        let stage = try TutorialStage(folder)
        defer { stage.end() }
        for block in blocks {
            switch block.kind {
            case "sh" where block.name == "by hand":
                #expect(block.lines.allSatisfy(Self.byHand.contains), "\(block.text)")
            case "sh": try await stage.type(block.text, into: block.name)
            case "text": try await stage.expect(block.lines, in: block.name)
            case "swift": break
            default: Issue.record("a block that nobody runs: \(block.kind) \(block.name)")
            }
        }
    }

    static func surroundings(home: String) -> [String: String] {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        return ["PATH": path, "HOME": home, "XDG_CONFIG_HOME": home + "/config"]
    }
}

/// The page's terminals, on one machine.
private final class TutorialStage {
    private struct Terminal {
        /// What a shell keeps from line to line: its folder and its variables.
        var state: [String] = []
        /// What goes on running in it.
        var running: Program?
        /// What the lines of the last block said.
        var said = ""
    }

    private let home: String
    private let port: Int
    private let programs: String
    private var terminals: [String: Terminal] = [:]
    private var started: [Program] = []

    init(_ folder: TemporaryFolder) throws {
        home = folder.path
        port = try Self.freePort()
        programs = try Stage.programs
    }

    func end() {
        for program in started { program.signal(SIGKILL) }
    }

    /// Types a block's lines, each when the one before has ended. What serves or watches goes on.
    func type(_ text: String, into name: String) async throws {
        var terminal = terminals[name] ?? Terminal()
        defer { terminals[name] = terminal }
        terminal.said = ""
        let lines = text.replacing("\\\n", with: " ").split(separator: "\n").map(String.init)
        for line in lines {
            if line == "^C" {
                let running = try #require(terminal.running)
                running.signal(SIGINT)
                // The server ends in an orderly way; the app knows nothing of the signal.
                let end = await running.result().end
                #expect(end == (name == "server" ? .exit(0) : .signal(SIGINT)))
                terminal.running = nil
            } else if line.contains("serve --port") || line.hasSuffix(" watch") {
                terminal.running = try start(terminal.state + ["exec " + line])
            } else {
                if line.hasPrefix("export ") || line.contains("cd ") { terminal.state.append(line) }
                let ended = try await start(terminal.state + [line]).result()
                #expect(ended.end == .exit(0), "\(line): \(ended.output) \(ended.errors)")
                terminal.said += ended.output + ended.errors
            }
        }
    }

    /// The lines are said in this order, each as a part of a line.
    func expect(_ lines: [String], in name: String) async throws {
        let terminal = try #require(terminals[name])
        if let running = terminal.running {
            for line in lines.map(here) {
                // A server speaks to its operator, an app to its user.
                let said =
                    line.contains("listening")
                    ? await running.errorLine { $0.contains(line) } : await running.line { $0.contains(line) }
                guard said == nil else { continue }
                Issue.record("\(name) doesn't say \"\(line)\": \(await running.result().errors)")
            }
        } else {
            var rest = terminal.said[...]
            for line in lines.map(here) {
                guard let range = rest.range(of: line) else {
                    Issue.record("\(name) doesn't say \"\(line)\" but: \(terminal.said)")
                    return
                }
                rest = rest[range.upperBound...]
            }
        }
    }

    private func start(_ lines: [String]) throws -> Program {
        var environment = TutorialTests.surroundings(home: home)
        environment["PATH"] = programs + ":" + (environment["PATH"] ?? "")
        let program = try Program(
            "/bin/bash", ["-c", "set -eo pipefail\n" + lines.map(here).joined(separator: "\n")],
            environment: environment)
        started.append(program)
        return program
    }

    /// The page's port may be taken where the tests run.
    private func here(_ line: String) -> String { line.replacing("8080", with: "\(port)") }

    private static func freePort() throws -> Int {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(INADDR_LOOPBACK).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let code = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, length) == 0 ? getsockname(descriptor, address, &length) : -1
            }
        }
        return Int(UInt16(bigEndian: try #require(code == 0 ? address.sin_port : nil)))
    }
}
