import Dispatch

#if canImport(Glibc)
    import CLinux
#endif

/// Returns freed memory of the process to the system. By default, glibc keeps much of it in up to eight heaps
/// per processor, so a server would keep the memory of a single peak of requests.
struct MemoryReturn {
    /// Larger than a record and than the body of a request. A block that the system maps and unmaps costs a
    /// page fault for each 4 KB, which made a rejected write of 15 records of 1 MB a third slower.
    private static let largeBytes: Int32 = 4 << 20
    private static let keptBytes: Int32 = 32 << 20
    private static let arenasMax: Int32 = 4
    private static let secondsBetween = 10.0

    private let timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "yap.memory"))

    /// Returns large blocks at once, and the pages of small ones from time to time.
    init() {
        #if canImport(Glibc)
            mallopt(M_MMAP_THRESHOLD, Self.largeBytes)
            mallopt(M_TRIM_THRESHOLD, Self.keptBytes)
            mallopt(M_ARENA_MAX, Self.arenasMax)
            timer.setEventHandler { _ = malloc_trim(0) }
        #endif
        timer.schedule(deadline: DispatchTime(uptimeNanoseconds: 1), repeating: Self.secondsBetween)
        timer.resume()
    }
}
