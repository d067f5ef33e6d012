import Testing

@testable import YapCommand

/// The parts of the command that need no process: reading words, conditions, and printing.
@Suite struct LineTests {
    private static let command = Command(
        name: "try", summary: "", operands: [Command.Operand(name: "NAME", help: "")],
        options: [
            Command.Option(name: "data", value: "DIR", help: ""),
            Command.Option(name: "where", value: "CONDITION", help: "", repeats: true),
            Command.Option(name: "public", help: ""),
            Command.Option(name: "container", value: "ID", help: "", isRequired: true),
        ], json: "", examples: []
    ) { _, _ in }

    private func parse(_ words: String...) throws -> Invocation {
        try ArgumentParser.parse(words, for: Self.command)
    }

    @Test func optionsStandAnywhereInBothForms() throws {
        let one = try parse(
            "--container", "c", "name", "--data=a=b", "--public", "--where", "-x", "--where=y")
        #expect(one.operands == ["name"])
        #expect(one.value("data") == "a=b")
        #expect(one.values("where") == ["-x", "y"])
        #expect(one.has("public") && !one.has("json"))
        #expect(try parse("--container=c", "--", "--data").operands == ["--data"])
        #expect(try parse("--container=c", "-").operands == ["-"])
        #expect(try parse("--help").has("help"), "asks for nothing else")
    }

    @Test(arguments: [
        [], ["name"], ["--container=c"], ["--container=c", "a", "b"], ["--container"],
        ["--container=c", "a", "--no"],
        ["--container=c", "a", "-p"], ["--container=c", "a", "--public=x"],
        ["--container=c", "--container=d", "a"],
    ])
    func aWrongLineIsAUsageError(_ words: [String]) {
        let error = #expect(throws: Failure.self) { try ArgumentParser.parse(words, for: Self.command) }
        guard case .usage = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func everyCommandExplainsItself() {
        for command in YapProgram.commands {
            #expect(!command.examples.isEmpty, "\(command.name)")
            #expect(command.examples.contains { $0.hasPrefix(command.name) }, "\(command.name)")
            let names = command.allOptions.map(\.name)
            #expect(Set(names).count == names.count, "\(command.name)")
            let text = HelpText.text(of: command)
            #expect(text.split(separator: "\n").allSatisfy { $0.count <= 120 }, "\(command.name)")
        }
    }

    @Test func textAndTimesArePrintedAsTheStandardsSay() {
        #expect(JSON.string("a\"b\\c\nd\u{1}é").text == #""a\"b\\c\nd\u0001é""#)
        #expect(
            JSON.object([("b", .integer(-1)), ("a", .array([.null, .bool(true)]))]).text
                == #"{"b":-1,"a":[null,true]}"#)
        #expect(ShellText.word("/a/b-c_d.e:1") == "/a/b-c_d.e:1")
        #expect(ShellText.word("it's mine") == #"'it'\''s mine'"#)
        #expect(TimeText.utc(0) == "1970-01-01T00:00:00Z")
        #expect(TimeText.utc(951_782_399_999) == "2000-02-28T23:59:59Z")
        #expect(TimeText.utc(951_782_400_000) == "2000-02-29T00:00:00Z")
        #expect(TimeText.utc(4_102_444_799_000) == "2099-12-31T23:59:59Z")
        #expect(TimeText.utc(-1) == "1969-12-31T23:59:59Z")
        #expect(TextTable.text(["A", "B"], [["x", "y"], ["long", ""]]) == "A     B\nx     y\nlong  ")
    }
}
