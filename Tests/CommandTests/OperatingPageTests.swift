import Foundation
import SQLiteTestSupport
import Testing

/// The commands that `docs/OPERATING.md` and the README show work as they stand there.
@Suite struct OperatingPageTests {
    private static func page(_ name: String) throws -> String {
        let path = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../\(name)").standardizedFileURL
        return try String(contentsOf: path, encoding: .utf8)
    }

    /// The blocks of shell below a heading.
    private func blocks(below heading: String) throws -> [String] {
        let page = try Self.page("docs/OPERATING.md")
        let start = try #require(page.range(of: "\n## \(heading)\n"))
        let rest = page[start.upperBound...]
        let section = rest[..<(rest.range(of: "\n## ")?.lowerBound ?? rest.endIndex)]
        return section.matches(of: #/```sh\n((?s:.*?))```/#).map { String($0.output.1) }
    }

    /// A port that was free a moment ago.
    private func freePort() throws -> Int {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let code = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, length) == 0 ? getsockname(descriptor, address, &length) : -1
            }
        }
        try #require(code == 0)
        return Int(UInt16(bigEndian: address.sin_port))
    }

    /// Shell that starts a server and waits until it listens; `$id` is its process.
    private static func begin(_ server: String) -> String {
        """
        mkfifo said; \(server) > log.txt 2> said & id=$!
        exec 9< said; grep -q -m 1 'Ctrl-C ends it' <&9
        """
    }

    @Test func theCommandsForACertificateOfOnesOwnDoWhatThePageSays() async throws {
        let folder = try TemporaryFolder()
        let blocks = try blocks(below: "A certificate of your own")
        try #require(blocks.count == 4, "make, check and serve, connect, an authority")
        let serving = blocks[1].split(separator: "\n").map(String.init)
        let connecting = try #require(blocks[2].firstRange(of: "yap login"))
        let login = blocks[2][connecting.lowerBound...].replacing("TOKEN", with: "$token")
            .trimmingCharacters(in: .newlines)
        let script = """
            set -e
            \(blocks[0])
            yap init --container iCloud.com.example.todo > init.txt
            yap account create ann --password-stdin <<< 'correct horse'
            token=$(yap token create --container iCloud.com.example.todo --name app --json \
                | sed 's/.*"token":"\\([0-9a-f]*\\)".*/\\1/')
            \(serving[0])
            \(Self.begin(serving[1]))
            \(blocks[2][..<connecting.lowerBound])
            \(login) --password-stdin <<< 'correct horse'
            \(serving[0])
            \(blocks[3])
            kill -HUP $id; until grep -q 'certificate read' log.txt; do :; done
            curl --cacert authority.pem https://127.0.0.1:8443/health
            \(serving[0])
            kill $id; wait $id
            """
        let ended = try await YapProcess.shell(
            script.replacing("8443", with: "\(try freePort())"), in: folder)
        #expect(ended.code == 0, "\(ended.output) \(ended.errors)")
        #expect(ended.output.contains("signed in as ann"))
        #expect(ended.output.components(separatedBy: #"{"status":"ok"}"#).count == 3)
        #expect(ended.output.components(separatedBy: "nothing is wrong").count == 4)
    }

    /// What the page takes for granted: accounts, an older token, another container, and records.
    private static let given = """
        yap account create bob > given.txt
        yap account create zoe >> given.txt
        yap token create --container iCloud.com.example.todo --name "old app" >> given.txt
        yap token create --container iCloud.com.example.old --create --name app >> given.txt
        yap record save todo bread --container iCloud.com.example.todo --account zoe --set title=Bread >> given.txt
        """

    @Test func theCommandsOfThePageDoWhatItSays() async throws {
        let page = try Self.page("docs/OPERATING.md")
        // What is set off by four spaces outside of fences is shell.
        let outside = page.components(separatedBy: "```").enumerated()
            .filter { $0.offset.isMultiple(of: 2) }.map(\.element).joined()
        let shown: [String] = outside.split(separator: "\n")
            .filter { $0.hasPrefix("    ") }.map { String($0.dropFirst(4)) }
        let install = try #require(shown.firstIndex { $0.contains("yap init") })
        try #require(shown.count - install > 20)
        let inline = page.matches(of: /`(yap\s(?:container|account)\sdelete\s[^`]+)`/).map {
            $0.output.1.replacing("\n", with: " ")
        }
        try #require(inline.count == 2)
        let port = try freePort()
        let script = """
            set -e
            sudo() {
                case $1 in
                --user=yap) "${@:3}" ;;
                *) echo "unknown: sudo $*"; false ;;
                esac
            }
            mkdir backups
            \(shown[...install].joined(separator: "\n"))
            \(Self.begin("yap serve --port \(port)"))
            \(Self.given)
            \(shown[(install + 1)...].map(Self.stated).joined(separator: "\n"))
            \(inline.map { ($0 + " --yes").replacing("NAME", with: "zoe") }.joined(separator: "\n"))
            kill $id; wait $id
            """
        let folder = try TemporaryFolder()
        let here = script.replacing(/([ =])\/(var\/|usr\/|backups)/) { "\($0.1)\(folder.path)/\($0.2)" }
            .replacing("https://push.example.com", with: "http://127.0.0.1:9")
            .replacing("yap doctor", with: "yap doctor --port \(port)")
        let ended = try await YapProcess.shell(here, in: folder)
        #expect(ended.code == 0, "\(ended.output) \(ended.errors)")
        for words in [
            "nothing is wrong", "Milk", "bob", "phones", "jobs", "restored",
        ] { #expect(ended.output.contains(words), "\(words): \(ended.output)") }
    }

    /// A line as it is typed; nobody answers where the webhook is sent here, and no app has asked anything.
    private static func stated(_ line: String) -> String {
        if line.hasPrefix("yap webhook test") { return "\(line) || test $? = 1" }
        return line.hasPrefix("yap requests") ? "\(line) || test $? = 3" : line
    }

    @Test func theReadmesFirstServerDoesWhatItSays() async throws {
        let page = try Self.page("README.md")
        let block = try #require(page.firstMatch(of: #/```\n(yap=(?s:.*?))```/#)).output.1
        let lines = block.split(separator: "\n").map(String.init)
        try #require(
            lines.count == 5 && lines[3].hasPrefix("$yap login") && lines[1].contains("shows a password"))
        let query = try #require(page.firstMatch(of: #/`(\$yap record\s+query [^`]*)`/#)).output.1
        let port = try freePort()
        let script = """
            set -e
            mkdir -p .build/release; ln -s "$(command -v yap)" .build/release/yap
            yap init --container iCloud.com.example.todo > init.txt
            \(Self.begin("yap serve --port \(port)"))
            \(lines[0])
            { \(lines[1])
            } | tee account.txt
            { \(lines[2])
            } | tee token.txt
            token=$(grep -oE '[0-9a-f]{64}' token.txt | head -1)
            sed -n 's/^password //p' account.txt > password.txt
            \(lines[3].replacing("TOKEN", with: "$token")) --password-stdin < password.txt
            \(lines[4].replacing("TOKEN", with: "$token"))
            $yap record save todo 1 --container iCloud.com.example.todo --account ann --set title=Milk > saved.txt
            \(query.split(whereSeparator: \.isWhitespace).joined(separator: " "))
            kill $id; wait $id
            """
        let ended = try await YapProcess.shell(
            script.replacing("8080", with: "\(port)"), in: TemporaryFolder())
        #expect(ended.code == 0, "\(ended.output) \(ended.errors)")
        #expect(ended.output.contains("signed in as ann") && ended.output.contains("Milk"))
    }

    /// Commands that a page names within a sentence exist, with the options that stand there.
    @Test(arguments: [
        "README.md", "docs/OPERATING.md", "docs/TUTORIAL.md", "docs/ACCESS.md",
        "docs/WHEN_SYNC_GOES_WRONG.md",
        "docs/PROTOCOL.md", "docs/TESTING.md", "docs/guide/SYNC.md", "docs/guide/KEYS.md",
        "docs/guide/CHANGING_A_MODEL.md",
    ])
    func theCommandsThatAPageNamesAreThere(name: String) async throws {
        let named = try Self.page(name).matches(of: #/`\$?yap ((?:[a-z]+ ?)[^`]*)`/#)
            .map { $0.output.1.split(whereSeparator: \.isWhitespace).map(String.init) }
        let folder = try TemporaryFolder()
        let commands = try await YapProcess.run(["help"], in: folder).output.split(separator: "\n")
            .filter { $0.hasPrefix("  ") }
            .map { $0.dropFirst(2).split(separator: "  ")[0].split(separator: " ").map(String.init) }
        for words in named {
            let found = commands.filter { words.starts(with: $0) }.max { $0.count < $1.count }
            guard let command = found else {
                // A group stands for its commands.
                let isGroup = commands.contains { $0[0] == words[0] } && words.count == 1
                #expect(isGroup, "\(name): yap \(words)")
                continue
            }
            let help = try await YapProcess.run(command + ["--help"], in: folder).output
            for option in words where option.hasPrefix("--") {
                #expect(help.contains("  \(option) "), "\(name): yap \(words)")
            }
        }
    }
}
