import Foundation
import Testing
import TodoKit

@Suite struct TodoColorTests {
    @Test func aColourIsTheSameAfterItsText() {
        for (_, color) in TodoColor.names { #expect(TodoColor(text: color.text) == color) }
        let color = TodoColor(red: 0, green: 10, blue: 255)
        #expect(color.text == "#000aff")
        #expect(TodoColor(text: "#000aff") == color)
    }

    @Test(arguments: [
        "", "#", "red", "#fff", "#00ff0", "#00ff000", "00ff00", "#00FF00", "#00fg00", "#+1+1+1", "#ééé",
    ])
    func whatIsWrittenInAnotherWayIsNone(text: String) {
        #expect(TodoColor(text: text) == nil)
    }

    @Test func peopleMayNameAColour() {
        #expect(TodoColor(named: "Red") == TodoColor.names[0].color)
        #expect(TodoColor(named: "#00FF00") == TodoColor(red: 0, green: 255, blue: 0))
        #expect(TodoColor(named: "reddish") == nil)
    }

    @Test func aLineCarriesTheColourAtItsEnd() {
        let todo = Todo(line: "(A) Paint the door +home color:#cc2222")
        #expect(todo.color == TodoColor(red: 0xCC, green: 0x22, blue: 0x22))
        #expect(todo.title == "Paint the door +home")
        var other = todo
        other.color = TodoColor(red: 0, green: 0, blue: 0)
        #expect(other.line == "(A) Paint the door +home color:#000000")
        other.color = nil
        #expect(other.line == "(A) Paint the door +home")
        // Elsewhere, or in another form, it is a tag like any other.
        #expect(Todo(line: "color:#cc2222 first").color == nil)
        #expect(Todo(line: "Paint color:red").tag("color") == "red")
    }

    @Test func anItemThatWasStoredBeforeItHadAColourIsRead() throws {
        let stored = #"{"text":"Buy eggs","isDone":true,"priority":"A","order":3}"#
        let todo = try JSONDecoder().decode(Todo.self, from: Data(stored.utf8))
        #expect(todo == Todo(title: "Buy eggs", isDone: true, priority: "A", order: 3))
        let all = Todo(
            title: "a", isDone: true, priority: "B", creationDay: "2026-01-01", completionDay: "2026-01-02",
            order: 4, color: TodoColor(red: 1, green: 2, blue: 3), isPinned: true)
        #expect(try JSONDecoder().decode(Todo.self, from: try JSONEncoder().encode(all)) == all)
    }
}
