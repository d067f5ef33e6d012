import Foundation
import SQLiteTestSupport
import Testing

/// What `docs/OPERATING.md` shows about certificates of one's own works as it stands there.
@Suite(.timeLimit(.minutes(5))) struct OperatingPageTests {
    /// The blocks of shell below a heading.
    private func blocks(below heading: String) throws -> [String] {
        let path = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../docs/OPERATING.md").standardizedFileURL
        let page = try String(contentsOf: path, encoding: .utf8)
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
            mkfifo said; \(serving[1]) > log.txt 2> said & id=$!
            exec 9< said; grep -q -m 1 'Ctrl-C ends it' <&9
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
}
