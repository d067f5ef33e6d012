import CTestVFS

/// An SQLite VFS over the operating system's that loses power on command.
///
/// It remembers what was synced and what was only written. When the power is back each file holds what was synced, and
/// of the rest what a seed decides: nothing, all, or a part in any order and torn at 512 bytes; a new file whose folder
/// was never synced may be gone, and a deleted one back. Files belong to it while it
/// lives: change them through it only.
/// Safe to use from any thread.
public final class PowerLossVFS: Sendable {
    private let vfs = TestVFS(tracksPower: true)

    /// Registers a VFS under a name of its own.
    public init() {}

    /// For `OpenOptions.vfsName`.
    public var name: String { vfs.name }

    /// How many calls there were that change the disk: writes, syncs, truncations, deletions.
    public var changesCount: Int { Int(test_vfs_changes(vfs.pointer)) }

    /// Cuts the power: every call fails from now on.
    public func cutPower() {
        test_vfs_cut_power(vfs.pointer)
    }

    /// Cuts the power at the `nth` call from now (1 is the next) that changes the disk; that call may happen in part.
    public func cutPower(atChange nth: Int) {
        precondition(nth > 0)
        test_vfs_cut_power_at(vfs.pointer, Int64(nth))
    }

    /// Whether the power is cut.
    public var isPowerCut: Bool { test_vfs_is_power_cut(vfs.pointer) != 0 }

    /// Leaves in the files what the disk kept, turns the power on, and returns how many unsynced bytes were lost.
    ///
    /// - Throws: `PowerLossError` when a connection is still open or a file can't be written.
    @discardableResult
    public func restorePower(seed: UInt64) throws -> Int {
        guard test_vfs_restore_power(vfs.pointer, seed) != 0 else { throw PowerLossError() }
        return Int(test_vfs_lost_bytes(vfs.pointer))
    }
}

/// The power can't be restored: close every connection first, and see that the folder can be written.
public struct PowerLossError: Error {}
