#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The system's numbers about this process. Reading them may block, as any file may.
struct ProcessNumbers {
    var residentBytes: Int64?
    var openDescriptors: Int?
    var descriptorsMax: Int?
    var processorSeconds: Double = 0

    init() {
        var usage = rusage()
        #if canImport(Glibc)
            let isKnown = getrusage(RUSAGE_SELF.rawValue, &usage) == 0
        #else
            let isKnown = getrusage(RUSAGE_SELF, &usage) == 0
        #endif
        if isKnown {
            for time in [usage.ru_utime, usage.ru_stime] {
                processorSeconds += Double(time.tv_sec)
                processorSeconds += Double(time.tv_usec) / 1_000_000
            }
        }
        var limit = rlimit()
        #if canImport(Glibc)
            if getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 {
                descriptorsMax = Int(clamping: limit.rlim_cur)
            }
        #else
            if getrlimit(RLIMIT_NOFILE, &limit) == 0 { descriptorsMax = Int(clamping: limit.rlim_cur) }
        #endif
        #if os(Linux)
            residentBytes = Self.residentPages().map { $0 * Int64(sysconf(Int32(_SC_PAGESIZE))) }
            openDescriptors = Self.descriptorCount()
        #endif
    }

    #if os(Linux)
        private static func residentPages() -> Int64? {
            let descriptor = open("/proc/self/statm", O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { return nil }
            defer { close(descriptor) }
            var bytes = [UInt8](repeating: 0, count: 256)
            let count = read(descriptor, &bytes, bytes.count)
            let words = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self).split(separator: " ")
            return words.count > 1 ? Int64(words[1]) : nil
        }

        private static func descriptorCount() -> Int? {
            guard let folder = opendir("/proc/self/fd") else { return nil }
            defer { closedir(folder) }
            var count = 0
            while readdir(folder) != nil { count += 1 }
            // Without ".", ".." and the descriptor of the folder itself.
            return count - 3
        }
    #endif
}
