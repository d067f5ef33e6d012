import CloudWire

/// The fields of a record as they lie on disk.
@Sendable func fuzzFields(_ bytes: [UInt8]) throws {
    guard let fields = try? FieldsBinary.decode(bytes) else { return }
    try expect(FieldsBinary.encode(fields) == bytes, "bytes that nobody wrote were read")
}
