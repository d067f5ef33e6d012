// Compiled together with Sources/CloudWire by Scripts/fuzz.

/// What libFuzzer calls with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzFields(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    if let fields = try? FieldsBinary.decode(bytes) {
        precondition(FieldsBinary.encode(fields) == bytes, "bytes that nobody wrote were read")
    }
    return 0
}
