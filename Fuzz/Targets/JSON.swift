// Compiled together with Sources/CloudWire by Scripts/fuzz.

/// What libFuzzer calls with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzJSON(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    do {
        _ = try JSONReader.read(bytes) { node throws(JSONError) in try node.tree() }
    } catch {
        precondition(error.byteOffset <= count, "an error outside of the text")
    }
    return 0
}
