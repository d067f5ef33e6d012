@testable import HTTPServer

/// What a parser makes of pieces of a form, as one text.
private func outcome(_ contentType: String, _ pieces: [ArraySlice<UInt8>]) throws -> String {
    do throws(MultipartError) {
        guard var parser = try MultipartParser(contentType: contentType) else { return "no form" }
        var file: [UInt8] = []
        for piece in pieces { file += try parser.take(Array(piece)) }
        try parser.finish()
        return "\(file)"
    } catch {
        return "refused"
    }
}

/// The parser of forms: the first line is the content type. However the bytes are cut, they mean the same.
@Sendable func fuzzMultipart(_ bytes: [UInt8]) throws {
    let lines = bytes.split(separator: 0x0A, maxSplits: 1, omittingEmptySubsequences: false)
    let contentType = String(decoding: lines[0], as: UTF8.self)
    let body = lines.count > 1 ? lines[1] : []
    let whole = try outcome(contentType, [body])
    let cut = body.isEmpty ? 0 : (Int(bytes[0]) &* 31 &+ bytes.count / 2) % (body.count + 1)
    try expect(
        try outcome(contentType, [body.prefix(cut), body.dropFirst(cut)]) == whole, "a cut changes the meaning")
    try expect(
        try outcome(contentType, body.indices.map { body[$0...$0] }) == whole, "byte by byte has another meaning")
}
