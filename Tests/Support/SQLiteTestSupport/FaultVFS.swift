import CTestVFS

/// What can be made to fail.
public enum FaultKind: CaseIterable, Sendable {
    /// Opening a file: `SQLITE_CANTOPEN`.
    case open
    /// Reading from a file: `SQLITE_IOERR_READ`.
    case read
    /// Writing to a file, after half of the bytes were written: `SQLITE_IOERR_WRITE`.
    case write
    /// Syncing a file: `SQLITE_IOERR_FSYNC`.
    case sync
    /// Truncating a file: `SQLITE_IOERR_TRUNCATE`.
    case truncate
    /// Deleting a file: `SQLITE_IOERR_DELETE`.
    case delete
    /// Writing to a file, after half of the bytes were written: `SQLITE_FULL`.
    case diskFull

    fileprivate var call: test_vfs_kind {
        switch self {
        case .open: TEST_VFS_OPEN
        case .read: TEST_VFS_READ
        case .write, .diskFull: TEST_VFS_WRITE
        case .sync: TEST_VFS_SYNC
        case .truncate: TEST_VFS_TRUNCATE
        case .delete: TEST_VFS_DELETE
        }
    }
}

/// Whether a fault happens once or from then on.
public enum FaultDuration: CaseIterable, Sendable {
    /// One call fails.
    case once
    /// That call and all that follow fail, until `disarm()`.
    case sticky
}

/// An SQLite VFS over the operating system's in which a chosen call fails.
///
/// Keep it until its connections are closed. Safe to use from any thread.
public final class FaultVFS: Sendable {
    private let vfs = TestVFS(tracksPower: false)

    /// Registers a VFS under a name of its own.
    public init() {}

    /// For `OpenOptions.vfsName`.
    public var name: String { vfs.name }

    /// Makes the `nth` call of `kind` from now (1 is the next) fail, in place of any fault that was armed before.
    public func arm(_ kind: FaultKind, at nth: Int, _ duration: FaultDuration) {
        precondition(nth > 0)
        test_vfs_arm(
            vfs.pointer, Int32(kind.call.rawValue), Int64(nth), duration == .sticky ? 1 : 0,
            kind == .diskFull ? 1 : 0)
    }

    /// Makes the disk full when files have grown by `bytes` in all from now on.
    public func limitGrowth(toBytes bytes: Int) {
        test_vfs_limit_growth(vfs.pointer, Int64(bytes))
    }

    /// Asks `strikes` before each write, sync and truncation from now on, and kills this process when it says yes; of
    /// a write the first half of the bytes is then written. What it holds is kept for as long as the process lives.
    public func kill(when strikes: @escaping @Sendable (FaultKind) -> Bool) {
        let context = Unmanaged.passRetained(Strikes(strikes))
        test_vfs_kill_when(
            vfs.pointer,
            { context, kind in
                guard let context else { return 0 }
                let strikes = Unmanaged<Strikes>.fromOpaque(context).takeUnretainedValue()
                let kinds = [FaultKind.write, .sync, .truncate]
                guard let kind = kinds.first(where: { Int32($0.call.rawValue) == kind }) else { return 0 }
                return strikes.body(kind) ? 1 : 0
            }, context.toOpaque())
    }

    /// Calls `body` before each write, sync and truncation from now on. It must not touch a file of this VFS.
    public func watch(_ body: @escaping @Sendable (FaultKind) -> Void) {
        kill { kind in
            body(kind)
            return false
        }
    }

    private final class Strikes: Sendable {
        let body: @Sendable (FaultKind) -> Bool

        init(_ body: @escaping @Sendable (FaultKind) -> Bool) {
            self.body = body
        }
    }

    /// Ends every fault. `firedCount` and `firedPath` stay.
    public func disarm() {
        test_vfs_disarm(vfs.pointer)
    }

    /// How many calls of `kind` there were since the beginning, failed ones included.
    public func count(of kind: FaultKind) -> Int {
        Int(test_vfs_count(vfs.pointer, Int32(kind.call.rawValue)))
    }

    /// How many bytes were written to the files so far.
    public var writtenBytes: Int { Int(test_vfs_written_bytes(vfs.pointer)) }

    /// How many calls have failed since the last arming.
    public var firedCount: Int { Int(test_vfs_fired(vfs.pointer)) }

    /// The file that the first failure hit, empty when there was none.
    public var firedPath: String {
        var path = [CChar](repeating: 0, count: 512)
        test_vfs_fired_path(vfs.pointer, &path, Int32(path.count))
        return String(decoding: path.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
