import Foundation
import HTTPServer
import System

/// Reads the certificate and its key again after their files have changed, because the program that renews
/// them doesn't notify the server. An error is logged, and the previous certificate stays in use.
final class CertificateWatch: ThreadOwner {
    /// Interval at which the files are checked.
    static let lookMilliseconds: Int64 = 10_000

    /// Attributes of a file that change with its contents.
    private struct Stamp: Equatable {
        var device: UInt64
        var inode: UInt64
        var bytes: Int64
        var changedNanoseconds: Int64
    }

    private let paths: [String]
    private let log: ServerLog?
    private let reload: @Sendable () throws -> Void
    private let stamps: Lock<[Stamp?]>
    private let alarm = Alarm()
    private let thread = OwnedThread(name: "yap certificate")

    /// - Parameter reload: reads the files, and throws if they are invalid.
    init(_ tls: HTTPServerTLSOptions, log: ServerLog?, reload: @escaping @Sendable () throws -> Void) {
        paths = [tls.certificatePath, tls.privateKeyPath]
        self.log = log
        self.reload = reload
        stamps = Lock(paths.map(Self.stamp))
    }

    /// Checks periodically, on a thread of its own, until `stop`.
    func start(_ start: ThreadStart) throws(SystemThread.NotStarted) {
        try thread.start(start) { [self] in
            while !alarm.wait(milliseconds: Self.lookMilliseconds) { look() }
        }
    }

    func stop() { alarm.ring() }

    /// Reads the files if they have changed since the last check.
    func look() {
        // Checked before the files are read, so that a change during the read is noticed by the next check.
        let found = paths.map(Self.stamp)
        let hasChanged = stamps.withLock { stamps in
            defer { stamps = found }
            return stamps != found
        }
        if hasChanged { read() }
    }

    /// Reads the files.
    func read() {
        do {
            try reload()
            log?.add(event: "certificate read", [("file", paths[0])])
        } catch {
            log?.add(event: "certificate can't be used", [("file", paths[0]), ("error", "\(error)")])
        }
    }

    private static func stamp(of path: String) -> Stamp? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        #if canImport(Glibc)
            let time = status.st_mtim
        #else
            let time = status.st_mtimespec
        #endif
        return Stamp(
            device: UInt64(status.st_dev), inode: UInt64(status.st_ino), bytes: Int64(status.st_size),
            changedNanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }
}
