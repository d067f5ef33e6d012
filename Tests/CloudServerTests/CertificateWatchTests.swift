import Foundation
import HTTPServer
import SQLiteTestSupport
import System
import Testing

@testable import CloudServer

/// A certificate that is renewed while the server runs.
@Suite struct CertificateWatchTests {
    private struct Unusable: Error {}

    private final class Lines: LogSink {
        let text = Lock("")
        func write(_ lines: [UInt8]) { text.withLock { $0 += String(decoding: lines, as: UTF8.self) } }
    }

    @Test func filesAreReadWhenTheyChangeAndWhatIsWrongWithThemIsInTheLog() async throws {
        try await onThread {
            let folder = try TemporaryFolder()
            let (certificate, key) = (folder.file("certificate.pem"), folder.file("key.pem"))
            func write(_ text: String, _ path: String) throws {
                try Data(text.utf8).write(to: URL(filePath: path), options: .atomic)
            }
            try write("one", certificate)
            try write("one", key)
            let lines = Lines()
            let log = try ServerLog(lines, entriesMax: 100, clock: ManualTimeSource(milliseconds: 0))
                .started()
            let reads = Lock((count: 0, isUsable: true))
            let watch = CertificateWatch(
                HTTPServerTLSOptions(certificatePath: certificate, privateKeyPath: key), log: log
            ) {
                let isUsable = reads.withLock { reads in
                    reads.count += 1
                    return reads.isUsable
                }
                if !isUsable { throw Unusable() }
            }
            func count() -> Int { reads.withLock { $0.count } }
            watch.look()
            #expect(count() == 0, "nothing has changed")
            try write("another", key)
            watch.look()
            watch.look()
            #expect(count() == 1)
            try FileManager.default.removeItem(atPath: certificate)
            reads.withLock { $0.isUsable = false }
            watch.look()
            #expect(count() == 2)
            try write("the third", certificate)
            reads.withLock { $0.isUsable = true }
            watch.look()
            watch.read()
            #expect(count() == 4, "asked for it is read unchanged too")
            log.stop(waitMilliseconds: 10_000)
            let text = lines.text.withLock { $0 }
            #expect(text.components(separatedBy: "\"certificate read\"").count == 4)
            #expect(text.components(separatedBy: "certificate can't be used").count == 2)
            #expect(text.contains("Unusable"))
        }
    }
}
