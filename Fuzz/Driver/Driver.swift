import FuzzTargets

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The target that this process feeds.
private let target: FuzzTarget = {
    let name = getenv("YAP_FUZZ_TARGET").map { String(cString: $0) } ?? ""
    guard let target = FuzzTarget.all.first(where: { $0.name == name }) else {
        fatalError("YAP_FUZZ_TARGET must be one of \(FuzzTarget.all.map(\.name))")
    }
    return target
}()

/// What libFuzzer calls with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    do {
        try target.run(Array(UnsafeBufferPointer(start: start, count: count)))
    } catch {
        fatalError("\(error)")
    }
    return 0
}
