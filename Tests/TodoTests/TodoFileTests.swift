import Foundation
import System
import Testing
import TodoKit

@Suite struct TodoFileTests {
    @Test(arguments: [
        "", "\n", "a", "a\n", "a\r\nb\n", "a\n\n \n\tb", "\u{FEFF}a\n", "\u{FEFF}", "a\r\n\r\nb", "a\rb\n",
        "a\r",
    ])
    func aFileComesBackByteForByte(content: String) throws {
        let bytes = Array(content.utf8)
        #expect(try TodoFile(bytes: bytes).bytes == bytes)
    }

    @Test func blankLinesAreKeptAndAreNoItems() throws {
        let file = try TodoFile(bytes: Array("a\n\n  \nb".utf8))
        #expect(file.todos.map(\.title) == ["a", "b"])
        #expect(file.todos.map(\.order) == [1, 4])
        #expect(file.lines.count == 4)
    }

    @Test func aByteOrderMarkIsNoPartOfTheFirstItem() throws {
        let file = try TodoFile(bytes: [0xEF, 0xBB, 0xBF] + Array("x done\r\n".utf8))
        #expect(file.hasByteOrderMark)
        #expect(file.todos == [Todo(title: "done", isDone: true, order: 1)])
    }

    @Test func badUTF8IsRefusedWithItsLine() {
        #expect(throws: TodoFileError.notUTF8(line: 3)) {
            try TodoFile(bytes: Array("a\nb\n".utf8) + [0x63, 0xC3, 0x28, 0x0A])
        }
        #expect(TodoFileError.notUTF8(line: 3).description.contains("line 3"))
    }

    @Test func aLineThatIsTooLongIsRefusedWithItsNumber() {
        let long = [UInt8](repeating: 0x61, count: TodoFile.lineBytesMax)
        #expect(throws: Never.self) { try TodoFile(bytes: long) }
        #expect(throws: TodoFileError.lineTooLong(line: 2, bytes: long.count + 1)) {
            try TodoFile(bytes: [0x61, 0x0A] + long + [0x61, 0x0A])
        }
    }

    @Test func aFileThatIsTooLargeIsRefused() {
        let bytes = [UInt8](repeating: 0x0A, count: TodoFile.bytesMax + 1)
        #expect(throws: TodoFileError.fileTooLarge(bytes: bytes.count)) { try TodoFile(bytes: bytes) }
    }

    @Test func keysAreUniqueAndTheSourceAloneDecidesThem() throws {
        let file = try TodoFile(bytes: Array("same\nsame\n\nsame".utf8))
        let keys = file.keyedTodos(random: SeededRandomSource(seed: 1)).map(\.key)
        #expect(Set(keys).count == 3)
        #expect(keys == file.keyedTodos(random: SeededRandomSource(seed: 1)).map(\.key))
    }

    @Test func theSampleIsALongListInWhichNoTwoLinesAreEqual() throws {
        let path = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Examples/Todo/todo.txt")
        let bytes = [UInt8](try Data(contentsOf: path))
        let file = try TodoFile(bytes: bytes)
        #expect(file.bytes == bytes)
        #expect(file.todos.count >= 1000)
        #expect(Set(file.todos.map(\.line)).count == file.todos.count)
        #expect(file.todos.contains { $0.isDone && $0.completionDay != nil })
        #expect(file.todos.contains { $0.priority == "A" })
        #expect(file.todos.contains { !$0.title.utf8.allSatisfy { $0 < 0x80 } })
        #expect(Set(file.todos.flatMap(\.projects)).count >= 10)
        #expect(Set(file.todos.flatMap(\.contexts)).count >= 5)
        #expect(file.todos.contains { $0.tag("due") != nil })
    }
}
