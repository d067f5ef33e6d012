import Testing

/// The nginx sample of docs/OPERATING.md: what people copy must not write users' tokens into a log.
@Suite struct ProxySampleTests {
    /// What holds an address's query, and so tokens: also the format that nginx has when none is named.
    private static let secrets: Set<Substring> = [
        "request", "request_uri", "args", "query_string", "http_referer", "http_cookie", "request_body",
    ]

    /// What a sample's log lines would tell, and shouldn't.
    private static func faults(in sample: Substring) -> [String] {
        let directives = sample.split(separator: "\n").map { $0.drop { $0 == " " } }
            .filter { !$0.hasPrefix("#") }
        var faults: [String] = []
        var formats: Set<Substring> = []
        for line in directives where line.hasPrefix("log_format ") {
            formats.insert(line.split(separator: " ")[1])
            for match in line.matches(of: /\$([a-z_]+)/)
            where secrets.contains(match.output.1) || match.output.1.hasPrefix("arg_") {
                faults.append("\(line) has $\(match.output.1)")
            }
        }
        let logs = directives.filter { $0.hasPrefix("access_log ") }
        if logs.isEmpty { faults.append("no access_log: nginx takes the format combined") }
        for log in logs where !log.hasPrefix("access_log off;") {
            let words = log.prefix { $0 != ";" }.split(separator: " ")
            if words.count < 3 || !formats.contains(words[2]) {
                faults.append("\(log) has no format of ours")
            }
        }
        // What nginx says of an error has the whole request, and no format changes it.
        if !directives.contains(where: { $0.hasPrefix("error_log ") && $0.contains(" crit;") }) {
            faults.append("error_log is not at crit")
        }
        return faults
    }

    @Test func theSampleLogsNoTokens() throws {
        let page = try #require(Repository.text(of: "docs/OPERATING.md"))
        let samples = page.matches(of: /```nginx\n((?:[^`]|\n)*)```/).map(\.output.1)
        #expect(!samples.isEmpty)
        for sample in samples { #expect(Self.faults(in: sample) == []) }
    }

    @Test(arguments: [
        "access_log a.log;\nerror_log e crit;", "error_log e crit;",
        "access_log a.log combined;\nerror_log e crit;",
        "log_format x '$request';\naccess_log a.log x;\nerror_log e crit;",
        "log_format x '$request_method $arg_ckWebAuthToken';\naccess_log a.log x;\nerror_log e crit;",
        "access_log off;\nerror_log e;",
    ])
    func aSampleThatLogsThemIsFound(sample: String) {
        #expect(Self.faults(in: sample[...]).count == 1)
    }
}
