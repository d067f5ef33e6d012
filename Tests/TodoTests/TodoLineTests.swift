import System
import Testing
import TodoKit

@Suite struct TodoLineTests {
    @Test func everyPartOfALineIsRead() {
        let todo = Todo(line: "(B) 2026-01-31 Call Mum +family @phone due:2026-02-02", order: 7)
        #expect(todo.priority == "B")
        #expect(todo.creationDay == "2026-01-31")
        #expect(todo.completionDay == nil)
        #expect(todo.isDone == false)
        #expect(todo.title == "Call Mum +family @phone due:2026-02-02")
        #expect(todo.projects == ["family"])
        #expect(todo.contexts == ["phone"])
        #expect(todo.tag("due") == "2026-02-02")
        #expect(todo.order == 7)
    }

    @Test func aDoneLineHasItsCompletionDayFirst() {
        let both = Todo(line: "x 2026-02-01 2026-01-31 Call Mum")
        #expect(both.isDone)
        #expect(both.completionDay == "2026-02-01")
        #expect(both.creationDay == "2026-01-31")
        let one = Todo(line: "x 2026-02-01 Call Mum")
        #expect(one.completionDay == "2026-02-01")
        #expect(one.creationDay == nil)
    }

    @Test(arguments: [
        "xylophone lesson", "X 2026-01-01 upper case is text", "(a) lower case is text", "(AA) two letters",
        "(A)no space", "A (B) priority in the middle", "2026-13-01 no such month", "2026-1-1 one digit", "x",
        "20260101 no hyphens", "2026-01-01",
    ])
    func whatDoesNotFitTheFormatIsText(line: String) {
        #expect(Todo(line: line) == Todo(title: line))
    }

    @Test(arguments: [
        "", "x ", "(A) ", "x (A) 2026-01-02 kept priority", "x  two spaces", "  leading", "trailing  ",
        "\ttab",
        "2026-01-01 2026-01-02 an open item has one day", "x 2026-01-02 2026-01-01 2025-12-31 three days",
        "a color:#ff8800", " color:#ff8800", "color:#ff8800", "a  color:#ff8800", "(A)  color:#ff8800",
        "x  color:#ff8800",
        "a color:#FF8800", "a color:#ff880", "a color:red", "a color:#ff8800 b", "a color:#ff8800 ",
        "a color:#111111 color:#222222", "2026-01-01 a color:#ff8800", "é color:#ff8800",
        "é 語 🥚 a\u{301}", "(Z) x done inside", "carriage\rreturn", "x (A)",
    ])
    func aLineComesBackByteForByte(line: String) {
        #expect(Array(Todo(line: line).line.utf8) == Array(line.utf8))
    }

    @Test func randomLinesComeBackByteForByte() {
        let seed: UInt64 = 20_261_120
        let random = SeededRandomSource(seed: seed)
        let parts = [
            "x", " ", "  ", "(A)", "(Z)", "(b)", "2026-01-02", "2025-12-31", "+home", "@shop",
            "due:2026-01-02", "color:#ff8800", "color:#FF8800", "é",
            "👩‍🌾", "\t", "\r", ":", "+", "@", "Buy eggs",
        ]
        for _ in 0..<20_000 {
            var line = ""
            for _ in 0..<random.next(in: 0..<9) { line += parts[random.next(in: 0..<parts.count)] }
            #expect(Array(Todo(line: line).line.utf8) == Array(line.utf8), "seed \(seed)")
        }
    }

    @Test func projectsContextsAndTagsAreWholeWords() {
        let todo = Todo(
            line: "Mail a@b.org 1+1 +a +ä-ö @here + @ due:tomorrow at 10:30 see https://x.org a:b:c k: :v")
        #expect(todo.projects == ["a", "ä-ö"])
        #expect(todo.contexts == ["here"])
        #expect(todo.tags.map { "\($0.key)=\($0.value)" } == ["due=tomorrow"])
    }

    @Test func aDayWithoutAPlaceInTheLineIsNotWritten() {
        #expect(Todo(title: "a", isDone: false, completionDay: "2026-01-02").line == "a")
        #expect(Todo(title: "a", isDone: true, creationDay: "2026-01-02").line == "x a")
    }

    @Test func aNewlineInTheTextStaysInOneLine() {
        #expect(Todo(title: "one\ntwo\r\nthree").line == "one two\r three")
    }

    @Test func completingKeepsTheRest() {
        var todo = Todo(line: "(A) 2026-01-01 Sow peas +garden")
        todo.complete(on: "2026-03-01")
        #expect(todo.line == "x (A) 2026-03-01 2026-01-01 Sow peas +garden")
    }
}
