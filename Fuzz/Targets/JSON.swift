@testable import CloudWire

/// The reader of JSON.
@Sendable func fuzzJSON(_ bytes: [UInt8]) throws {
    do {
        _ = try JSONReader.read(bytes) { node throws(JSONError) in try node.tree() }
    } catch {
        try expect(error.byteOffset <= bytes.count, "an error outside of the text")
    }
}
