#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// How many descriptors the process may have. The usual limit of 1,024 would be met by as many idle devices.
enum DescriptorLimit {
    /// What the connections to one environment's file take, two of them while its log is copied, and the one to its
    /// sibling's.
    static let perEnvironment = 21
    /// What the process itself takes, and the connections that are open for a moment because they are turned away.
    private static let others = 128 + 256
    private static let connectionsMin = 32
    private static let descriptorsMax = 1 << 30

    /// Raises the limit as far as the connections need it and the system allows, and returns how many connections then
    /// leave the files of the stores enough: when it is tight, each gets half.
    static func makeRoom(connectionsMax: Int, environmentsOpenMax: Int) -> Int {
        // No system has more, and larger numbers can't be counted together.
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
