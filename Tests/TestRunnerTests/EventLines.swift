import TestRun
import Testing

/// Lines of an event stream, as the test processes write them.
enum EventLines {
    static func id(_ suite: String, _ function: String) -> String {
        "ToyTests.\(suite)/\(function)/Toy.swift:7:6"
    }

    static func line(
        _ kind: String, _ test: String, at seconds: Double, message: String = "", fields: String = ""
    ) -> String {
        #"{"kind":"event","payload":{"instant":{"absolute":\#(seconds),"since1970":1795639078.5},"#
            + #""kind":"\#(kind)","messages":[{"symbol":"default","text":"\#(message)"}],\#(fields)"#
            + #""testID":"\#(test)"},"version":0}"#
    }

    static func tests(_ texts: String...) throws -> [TestID] {
        try texts.map { try #require(TestID($0)) }
    }
}

extension RunBook {
    /// Takes lines of the process 1.
    mutating func take(_ lines: String..., from process: Int32 = 1) {
        for line in lines.compactMap({ TestEvent(line: $0) }) { take(line, from: process) }
    }
}
