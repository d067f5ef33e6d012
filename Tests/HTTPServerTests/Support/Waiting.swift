import Glibc

/// Lets time pass, for the promises that nothing happens meanwhile.
enum Waiting {
    /// Waits for a descriptor that there is not; off the pool.
    static func milliseconds(_ duration: Int32) -> Bool { poll(nil, 0, duration) == 0 }
}
