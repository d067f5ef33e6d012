import TestRun
import Testing

@Suite struct TestEventTests {
    private let deep = "ToyTests.GreenTests/Inner/deep(_:)/Basic.swift:17:10"

    @Test func aNameHasASuiteAFunctionAndAUnit() throws {
        let nested = try #require(TestID(deep))
        #expect(nested.name == "ToyTests.GreenTests/Inner/deep(_:)")
        #expect(nested.suite == "ToyTests.GreenTests.Inner" && nested.function == "deep(_:)")
        #expect(nested.unit == "ToyTests.GreenTests")
        let free = try #require(TestID("ToyTests.free()/Basic.swift:21:2"))
        #expect("\(free)" == "ToyTests free()" && free.unit == "ToyTests.free()")
        #expect(TestID("ToyTests.GreenTests/Inner") == nil)
    }

    @Test func aStartOfACaseHasItsArguments() throws {
        let line = #"""
            {"kind":"event","payload":{"_testCase":{"displayName":"1","id":"Parameterized test case ID"},\#
            "instant":{"absolute":596.96,"since1970":1795639078.8},"kind":"testCaseStarted",\#
            "messages":[{"symbol":"default",\#
            "text":"Test case passing 1 argument x \u2192 \"a\nb\" to deep(_:) started."}],\#
            "testID":"ToyTests.GreenTests\/Inner\/deep(_:)\/Basic.swift:17:10"},"version":0}
            """#
        let event = try #require(TestEvent(line: line))
        #expect(event.kind == .testCaseStarted && event.test == TestID(deep) && event.at == 596.96)
        #expect(event.messages == ["Test case passing 1 argument x → \"a\nb\" to deep(_:) started."])
    }

    @Test func anIssueHasItsPlaceAndSaysWhetherItIsKnown() throws {
        let line = #"""
            {"kind":"event","payload":{"_comments":["known"],"instant":{"absolute":622.4,"since1970":1795639104.2},\#
            "issue":{"_backtrace":[{"address":139994145963734}],"isKnown":true,\#
            "sourceLocation":{"_filePath":"\/tmp\/Basic.swift","column":60,\#
            "fileID":"ToyTests\/Basic.swift","line":29}},\#
            "kind":"issueRecorded","messages":[{"symbol":"fail","text":"Issue recorded"},\#
            {"symbol":"details","text":"known"}],\#
            "testID":"ToyTests.GreenTests\/Inner\/deep(_:)\/Basic.swift:17:10"},"version":0}
            """#
        let event = try #require(TestEvent(line: line))
        #expect(event.isKnown && event.place == "ToyTests/Basic.swift:29")
        #expect(event.messages == ["Issue recorded", "known"])
    }

    @Test func otherLinesAreNoEvents() {
        let suite =
            #"{"kind":"test","payload":{"id":"ToyTests.Green","kind":"suite","name":"Green"},"version":0}"#
        let coming = EventLines.line("comingSoon", "ToyTests.Green", at: 1)
        for line in [suite, coming, "", "{", "seed 42"] { #expect(TestEvent(line: line) == nil) }
    }
}
