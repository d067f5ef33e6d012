import CloudService
import HTTPServer

/// The response to a request for a file.
struct FileAnswer {
    private let file: AssetDownload
    private let name: String
    private let range: HTTPByteRange
    private let isKnown: Bool

    /// - Parameter name: the last part of the address, which the client chooses.
    init(_ file: AssetDownload, _ head: HTTPRequestHead, name: String) {
        self.file = file
        self.name = name
        let entityTag = "\"\(file.checksum)\""
        range = HTTPByteRange(
            head.header("Range"), condition: head.header("If-Range"), entityTag: entityTag, bytes: file.bytes)
        isKnown =
            head.header("If-None-Match")?.split(separator: ",")
            .contains { $0.filter { $0 != " " } == entityTag } ?? false
    }

    /// Returns the response, with a body made by `source`.
    func response(_ source: (FilePart) -> FileSource) -> HTTPResponse {
        if isKnown { return HTTPResponse(status: 304, headers: headers) }
        switch range {
        case .unsatisfiable:
            return HTTPResponse(
                status: 416, headers: headers + [("Content-Range", "bytes */\(file.bytes)")])
        case .whole: return stream(200, headers, offset: 0, count: file.bytes, source)
        case .part(let offset, let count):
            let range = "bytes \(offset)-\(offset + count - 1)/\(file.bytes)"
            return stream(206, headers + [("Content-Range", range)], offset: offset, count: count, source)
        }
    }

    private func stream(
        _ status: Int, _ headers: [(name: String, value: String)], offset: Int64, count: Int64,
        _ source: (FilePart) -> FileSource
    ) -> HTTPResponse {
        // A source must have at least one byte.
        guard count > 0 else { return HTTPResponse(status: status, headers: headers) }
        let part = FilePart(file: file, offset: offset, count: count)
        return HTTPResponse(status: status, headers: headers, body: .stream(source(part)))
    }

    /// A file is user data of any type in the server's own origin, so no browser may treat it as a page.
    private var headers: [(name: String, value: String)] {
        [
            ("Content-Type", "application/octet-stream"),
            ("Content-Disposition", disposition),
            ("X-Content-Type-Options", "nosniff"),
            ("Content-Security-Policy", "default-src 'none'; sandbox"),
            ("Cross-Origin-Resource-Policy", "cross-origin"),
            ("Referrer-Policy", "no-referrer"),
            ("ETag", "\"\(file.checksum)\""),
            ("Accept-Ranges", "bytes"),
            ("Cache-Control", "private, max-age=\(max(0, file.remainingMilliseconds / 1_000)), immutable"),
        ]
    }

    /// The file name chosen by the client, in both forms that browsers know. Apple's placeholder isn't a name.
    private var disposition: String {
        guard !name.isEmpty, name != "${f}", name != "$f", name.utf8.count <= 255 else { return "attachment" }
        let plain = name.map { character -> Character in
            guard let byte = character.asciiValue, 0x20..<0x7F ~= byte, !"\"\\/%".contains(character) else {
                return "_"
            }
            return character
        }
        var encoded = ""
        for byte in name.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "_"):
                encoded.unicodeScalars.append(Unicode.Scalar(byte))
            default: encoded += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }
        return "attachment; filename=\"\(String(plain))\"; filename*=UTF-8''\(encoded)"
    }
}

/// A part of a file.
struct FilePart: Sendable {
    let file: AssetDownload
    let offset: Int64
    let count: Int64
}
