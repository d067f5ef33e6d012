#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Sizes of files.
enum FileBytes {
    /// Returns the total bytes of the existing files, or nil if the first doesn't exist.
    static func count(of paths: [String]) -> Int64? {
        let sizes = paths.map { path -> Int64? in
            var status = stat()
            return stat(path, &status) == 0 ? Int64(status.st_size) : nil
        }
        guard sizes.first.flatMap(\.self) != nil else { return nil }
        return sizes.compactMap(\.self).reduce(0, +)
    }
}
