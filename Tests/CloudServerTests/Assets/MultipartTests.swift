import HTTPServer
import System
import TestSeed
import Testing

@Suite struct MultipartTests {
    private static let form = Array(
        ("--xYz\r\nContent-Disposition: form-data; name=\"files\"; filename=\"a;b.jpg\"\r\n"
            + "Content-Type: image/jpeg\r\n\r\n").utf8)
    private static let end = Array("\r\n--xYz--".utf8)
    private static let type = "multipart/form-data; boundary=xYz"
    /// A file that holds all that looks like an end and is none.
    private static let file = Array("\r\n--xY\r\n--xy\r\r\n\r\n-\r\n--\r\n--xYZ--\r\n".utf8)

    private func parse(_ type: String, _ pieces: [[UInt8]]) throws -> [UInt8]? {
        guard var parser = try MultipartParser(contentType: type) else { return nil }
        var file: [UInt8] = []
        for piece in pieces { file += try parser.take(piece) }
        try parser.finish()
        return file
    }

    @Test(arguments: [end, end + [0x0D, 0x0A]])
    func aFormCutAtAnyByteGivesItsFile(_ end: [UInt8]) throws {
        let body = Self.form + Self.file + end
        for cut in 0...body.count {
            let pieces = [Array(body[..<cut]), Array(body[cut...])]
            #expect(try parse(Self.type, pieces) == Self.file, "cut at \(cut)")
        }
        #expect(try parse(Self.type, body.map { [$0] }) == Self.file)
        for count in 0..<body.count - 4 {
            #expect(throws: MultipartError.self, "the first \(count)") {
                try parse(Self.type, [Array(body[..<count])])
            }
        }
    }

    @Test func anEmptyFileIsAFile() throws {
        #expect(try parse(Self.type, [Self.form + Self.end]) == [])
    }

    @Test func onlyFormsAreForms() throws {
        for type in [
            "application/octet-stream", "multipart/mixed; boundary=x", "", "text/plain;multipart/form-data",
        ] {
            #expect(try parse(type, []) == nil, "\(type)")
        }
        for type in [
            "Multipart/Form-Data; boundary=\"xYz\"", "multipart/form-data;charset=utf-8;BOUNDARY=xYz",
            "multipart/form-data ; boundary=\"x\\Yz\"",
        ] {
            #expect(try parse(type, [Self.form + [1] + Self.end]) == [1], "\(type)")
        }
        for type in [
            "multipart/form-data", "multipart/form-data; boundary=", "multipart/form-data; boundary=\"a",
            "multipart/form-data; boundary=\"a \"", "multipart/form-data; boundary=a; boundary=b",
            "multipart/form-data; boundary=" + String(repeating: "a", count: 71),
            "multipart/form-data; boundary=a b",
        ] {
            #expect(throws: MultipartError.self, "\(type)") { try parse(type, [Self.form + Self.end]) }
        }
    }

    @Test func whatIsNoFormOfOneFileIsRefused() throws {
        func body(_ text: String) -> [UInt8] { Array(text.utf8) }
        let part = "Content-Disposition: form-data; name=\"files\"\r\n\r\n"
        for text in [
            "preamble\r\n--xYz\r\n\(part)a\r\n--xYz--", "\r\n--xYz\r\n\(part)a\r\n--xYz--", "--xYz--\r\n",
            "--xYz\r\n\(part)a\r\n--xYz--more", "--xYz\r\n\(part)a\r\n--xYz--\r\nmore",
            "--xYz \r\n\(part)a\r\n--xYz--",
            "--xYz\n\(part)a\r\n--xYz--", "--xYz\r\n\r\na\r\n--xYz--",
            "--xYz\r\n\(part)a\r\n--xYz\r\n\(part)b\r\n--xYz--",
            "--xYz\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\na\r\n--xYz--",
            "--xYz\r\nContent-Disposition: form-data\r\n\r\na\r\n--xYz--",
            "--xYz\r\nContent-Disposition: attachment; name=\"files\"\r\n\r\na\r\n--xYz--",
            "--xYz\r\nno field\r\n\(part)a\r\n--xYz--", "--xYz\r\nX: \u{1}\r\n\(part)a\r\n--xYz--",
            "--xYz\r\nX: \(String(repeating: "x", count: 5_000))\r\n\(part)a\r\n--xYz--",
        ] {
            #expect(throws: MultipartError.self, "\(text.prefix(80))") { try parse(Self.type, [body(text)]) }
            #expect(throws: MultipartError.self, "\(text.prefix(80)), byte by byte") {
                try parse(Self.type, body(text).map { [$0] })
            }
        }
    }

    @Test func randomFilesAreParsedForAnySplit() throws {
        let seed = TestSeed.value
        let random = SeededRandomSource(seed: seed)
        let alphabet = Array("\r\n-xYz".utf8)
        for _ in 0..<300 {
            var file = (0..<random.next(in: 0..<60)).map { _ in alphabet[random.next(in: 0..<alphabet.count)]
            }
            // A file that holds the boundary itself can't be sent with it.
            let text = String(decoding: file, as: UTF8.self)
            if text.contains("\r\n--xYz") { file = [] }
            var rest = (Self.form + file + Self.end)[...]
            var pieces: [[UInt8]] = []
            while !rest.isEmpty {
                let piece = rest.prefix(random.next(in: 1..<9))
                pieces.append(Array(piece))
                rest = rest.dropFirst(piece.count)
            }
            #expect(try parse(Self.type, pieces) == file, "seed \(seed)")
        }
    }
}
