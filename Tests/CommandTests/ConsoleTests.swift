import Foundation
import SQLiteTestSupport
import System
import Testing

@testable import YapCommand

/// What a command reads, with calls that fail.
@Suite struct ConsoleTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func file(_ bytes: [UInt8]) throws -> String {
        let path = folder.file("input")
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        return path
    }

    /// Returns the text of the failure of `body`, or nil.
    private func failure(_ body: () throws -> Void) -> String? {
        do {
            try body()
            return nil
        } catch Failure.failed(let text) {
            return text
        } catch {
            return "another: \(error)"
        }
    }

    @Test func aSecretThatCannotBeReadIsAnErrorAndNoShorterSecret() throws {
        let path = try file(Array("a secret\n".utf8))
        let reads = Lock(0)
        var console = Console(program: "yap", environment: [:])
        #expect(try console.secret(from: path) == "a secret")
        console.calls = FileCalls { step, _ in
            reads.withLock { reads in
                reads += step == .read ? 1 : 0
                return reads == 4 ? EIO : nil
            }
        }
        let text = failure { _ = try console.secret(from: path) }
        #expect(text?.contains("input can't be read: Input/output error") == true)
        reads.withLock { $0 = 3 }
        let bytes = failure { _ = try console.bytes(from: path, max: 100) }
        #expect(bytes?.contains("can't be read") == true)
        reads.withLock { $0 = 3 }
        let lines = try LineInput(path, console)
        let line = failure { _ = try lines.next() }
        #expect(line?.contains("can't be read") == true)
    }

    @Test func aSecretThatIsTooLongIsAnErrorAndNotCut() throws {
        let console = Console(program: "yap", environment: [:])
        let longest = [UInt8](repeating: 0x61, count: Console.inputBytesMax)
        #expect(try console.secret(from: file(longest + [0x0A])).utf8.count == longest.count)
        let path = try file(longest + [0x61])
        let text = failure { _ = try console.secret(from: path) }
        #expect(text?.contains("longer than 65536 bytes") == true)
        #expect(try console.bytes(from: path, max: 10).count == 11)
    }

    @Test func aLineOfThePipeLeavesTheNextOneToTheNextReader() throws {
        let pipe = Pipe()
        try pipe.fileHandleForWriting.write(contentsOf: Data("first\r\nsecond\n".utf8))
        try pipe.fileHandleForWriting.close()
        var console = Console(program: "yap", environment: [:])
        console.input = pipe.fileHandleForReading.fileDescriptor
        #expect(try console.secret(from: "-") == "first")
        #expect(try console.secret(from: "-") == "second")
        let text = failure { _ = try console.secret(from: "-") }
        #expect(text == "There is no password in the standard input.")
    }
}
