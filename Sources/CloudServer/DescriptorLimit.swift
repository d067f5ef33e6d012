#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Maximum descriptors of the process. About 1,000 idle devices would reach the usual limit of 1,024.
enum DescriptorLimit {
    /// Descriptors for the connections to one environment's file, two of them while its log is copied, and
    /// the one to the other environment's file.
    static let perEnvironment = 21
    /// Descriptors of the process itself, and of connections that are open briefly before they are rejected.
    private static let others = 128 + 256
    private static let connectionsMin = 32
    private static let descriptorsMax = 1 << 30

    /// Raises the limit as far as needed and allowed by the system. Returns the maximum number of connections
    /// that leave enough descriptors for the files of the stores. If there are too few, each gets half.
    static func makeRoom(connectionsMax: Int, environmentsOpenMax: Int) -> Int {
        // No system has more, and larger numbers could overflow.
        let connectionsMax = min(connectionsMax, descriptorsMax)
        let files = perEnvironment * min(environmentsOpenMax, descriptorsMax)
        let granted = raised(to: connectionsMax + files + others) - others
        return min(connectionsMax, max(connectionsMin, granted - min(files, granted / 2)))
    }

    private static func raised(to wanted: Int) -> Int {
        var limit = rlimit()
        #if canImport(Glibc)
            let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
            let resource = RLIMIT_NOFILE
        #endif
        guard getrlimit(resource, &limit) == 0 else { return wanted }
        guard limit.rlim_cur < rlim_t(wanted) else { return wanted }
        var higher = limit
        higher.rlim_cur = min(rlim_t(wanted), limit.rlim_max)
        return Int(clamping: setrlimit(resource, &higher) == 0 ? higher.rlim_cur : limit.rlim_cur)
    }
}
